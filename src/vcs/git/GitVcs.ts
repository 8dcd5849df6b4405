/**
 * `Vcs` over the git program, with the further repositories of a review and the cache of all repositories. Starting a process
 * costs more than most git commands, so all checkouts of a mirror share one `cat-file` and one `diff-tree`; a review adds a
 * fetch, a merge-base if the base is not directly before the head, and a worktree for an agent that needs files.
 */
import { join } from "node:path"
import { Effect, Scope, RcMap } from "effect"
import { CheckoutError } from "../Checkout.ts"
import type { Checkout, GitCheckoutRequest, Revision } from "../Checkout.ts"
import type { ProcessLimits } from "../process/ProcessLimits.ts"
import { planEviction } from "../cache/PlanEviction.ts"
import type { CachePolicy, KeptMirror } from "../cache/WorkspaceCache.ts"
import { blame } from "./BlameLines.ts"
import { readMessage } from "./CommitObject.ts"
import { commitsBetween, isAncestor } from "./Commits.ts"
import { makeComparisons, objectsIn } from "./Comparisons.ts"
import { makeContextMirrors } from "./ContextMirrors.ts"
import { diffStart, findEmptyTree } from "./DiffStart.ts"
import { checkIds, checkUrl, fetchCommits, refName } from "./Fetch.ts"
import { borrowObjects, localFormat, localPath } from "./LocalObjects.ts"
import { io, privateFolder } from "./Mirror.ts"
import type { Mirror } from "./Mirror.ts"
import { makeMirrors } from "./Mirrors.ts"
import type { Mirrors } from "./Mirrors.ts"
import { measureBytes } from "./MirrorUse.ts"
import { fileNames, folderNames, objectName, decodeBlob } from "./Objects.ts"
import { formatOfId } from "./ObjectFormat.ts"
import { remoteFormat } from "./RemoteRef.ts"
import { makeSearchRevision } from "./SearchRevision.ts"
import { addWorktree, sweepWorktrees } from "./Worktrees.ts"
import { openBlobReader } from "./BlobReader.ts"
import { openDiffReader } from "./DiffReader.ts"
import { openSizeReader } from "./SizeReader.ts"

/** Git processes that all checkouts of a mirror share: for objects, sizes and diffs. They end 10 seconds after their last use. */
const makeSharedReaders = Effect.fnUntraced(function* (limits: () => ProcessLimits) {
  const idleTimeToLive = "10 seconds"
  const objects = yield* RcMap.make({ lookup: (at: string) => openBlobReader(at, limits()), idleTimeToLive })
  const sizes = yield* RcMap.make({ lookup: (at: string) => openSizeReader(at, limits()), idleTimeToLive })
  const diffs = yield* RcMap.make({ lookup: (at: string) => openDiffReader(at, limits()), idleTimeToLive })

  const readObject = (mirror: Mirror, object: string, maxBytes: number) =>
    Effect.scoped(Effect.flatMap(RcMap.get(objects, mirror.directory), (reader) => reader.read(object, maxBytes))).pipe(
      Effect.tapError(() => RcMap.invalidate(objects, mirror.directory))
    )

  /** Reads the size first, so that large files are not loaded. */
  const readText = Effect.fnUntraced(function* (mirror: Mirror, object: string, maxBytes: number) {
    const [found] = yield* objectsIn(sizes, mirror, [object])
    return found === undefined || found.size > maxBytes
      ? undefined
      : decodeBlob(yield* readObject(mirror, object, maxBytes))
  })

  /** Ends the processes of a mirror. */
  const invalidate = (directory: string) =>
    Effect.all([
      RcMap.invalidate(objects, directory),
      RcMap.invalidate(sizes, directory),
      RcMap.invalidate(diffs, directory)
    ])

  return { readObject, readText, invalidate, sizes, diffs }
})

type SharedReaders = Effect.Success<ReturnType<typeof makeSharedReaders>>

