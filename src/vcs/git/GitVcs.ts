/**
 * `Vcs` over the git program. A review costs at most four processes of ours: fetch, merge-base, diff-tree, and one
 * `cat-file --batch` that all checkouts of a mirror share; a worktree is one more, for who asks for it.
 */
import { mkdir } from "node:fs/promises"
import { join } from "node:path"
import { NodeStream } from "@effect/platform-node"
import { Effect, Layer, RcMap, Scope, Stream } from "effect"
import { CheckoutError, Vcs } from "../Checkout.ts"
import type { Checkout, CheckoutRequest } from "../Checkout.ts"
import { parseBlame } from "./Blame.ts"
import { commitsBetween, isAncestor } from "./Commits.ts"
import { openBlobReader } from "./BlobReader.ts"
import type { BlobReader } from "./BlobReader.ts"
import { checkIds, checkUrl, fetchCommits, isZero } from "./Fetch.ts"
import { gitFailure } from "./GitFailure.ts"
import { runGit, startGit } from "./GitProcess.ts"
import { borrowObjects, localPath } from "./LocalObjects.ts"
import { io, makeMirrors } from "./Mirror.ts"
import type { Mirror } from "./Mirror.ts"
import { fileNames, objectName, textOf } from "./Objects.ts"
import { addWorktree, sweepWorktrees } from "./Worktrees.ts"

export interface GitVcsOptions {
  /** Folder of mirrors and worktrees, of this process alone. */
  readonly root: string
  /** Lets paths and file URLs be repositories: for the command line and the demo, never for URLs out of webhooks. */
  readonly allowLocal?: boolean
  /** Whole time of one fetch. Default 15 minutes: the first one brings the history of a branch. */
  readonly fetchTimeoutMillis?: number
}

const emptyTree = {
  40: "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
  64: "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321"
}
const emptyTreeOf = (commit: string): string => emptyTree[commit.length === 64 ? 64 : 40]
/** A longer range is not shown commit by commit. */
const mostCommits = 200
const quick = { timeoutMillis: 120_000, maxBytes: 1_048_576 }

export const layerGit = (options: GitVcsOptions): Layer.Layer<Vcs> => Layer.effect(Vcs, make(options))

const make = Effect.fnUntraced(function* (options: GitVcsOptions) {
  const worktrees = join(options.root, "worktrees")
  yield* sweepWorktrees(worktrees).pipe(
    Effect.catch((error) => Effect.logWarning(`old worktrees in ${worktrees} were not removed: ${error.message}`))
  )
  const openMirror = makeMirrors(join(options.root, "mirrors"))
  const readers = yield* RcMap.make({ lookup: openBlobReader, idleTimeToLive: "30 seconds" })

  const checkout = Effect.fn("Vcs.checkout")(function* (
    request: CheckoutRequest
  ): Effect.fn.Return<Checkout, CheckoutError, Scope.Scope> {
    const local = options.allowLocal === true ? localPath(request.url) : undefined
    const refused = checkIds(request) ?? (local === undefined ? checkUrl(request.url) : undefined)
    if (refused !== undefined) return yield* refused
    yield* io("workspaces root", () => mkdir(options.root, { recursive: true }))
    const mirror = yield* openMirror(request.mirror, request.head)
    if (local !== undefined) yield* borrowObjects(mirror, local)
    else yield* fetchCommits(mirror, request, options.fetchTimeoutMillis ?? 900_000)
    const from = yield* startOf(mirror, request)
    const scope = yield* Effect.scope
    const revision = { head: request.head, from }

    const read = (object: string, maxBytes: number) =>
      Effect.scoped(
        RcMap.get(readers, mirror.directory).pipe(Effect.flatMap((reader: BlobReader) => reader.read(object, maxBytes)))
      ).pipe(Effect.tapError(() => RcMap.invalidate(readers, mirror.directory)))

    return {
      head: request.head,
      from,
      directory: yield* Effect.cached(
        addWorktree(worktrees, mirror, request.head).pipe(Effect.provideService(Scope.Scope, scope))
      ),
      diff: diffStream(mirror, from, request.head),
      commits: Effect.map(commitsBetween(mirror, from, request.head, mostCommits), (commits) =>
        commits?.map(({ id, title, parent }) => ({
          id,
          title,
          diff: diffStream(mirror, parent ?? emptyTreeOf(id), id)
        }))
      ),
      file: (path, at, maxBytes) => {
        const object = objectName(revision[at], path)
        return object === undefined ? Effect.undefined : Effect.map(read(object, maxBytes), textOf)
      },
      list: (directory, at, limit) => {
        const object = directory === "" ? `${revision[at]}^{tree}` : objectName(revision[at], directory)
        if (object === undefined) return Effect.succeed([])
        return Effect.map(read(object, 4_194_304), (tree) => fileNames(tree, request.head.length / 2, limit))
      },
      blame: (path, start, end) => blame(mirror, request.head, path, start, end)
    }
  })
  return { checkout }
})

