/** Searches exported files with `git grep` in a folder that is no repository. Only fixed texts reach it. */
import { readdir } from "node:fs/promises"
import { join } from "node:path"
import { Effect } from "effect"
import type { CheckoutError, FoundPaths, TextSearch } from "../Checkout.ts"
import { endError, startGit } from "../git/GitProcess.ts"
import { io } from "../git/Mirror.ts"
import { collectPaths } from "../git/SearchRevision.ts"
import { localTime, withinTime } from "../git/TimeLimit.ts"
import type { ScratchObjects } from "./ScratchObjects.ts"

/** Exit code without a hit. */
const nothingFound = 1
const isInside = (under: string): boolean =>
  under === "" || under.split("/").every((part) => part !== ".." && part !== "")

export const searchFolder = (scratch: ScratchObjects) => ({
  filesWith: Effect.fnUntraced(function* (
    folder: string,
    { ignoreCase, texts, under, words }: TextSearch,
    limit: number
  ): Effect.fn.Return<FoundPaths, CheckoutError> {
    const usable = texts.filter((text) => text !== "" && !/[\n\0]/.test(text))
    if (usable.length === 0 || !isInside(under)) return { paths: [], more: false }
    const command = {
      args: [
        ..."grep --no-index --no-exclude-standard -l -z -I -F --threads=1 --no-color".split(" "),
        ...(ignoreCase ? ["-i"] : []),
        ...(words ? ["-w"] : []),
        ...usable.flatMap((text) => ["-e", text]),
        "--",
        under === "" ? "." : under
      ],
      home: scratch.folder,
      cwd: folder,
      limits: scratch.limits
    }
    return yield* Effect.gen(function* () {
      const child = yield* startGit(command)
      child.stdin.end()
      const { end, paths } = yield* Effect.promise(() => collectPaths(child, limit + 1, (record) => record))
      if (end !== undefined && end.code !== 0 && (end.code !== nothingFound || end.stderr !== "")) {
        return yield* endError(command, end)
      }
      return { paths: paths.slice(0, limit).toSorted(), more: paths.length > limit }
    }).pipe(Effect.scoped, withinTime("grep", localTime("search")))
  }),

  filesUnder: (folder: string, under: string, limit: number): Effect.Effect<FoundPaths, CheckoutError> =>
    isInside(under)
      ? io("checkout", async () => {
          const paths = await filesIn(folder, under, limit + 1)
          return { paths: paths.slice(0, limit), more: paths.length > limit }
        })
      : Effect.succeed({ paths: [], more: false })
})

/** Files without links, in order, at most `most`. */
const filesIn = async (folder: string, under: string, most: number): Promise<ReadonlyArray<string>> => {
  const paths: Array<string> = []
  const entries = await readdir(join(folder, under), { withFileTypes: true }).catch(() => [])
  for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = under === "" ? entry.name : `${under}/${entry.name}`
    if (entry.isFile()) paths.push(path)
    if (entry.isDirectory()) paths.push(...(await filesIn(folder, path, most - paths.length)))
    if (paths.length >= most) break
  }
  return paths
}