export interface GitVcsOptions {
  /** Returns the current limits when a command starts. */
  readonly limits: () => ProcessLimits
  /** Folder of mirrors and worktrees, used by this process only. */
  readonly root: string
  /** Permits paths and file URLs as repositories: for the command line and the demo, never for URLs from webhooks. */
  readonly allowLocal?: boolean
  /** Timeout of one fetch. Default 15 minutes, because the first one transfers the history of a branch. */
  readonly fetchTimeoutMillis?: number
}

/** Longer ranges are not reviewed commit by commit. */
const maxCommits = 200
/** Commits whose messages are read, and their size. */
const maxMessages = 50
const maxTreeBytes = 4_194_304
const maxCommitBytes = 65_536
const fetchMillis = 900_000

/** File of what is derived from the contents of a mirror. It is in the folder of the mirror, so that it is evicted with it. */
const outlinesName = "outlines.sqlite"

/** State that all checkouts under a root share. */
interface Workspaces {
  readonly options: GitVcsOptions
  readonly worktrees: string
  /** Creates the folders of the root. */
  readonly home: Effect.Effect<string, CheckoutError>
  readonly readers: SharedReaders
  readonly mirrors: Mirrors
  readonly compare: ReturnType<typeof makeComparisons>
  readonly searchRevision: ReturnType<typeof makeSearchRevision>
}

/** Opens the mirror of the repository and fetches both commits into it. */
const openFetched = Effect.fnUntraced(function* (
  { options, home, mirrors }: Workspaces,
  request: GitCheckoutRequest
): Effect.fn.Return<Mirror, CheckoutError, Scope.Scope> {
  const local = options.allowLocal === true ? localPath(request.url) : undefined
  const refusal = checkIds(request) ?? (local === undefined ? checkUrl(request.url) : undefined)
  if (refusal !== undefined) return yield* refusal
  const folder = yield* home
  const refs = [request.headRef, request.baseRef, request.rules?.ref].flatMap((name) => refName(name) ?? [])
  const mirror = yield* mirrors.open(
    request.mirror,
    formatOfId(request.head),
    local === undefined ? remoteFormat({ ...request, limits: options.limits() }, refs, folder) : localFormat(local)
  )
  if (local !== undefined) yield* borrowObjects(mirror, local)
  else yield* fetchCommits(mirror, request, options.fetchTimeoutMillis ?? fetchMillis)
  return mirror
})

const checkOut = Effect.fnUntraced(function* (
  workspaces: Workspaces,
  request: GitCheckoutRequest
): Effect.fn.Return<Checkout, CheckoutError, Scope.Scope> {
  const { compare, readers, worktrees } = workspaces
  const mirror = yield* openFetched(workspaces, request)
  const read = (object: string, maxBytes: number) => readers.readObject(mirror, object, maxBytes)
  const from = yield* diffStart(mirror, read, request)
  const scope = yield* Effect.scope
  const commits = yield* Effect.cached(commitsBetween(mirror, read, from, request.head, maxCommits))
  const revision = { head: request.head, from, rules: request.rules?.commit }
  const named = (path: string, at: Revision) => {
    const commit = revision[at]
    return commit === undefined ? undefined : objectName(commit, path)
  }
  const tree = (directory: string, at: Revision) => {
    const object = directory === "" ? revision[at] && `${revision[at]}^{tree}` : named(directory, at)
    return object === undefined ? Effect.undefined : read(object, maxTreeBytes)
  }

  return {
    head: request.head,
    from,
    directory: yield* Effect.cached(
      addWorktree(worktrees, mirror, request.head).pipe(Effect.provideService(Scope.Scope, scope))
    ),
    ...compare(mirror, from, request.head),
    commits: Effect.map(commits, (range) =>
      range?.map(({ id, title, parent }) => ({
        id,
        title,
        ...compare(mirror, parent ?? findEmptyTree(id), id)
      }))
    ),
    messages: Effect.flatMap(commits, (range = []) =>
      Effect.map(
        Effect.forEach(range.slice(-maxMessages), ({ id }) => read(id, maxCommitBytes), { concurrency: "unbounded" }),
        (objects) => objects.flatMap((object) => readMessage(object) ?? [])
      )
    ),
    file: (path, at, maxBytes) => {
      const object = named(path, at)
      return object === undefined ? Effect.undefined : readers.readText(mirror, object, maxBytes)
    },
    list: (directory, at, limit) =>
      Effect.map(tree(directory, at), (found) => fileNames(found, request.head.length / 2, limit)),
    folders: (directory, at, limit) =>
      Effect.map(tree(directory, at), (found) => folderNames(found, request.head.length / 2, limit)),
    blobs: {
      index: join(mirror.directory, outlinesName),
      find: (paths, at) =>
        blobsAt(
          readers,
          mirror,
          paths.map((path) => named(path, at))
        ),
      read: (id, maxBytes) => Effect.map(read(id, maxBytes), decodeBlob)
    },
    blame: (path, start, end) => blame(mirror, request.head, path, start, end),
    search: workspaces.searchRevision(mirror, request.head)
  }
})