/** The commit that the diff starts from. */
const startOf = Effect.fnUntraced(function* (
  mirror: Mirror,
  request: CheckoutRequest
): Effect.fn.Return<string, CheckoutError> {
  const { head, base } = request
  const git = (args: ReadonlyArray<string>, accept: ReadonlyArray<number>) =>
    runGit({ args, gitDir: mirror.directory, home: mirror.directory }, { ...quick, accept }).pipe(
      Effect.map(({ stdout }) => stdout.toString("latin1").trim())
    )
  const parentOf = Effect.map(git(["rev-list", "--parents", "-n", "1", head], []), (line) => {
    const [, parent] = line.split(" ")
    return parent ?? emptyTreeOf(head)
  })
  // A branch that has just been created has no "before": its last commit is what is looked at.
  if (isZero(base)) return yield* parentOf
  if (request.headOnly === true && (request.compare === "merge-base" || (yield* isAncestor(mirror, base, head)))) {
    return yield* parentOf
  }
  if (request.compare === "endpoints") return base
  const found = yield* git(["merge-base", base, head], [1])
  if (found !== "") return found
  return yield* new CheckoutError({
    reason: "failed",
    message: `commits ${base} and ${head} have no common ancestor, or a shallow clone does not reach it`
  })
})

const diffStream = (mirror: Mirror, from: string, head: string): Stream.Stream<Uint8Array, CheckoutError> =>
  Stream.unwrap(
    Effect.gen(function* () {
      // Plumbing, with every choice spelled out; the choices are git's defaults, which hosts use for their own diffs.
      const options = [
        "-r",
        "-p",
        "-M50%",
        "-l1000",
        "-U3",
        "--full-index",
        "--no-color",
        "--no-ext-diff",
        "--no-textconv"
      ]
      const style = ["--inter-hunk-context=0", "--diff-algorithm=myers", "--indent-heuristic", "--submodule=short"]
      const prefixes = ["--src-prefix=a/", "--dst-prefix=b/"]
      const child = yield* startGit({
        args: ["diff-tree", ...options, ...style, ...prefixes, from, head],
        gitDir: mirror.directory,
        home: mirror.directory
      })
      child.stdin.end()
      const verdict = Effect.flatMap(
        Effect.promise(() => child.ended),
        ({ code, stderr }) => (code === 0 ? Effect.void : Effect.fail(gitFailure("diff-tree", stderr, [])))
      )
      return NodeStream.fromReadable<Uint8Array, CheckoutError>({
        evaluate: () => child.stdout,
        onError: (cause) => new CheckoutError({ reason: "failed", message: `git diff-tree: ${String(cause)}` })
      }).pipe(Stream.concat(Stream.fromEffectDrain(verdict)))
    })
  )

const blame = Effect.fnUntraced(function* (mirror: Mirror, head: string, path: string, start: number, end: number) {
  if (objectName(head, path) === undefined || !(start >= 1 && end >= start)) return []
  const { stdout } = yield* runGit(
    {
      args: ["blame", "--line-porcelain", "-L", `${start},${end}`, head, "--", path],
      gitDir: mirror.directory,
      home: mirror.directory
    },
    { timeoutMillis: 60_000, maxBytes: 8_388_608 }
  ).pipe(
    Effect.catchIf(
      (error) => error.reason === "missing",
      () => Effect.succeed({ stdout: Buffer.alloc(0) })
    )
  )
  return parseBlame(stdout.toString("utf8"))
})
