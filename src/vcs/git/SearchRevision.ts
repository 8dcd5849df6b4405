/**
 * `RevisionSearch` over git. Only fixed texts and words reach `git grep`, which prints the names of files and stops at the first hit of each;
 * time, processor time and the number of names are limited, and so are the searches of a node at a time.
 */
import { Effect, Semaphore } from "effect"
import type { CheckoutError, FoundPaths, RevisionSearch } from "../Checkout.ts"
import { endError, startGit } from "./GitProcess.ts"
import type { GitChild, GitEnd } from "./GitProcess.ts"
import { inMirror } from "./Mirror.ts"
import type { Mirror } from "./Mirror.ts"
import { objectName } from "./Objects.ts"
import { localTime, withinTime } from "./TimeLimit.ts"

/** Searches of a node at the same time. */
const atOnce = 2
const cpuSeconds = 20
/** Exit code of `git grep` without a hit. */
const nothingFound = 1

const none: FoundPaths = { paths: [], more: false }

export const makeSearchRevision = () => {
  const searches = Semaphore.makeUnsafe(atOnce)

  const pathsOf = (
    mirror: Mirror,
    args: ReadonlyArray<string>,
    limit: number,
    pathOf: (record: string) => string | undefined
  ): Effect.Effect<FoundPaths, CheckoutError> => {
    const command = inMirror(
      { ...mirror, limits: { ...mirror.limits, cpuSeconds: Math.min(cpuSeconds, mirror.limits.cpuSeconds) } },
      args
    )
    return Effect.gen(function* () {
      const child = yield* startGit(command)
      child.stdin.end()
      const { paths, end } = yield* Effect.promise(() => collectPaths(child, limit + 1, pathOf))
      if (end !== undefined && end.code !== 0 && (end.code !== nothingFound || end.stderr !== "")) {
        return yield* endError(command, end)
      }
      return { paths: paths.slice(0, limit), more: paths.length > limit }
    }).pipe(Effect.scoped, withinTime(args[0] ?? "git", localTime("search")), searches.withPermits(1))
  }

  return (mirror: Mirror, commit: string): RevisionSearch => ({
    filesWith: ({ texts, ignoreCase, words, under }, limit) => {
      const usable = texts.filter((text) => text !== "" && !/[\n\0]/.test(text))
      if (usable.length === 0 || !isUsable(commit, under)) return Effect.succeed(none)
      const options = [...(ignoreCase ? ["-i"] : []), ...(words ? ["-w"] : [])]
      return pathsOf(
        mirror,
        [
          ..."grep -l -z -I --threads=1 --no-color --full-name".split(" "),
          ...options,
          ...patterns(usable),
          commit,
          ...(under === "" ? [] : ["--", under])
        ],
        limit,
        (record) => record.slice(commit.length + 1)
      )
    },
    filesUnder: (folder, limit) =>
      isUsable(commit, folder)
        ? pathsOf(
            mirror,
            ["ls-tree", "-r", "-z", "--full-tree", commit, ...(folder === "" ? [] : ["--", folder])],
            limit,
            fileOf
          )
        : Effect.succeed(none)
  })
}

/** Words become one pattern, which git searches several times as fast as many texts. */
const patterns = (texts: ReadonlyArray<string>): ReadonlyArray<string> =>
  texts.every((text) => /^\w+$/.test(text))
    ? ["-E", "-e", texts.join("|")]
    : ["-F", ...texts.flatMap((text) => ["-e", text])]

const isUsable = (commit: string, path: string): boolean => path === "" || objectName(commit, path) !== undefined

/** Parses `<mode> <type> <id>\t<path>`. */
const fileOf = (record: string): string | undefined =>
  record.startsWith("100") ? record.slice(record.indexOf("\t") + 1) : undefined

/** Reads records that end with NUL until there are `most` paths, or the process ends. */
export const collectPaths = (
  child: GitChild,
  most: number,
  pathOf: (record: string) => string | undefined
): Promise<{ readonly paths: ReadonlyArray<string>; readonly end: GitEnd | undefined }> =>
  new Promise((resolve) => {
    const paths: Array<string> = []
    let rest = Buffer.alloc(0)
    child.stdout.on("data", (chunk: Buffer) => {
      const text = Buffer.concat([rest, chunk])
      let at = 0
      for (let end = text.indexOf(0); end >= 0 && paths.length < most; end = text.indexOf(0, at)) {
        const path = pathOf(text.toString("utf8", at, end))
        if (path !== undefined) paths.push(path)
        at = end + 1
      }
      rest = Buffer.from(text.subarray(at))
      // A record is a path of a tree, which git writes without a limit.
      if (paths.length >= most || rest.length > maxRecordBytes) resolve({ paths, end: undefined })
    })
    void child.ended.then((end) => resolve({ paths, end }))
  })

const maxRecordBytes = 65_536
