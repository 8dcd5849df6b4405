/** Paths of a further repository: files and directories are read, links and submodules are only reported. */
import { Effect } from "effect"
import type { CheckoutError } from "../Checkout.ts"
import type { MountedEntry } from "../ContextRepositories.ts"
import type { ReadObject } from "./CommitObject.ts"
import { objectName, decodeBlob, treeEntries } from "./Objects.ts"

const maxTreeBytes = 8_388_608

const refusedEntry = (why: string): MountedEntry => ({ _tag: "Refused", why })

/** Reads a path of a commit directly from the object store. */
export const readPath = Effect.fnUntraced(function* (
  read: ReadObject,
  commit: string,
  path: string,
  limits: { readonly maxBytes: number; readonly maxNames: number }
): Effect.fn.Return<MountedEntry, CheckoutError> {
  const findTree = (directory: string) => {
    const object = directory === "" ? `${commit}^{tree}` : objectName(commit, directory)
    return object === undefined
      ? Effect.succeed([])
      : Effect.map(read(object, maxTreeBytes), (tree) => treeEntries(tree, commit.length / 2))
  }
  if (path !== "") {
    const slash = path.lastIndexOf("/")
    const name = path.slice(slash + 1)
    const object = objectName(commit, path)
    const entry = (yield* findTree(slash < 0 ? "" : path.slice(0, slash))).find((one) => one.name === name)
    if (entry === undefined || object === undefined) return refusedEntry("no such file or directory")
    if (entry.mode === "120000") return refusedEntry("it is a symbolic link, which is not followed")
    if (entry.mode === "160000") return refusedEntry("it is another repository (a submodule), which is not read")
    if (entry.mode !== "40000") {
      const text = decodeBlob(yield* read(object, limits.maxBytes))
      return text === undefined ? refusedEntry("it is not text, or it is too large") : { _tag: "File", text }
    }
  }
  const names = (yield* findTree(path)).map((one) => (one.mode === "40000" ? `${one.name}/` : one.name))
  const shown = names.slice(0, limits.maxNames)
  return { _tag: "Directory", names: shown, more: names.length - shown.length }
})
