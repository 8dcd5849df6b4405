/**
 * Writes two trees with only the selected paths of a change, so that git compares no other file, detects renames among these
 * paths, and needs no list of paths. Each is one flat tree: the names of its entries are whole paths, which git's comparison
 * accepts unchanged. The trees are loose objects in a separate folder that is removed with the scope.
 */
import { createHash } from "node:crypto"
import { mkdir, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { deflateSync } from "node:zlib"
import { Effect } from "effect"
import type { Scope } from "effect"
import type { CheckoutError } from "../Checkout.ts"
import { io } from "./Mirror.ts"
import { formatOfId } from "./ObjectFormat.ts"
import type { ObjectFormat } from "./ObjectFormat.ts"
import { newMark } from "../ProcessMark.ts"
import type { TreePath } from "./TreeWalk.ts"

export interface ChosenTrees {
  /** Folder of objects in addition to those of the mirror. */
  readonly objects: string
  readonly before: string
  readonly after: string
}

/** Writes the trees. `root`: a folder whose subfolders are removed when the process in their name no longer runs. */
export const writeChosenTrees = Effect.fnUntraced(function* (
  root: string,
  commit: string,
  paths: ReadonlyArray<TreePath>
): Effect.fn.Return<ChosenTrees, CheckoutError, Scope.Scope> {
  const objects = join(root, newMark())
  yield* Effect.acquireRelease(
    io("objects", () => mkdir(objects, { recursive: true, mode: 0o700 })),
    () =>
      io("objects", () => rm(objects, { recursive: true, force: true })).pipe(
        Effect.catch(({ message }) =>
          Effect.logWarning("folder of objects was not removed").pipe(Effect.annotateLogs({ folder: objects, message }))
        )
      )
  )
  const format = formatOfId(commit)
  const write = (entries: ReadonlyArray<Buffer>) => io("objects", () => writeTree(objects, format, entries))
  const before = paths.flatMap(({ bytes, oldId, oldMode }) => entry(bytes, oldMode, oldId))
  const after = paths.flatMap(({ bytes, newId, newMode }) => entry(bytes, newMode, newId))
  return { objects, before: yield* write(before), after: yield* write(after) }
})

const entry = (bytes: string, mode: string | undefined, id: string | undefined): ReadonlyArray<Buffer> =>
  mode === undefined || id === undefined
    ? []
    : [Buffer.concat([Buffer.from(`${mode} ${bytes}\0`, "latin1"), Buffer.from(id, "hex")])]

const writeTree = async (objects: string, format: ObjectFormat, entries: ReadonlyArray<Buffer>): Promise<string> => {
  const content = Buffer.concat(entries)
  const object = Buffer.concat([Buffer.from(`tree ${content.length}\0`), content])
  const id = createHash(format).update(object).digest("hex")
  await mkdir(join(objects, id.slice(0, 2)), { recursive: true })
  await writeFile(join(objects, id.slice(0, 2), id.slice(2)), deflateSync(object, { level: 1 }))
  return id
}
