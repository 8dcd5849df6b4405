/**
 * `Vcs` over the git program, with the further repositories of a review and the cache they are all kept in. Starting a process costs
 * more than most of what is asked of git, so all checkouts of a mirror share one `cat-file` and one `diff-tree`; a review adds a fetch,
 * a merge-base where the base is not just before the head, and a worktree for who asks for it.
 */
import { mkdir } from "node:fs/promises"
import { join } from "node:path"
import { Context, Effect, Layer, RcMap, Scope, Stream } from "effect"
import { CheckoutError, Vcs } from "../Checkout.ts"
import type { Checkout, CheckoutRequest } from "../Checkout.ts"
import { ContextRepositories } from "../ContextRepositories.ts"
import { planEviction } from "../PlanEviction.ts"
import { WorkspaceCache } from "../WorkspaceCache.ts"
import type { CachePolicy, KeptMirror } from "../WorkspaceCache.ts"
import { parseBlame } from "./Blame.ts"
import { commitsBetween, isAncestor } from "./Commits.ts"
import { openBlobReader } from "./BlobReader.ts"
import type { BlobReader } from "./BlobReader.ts"
import { isJustBefore, treeOf } from "./CommitObject.ts"
import type { ReadObject } from "./CommitObject.ts"
import { makeContextMirrors } from "./ContextMirrors.ts"
import { openDiffReader } from "./DiffReader.ts"
import { diffStream } from "./DiffStream.ts"
import { checkIds, checkUrl, fetchCommits, isZero } from "./Fetch.ts"
import { runGit } from "./GitProcess.ts"
import { borrowObjects, localPath } from "./LocalObjects.ts"
import { io } from "./Mirror.ts"
import type { Mirror } from "./Mirror.ts"
import { makeMirrors } from "./Mirrors.ts"
import { sizeOf } from "./MirrorUse.ts"
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
const fetchMillis = 900_000

export const layerGit = (options: GitVcsOptions): Layer.Layer<Vcs | ContextRepositories | WorkspaceCache> =>
  Layer.effectContext(make(options))

const make = Effect.fnUntraced(function* (options: GitVcsOptions) {
  const worktrees = join(options.root, "worktrees")
  yield* sweepWorktrees(worktrees).pipe(
    Effect.catch((error) => Effect.logWarning(`old worktrees in ${worktrees} were not removed: ${error.message}`))
  )
  const readers = yield* RcMap.make({ lookup: openBlobReader, idleTimeToLive: "30 seconds" })
  const diffReaders = yield* RcMap.make({ lookup: openDiffReader, idleTimeToLive: "30 seconds" })
  const mirrors = makeMirrors(join(options.root, "mirrors"), (directory) =>
    Effect.andThen(RcMap.invalidate(readers, directory), RcMap.invalidate(diffReaders, directory))
  )
  const home = io("workspaces root", () => mkdir(options.root, { recursive: true })).pipe(Effect.as(options.root))

  const readObject = (mirror: Mirror, object: string, maxBytes: number) =>
    Effect.scoped(
      RcMap.get(readers, mirror.directory).pipe(Effect.flatMap((reader: BlobReader) => reader.read(object, maxBytes)))
    ).pipe(Effect.tapError(() => RcMap.invalidate(readers, mirror.directory)))

  /** By the shared process; by one of its own while that one is at another diff, for its reader may take its time. */
  const diffOf = (mirror: Mirror, from: string, head: string): Stream.Stream<Uint8Array, CheckoutError> =>
    Stream.unwrap(
      Effect.gen(function* () {
        const read: ReadObject = (id, maxBytes) => readObject(mirror, id, maxBytes)
        const [before, after] = [yield* treeOf(read, from), yield* treeOf(read, head)]
        if (before === undefined || after === undefined) return diffStream(mirror, from, head)
        const shared = yield* RcMap.get(diffReaders, mirror.directory)
        yield* Effect.addFinalizer(() =>
          shared.isOver() ? RcMap.invalidate(diffReaders, mirror.directory) : Effect.void
        )
        return (yield* shared.diff(before, after)) ?? diffStream(mirror, from, head)
      })
    )

  const checkout = Effect.fn("Vcs.checkout")(function* (
    request: CheckoutRequest
  ): Effect.fn.Return<Checkout, CheckoutError, Scope.Scope> {
    const local = options.allowLocal === true ? localPath(request.url) : undefined
    const refused = checkIds(request) ?? (local === undefined ? checkUrl(request.url) : undefined)
    if (refused !== undefined) return yield* refused
    yield* home
    const mirror = yield* mirrors.open(request.mirror, request.head)
    if (local !== undefined) yield* borrowObjects(mirror, local)
    else yield* fetchCommits(mirror, request, options.fetchTimeoutMillis ?? fetchMillis)
    const read = (object: string, maxBytes: number) => readObject(mirror, object, maxBytes)
    const from = yield* startOf(mirror, read, request)
    const scope = yield* Effect.scope
    const revision = { head: request.head, from }

    return {
      head: request.head,
      from,
      directory: yield* Effect.cached(
        addWorktree(worktrees, mirror, request.head).pipe(Effect.provideService(Scope.Scope, scope))
      ),
      diff: diffOf(mirror, from, request.head),
      commits: Effect.map(commitsBetween(mirror, from, request.head, mostCommits), (commits) =>
        commits?.map(({ id, title, parent }) => ({
          id,
          title,
          diff: diffOf(mirror, parent ?? emptyTreeOf(id), id)
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

  const tidy = Effect.fn("WorkspaceCache.tidy")(function* (policy: CachePolicy, now: number) {
    const orphans = yield* sweepWorktrees(worktrees)
    const kept = yield* mirrors.kept
    const checkedOut = yield* io("worktrees", () => sizeOf(worktrees))
    const evicted: Array<KeptMirror> = []
    for (const mirror of planEviction(kept, policy, now, checkedOut)) {
      if (yield* mirrors.evict(mirror.folder)) evicted.push(mirror)
    }
    const sum = (list: ReadonlyArray<KeptMirror>) => list.reduce((bytes, mirror) => bytes + mirror.bytes, 0)
    return { bytes: checkedOut + sum(kept) - sum(evicted), evicted, orphans }
  })

  const { mount } = makeContextMirrors({
    mirrors,
    home,
    read: readObject,
    fetchTimeoutMillis: options.fetchTimeoutMillis ?? fetchMillis
  })
  return Context.make(Vcs, { checkout }).pipe(
    Context.add(ContextRepositories, { mount }),
    Context.add(WorkspaceCache, { tidy })
  )
})

/** The commit that the diff starts from. */
const startOf = Effect.fnUntraced(function* (
  mirror: Mirror,
  read: ReadObject,
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
  if (request.compare === "endpoints" || (yield* isJustBefore(read, base, head))) return base
  const found = yield* git(["merge-base", base, head], [1])
  if (found !== "") return found
  return yield* new CheckoutError({
    reason: "failed",
    message: `commits ${base} and ${head} have no common ancestor, or a shallow clone does not reach it`
  })
})

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