/** Returns what objects of these names are where they are files. */
const blobsAt = Effect.fnUntraced(function* (
  { sizes }: SharedReaders,
  mirror: Mirror,
  names: ReadonlyArray<string | undefined>
) {
  const found = (yield* objectsIn(
    sizes,
    mirror,
    names.filter((name) => name !== undefined)
  )).values()
  return names.map((name) => {
    const object = name === undefined ? undefined : found.next().value
    return object?.type === "blob" ? { id: object.id, bytes: object.size } : undefined
  })
})

/** Evicts mirrors according to the policy, and removes worktrees without an owner. */
const tidyCache = Effect.fnUntraced(function* ({ mirrors, worktrees }: Workspaces, policy: CachePolicy, now: number) {
  const orphans = yield* sweepWorktrees(worktrees)
  const kept = yield* mirrors.kept
  const checkedOut = yield* io("worktrees", () => measureBytes(worktrees))
  const evicted: Array<KeptMirror> = []
  for (const mirror of planEviction(kept, policy, now, checkedOut)) {
    if (yield* mirrors.evict(mirror.folder)) evicted.push(mirror)
  }
  const sum = (list: ReadonlyArray<KeptMirror>) => list.reduce((bytes, mirror) => bytes + mirror.bytes, 0)
  return { bytes: checkedOut + sum(kept) - sum(evicted), evicted, orphans }
})

/** Makes the adapter of git, and the maintenance of its cache. */
export const makeGit = Effect.fnUntraced(function* (options: GitVcsOptions) {
  const { limits, root } = options
  const worktrees = join(root, "worktrees")
  yield* sweepWorktrees(worktrees).pipe(
    Effect.catch((error) =>
      Effect.logWarning("old worktrees not removed", { directory: worktrees, error: error.message })
    )
  )
  const readers = yield* makeSharedReaders(limits)
  const { readObject, sizes: sizeReaders, diffs: diffReaders } = readers
  const mirrors = makeMirrors(join(root, "mirrors"), limits, readers.invalidate)
  const home = yield* Effect.cached(
    io("workspaces root", async () => {
      for (const folder of ["mirrors", "worktrees"]) await privateFolder(join(root, folder))
      return root
    })
  )
  const compare = makeComparisons({ readObject, sizeReaders, diffReaders, scratch: worktrees })
  const searchRevision = makeSearchRevision()
  const workspaces: Workspaces = { options, worktrees, home, readers, mirrors, compare, searchRevision }

  const checkout = Effect.fn("Vcs.checkout")((request: GitCheckoutRequest) => checkOut(workspaces, request))
  const containsBase = Effect.fn("Vcs.isAncestor")(function* (request: GitCheckoutRequest) {
    return yield* isAncestor(yield* openFetched(workspaces, request), request.base, request.head)
  }, Effect.scoped)
  const tidy = Effect.fn("WorkspaceCache.tidy")((policy: CachePolicy, now: number) =>
    tidyCache(workspaces, policy, now)
  )
  const { mount } = makeContextMirrors({
    mirrors,
    home,
    read: readObject,
    searchRevision,
    limits,
    fetchTimeoutMillis: options.fetchTimeoutMillis ?? fetchMillis
  })
  return { checkout, isAncestor: containsBase, mount, tidy }
})
