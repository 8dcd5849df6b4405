/**
 * Replies of the server that every review reads, requested at the same time when a checkout begins. They assume that the branch is at the
 * same location at both ends, as it nearly always is; the log shows whether that is true.
 */
import { Effect } from "effect"
import type { Scope } from "effect"
import type { ChangedPath, CheckoutError } from "../Checkout.ts"
import { tooManyPaths, changedFile } from "../server/SourceCheckout.ts"
import type { SvnEnds } from "./SvnInfo.ts"
import { listFolders, makeListings } from "./SvnListing.ts"
import type { SvnTree } from "./SvnListing.ts"
import type { RecentChange } from "./SvnRecent.ts"
import type { SvnSession } from "./SvnSession.ts"
import { readSvnXml } from "./SvnProcess.ts"
import { toPropertiesPath } from "./SvnProperties.ts"
import { pathBelow, pegged } from "./SvnUrl.ts"
import type { CopiedPath } from "../server/FileSource.ts"
import type { LogEntry, LogPath } from "./SvnLog.ts"
import { mayReplace } from "./SvnStreams.ts"

/**
 * The log between the compared revisions: messages, which files were copied from where, and whether the branch itself was replaced.
 */
interface SvnHistory {
  readonly messages: ReadonlyArray<string>
  /** Returns the copies among added paths of the branch. `roots`: paths of the branch in the repository, at the head and at the base. */
  readonly findCopies: (added: ReadonlyArray<string>, roots: ReadonlyArray<string>) => ReadonlyArray<CopiedPath>
  /** Returns whether the branch with this path in the repository was another object at the start. True if that is not known. */
  readonly mayBeReplaced: (pathInRepository: string) => boolean
}

/** Revisions and paths that are read; copies beyond are shown as added files. */
const maxRevisions = 200
const maxCopies = 10_000
const maxReplaced = 20_000
const maxMessageLength = 4000

/** Returns the history of a single change. */
const toHistory = ({ message, paths }: LogEntry): SvnHistory =>
  makeHistory({
    messages: [message.slice(0, maxMessageLength)],
    copied: new Map(paths.flatMap(({ path, source }) => (source === undefined ? [] : [[path, source] as const]))),
    replaced: paths.filter(({ action }) => action !== "M"),
    isPartial: false
  })

const readHistory = Effect.fnUntraced(function* (
  session: SvnSession,
  { revision, url }: SvnTree,
  start: string
): Effect.fn.Return<SvnHistory, CheckoutError> {
  const messages: Array<string> = []
  /** Source by target, absolute in the repository. */
  const copied = new Map<string, string>()
  const replaced: Array<LogPath> = []
  let revisions = 0
  const range = start === "0" ? revision : `${revision}:${Number(start) + 1}`
  yield* readSvnXml(
    session,
    ["log", "--verbose", "--limit", String(maxRevisions), "-r", range, pegged(url, revision)],
    ({ attributes, name, text }) => {
      if (name === "logentry") revisions++
      if (name === "msg") messages.push(text.slice(0, maxMessageLength))
      if (name !== "path") return
      const { action = "", "copyfrom-path": source } = attributes
      if (action !== "M" && replaced.length < maxReplaced) replaced.push({ path: text, action })
      if (source !== undefined && copied.size < maxCopies && !copied.has(text)) copied.set(text, source)
    }
  )
  const isPartial = revisions >= maxRevisions || replaced.length >= maxReplaced
  return makeHistory({ messages: messages.toReversed(), copied, replaced, isPartial })
})

interface LoggedHistory extends Pick<SvnHistory, "messages"> {
  /** Source by target, absolute in the repository. */
  readonly copied: ReadonlyMap<string, string>
  readonly replaced: ReadonlyArray<LogPath>
  readonly isPartial: boolean
}

const makeHistory = ({ copied, isPartial, messages, replaced }: LoggedHistory): SvnHistory => ({
  messages,
  findCopies: (added, roots) => {
    const inside = toPaths(copied, roots)
    return added.flatMap((path) => findCopy(inside, path))
  },
  mayBeReplaced: (pathInRepository) => isPartial || replaced.some(mayReplace(`/${pathInRepository}`))
})

/** Returns the copies into the branch from the branch, as paths in it. */
const toPaths = (
  copied: ReadonlyMap<string, string>,
  [head = "", ...earlier]: ReadonlyArray<string>
): ReadonlyMap<string, string> => {
  const below = (root: string, path: string): string | undefined => {
    const full = root === "" ? "/" : `/${root}/`
    return path.startsWith(full) ? path.slice(full.length) : undefined
  }
  const found = new Map<string, string>()
  for (const [target, source] of copied) {
    const to = below(head, target)
    const from = [head, ...earlier].map((root) => below(root, source)).find((path) => path !== undefined)
    if (to !== undefined && to !== "" && from !== undefined) found.set(to, from)
  }
  return found
}

/** Finds the path or the nearest folder above it that was copied. */
const findCopy = (copied: ReadonlyMap<string, string>, path: string): ReadonlyArray<CopiedPath> => {
  for (let end = path.length; end > 0; end = path.lastIndexOf("/", end - 1)) {
    const source = copied.get(path.slice(0, end))
    if (source !== undefined) return [{ path, source: `${source}${path.slice(end)}` }]
  }
  return []
}

/** Lists the changed files of a branch between two revisions. */

/** Fails with `limit` if there are more. Without `from` every file is added. */
const readChanges = Effect.fnUntraced(function* (
  session: SvnSession,
  { from, head }: { readonly head: SvnTree; readonly from: SvnTree | undefined },
  maxPaths: number
): Effect.fn.Return<ReadonlyArray<ChangedPath>, CheckoutError> {
  const found: Array<ChangedPath> = []
  /** Name of the entry that is being read. */
  let last = ""
  const add = (path: string, status: ChangedPath["status"]): boolean => found.push(changedFile(path, status)) > maxPaths
  const stopped =
    from === undefined
      ? yield* readSvnXml(session, ["list", "-R", "-r", head.revision, pegged(head.url, head.revision)], (element) => {
          const { name, text, within } = element
          if (name === "entry") return element.attributes["kind"] === "file" && add(last, "added")
          if (name === "name" && within.at(-1) === "entry") last = text
          return false
        })
      : yield* readSvnXml(
          session,
          ["diff", "--summarize", "--old", pegged(from.url, from.revision), "--new", pegged(head.url, head.revision)],
          ({ attributes, name, text }) => {
            const path = name === "path" ? (pathBelow(head.url, text) ?? pathBelow(from.url, text)) : undefined
            if (path === undefined) return false
            const { item, kind, props } = attributes
            const hasProperties = props === "modified" || (props !== undefined && props !== "none" && item === "none")
            const over = kind === "file" && isStatus(item) && path !== "" && add(path, item)
            return (
              over ||
              (hasProperties && item !== "added" && item !== "deleted" && add(toPropertiesPath(path), "modified"))
            )
          }
        )
  if (stopped) return yield* tooManyPaths(maxPaths)
  return found.toSorted((a, b) => Buffer.compare(Buffer.from(a.path), Buffer.from(b.path)))
})
const isStatus = (item: string | undefined): item is ChangedPath["status"] =>
  item === "added" || item === "deleted" || item === "modified"

/** Changed paths that are read before the limit of the review is known. */
const maxPathsAhead = 20_000
const maxHeadFolders = 20

/** Replies that are read before they are needed. `plain`: the branch at its present location, at both ends. */
export interface Ahead {
  readonly plain: { readonly head: SvnTree; readonly from: SvnTree }
  readonly history: Effect.Effect<SvnHistory, CheckoutError>
  readonly changes: Effect.Effect<ReadonlyArray<ChangedPath>, CheckoutError>
  readonly listings: ReturnType<typeof makeListings>
}

/** Starts requests whose replies every review reads. Failures are those of the readers. */
export const readAhead = Effect.fnUntraced(function* (
  session: SvnSession,
  plain: Ahead["plain"],
  recent: RecentChange | undefined
): Effect.fn.Return<Ahead, never, Scope.Scope> {
  const listings = makeListings(session)
  const history =
    recent === undefined
      ? yield* Effect.cached(readHistory(session, plain.head, plain.from.revision))
      : Effect.succeed(toHistory(recent.entry))
  const changes = yield* Effect.cached(readChanges(session, plain, maxPathsAhead))
  const lists = listAhead(listings, plain, recent)
  const requests = plain.from.revision === "0" ? [history] : [changes, history, ...lists]
  yield* Effect.forEach(requests, (request) => Effect.forkScoped(Effect.ignore(request)), { discard: true })
  return { plain, history, changes, listings }
})

/**
 * Lists the root of the branch, where a review looks for rules, and the folders of files that are known to be changed, which show their
 * sizes.
 */
const listAhead = (
  listings: Ahead["listings"],
  { from, head }: Ahead["plain"],
  recent: RecentChange | undefined
): ReadonlyArray<Effect.Effect<void, CheckoutError>> => {
  if (recent === undefined) return [listings.readAhead(from, [""])]
  const paths = recent.stream.paths.filter((path) => path !== "")
  const folders = new Set(paths.map((path) => path.slice(0, Math.max(0, path.lastIndexOf("/")))))
  return [listings.readAhead(from, listFolders(paths)), listings.readAhead(head, [...folders].slice(0, maxHeadFolders))]
}

/** Takes the changes that were read ahead, if the branch is at the same location at both ends. */
export const takeChanges = Effect.fnUntraced(function* (
  session: SvnSession,
  ends: SvnEnds,
  ahead: Ahead,
  maxPaths: number
) {
  const { head, from } = ends
  const isPlain = head.url === ahead.plain.head.url && from?.url === ahead.plain.from.url
  const found = isPlain ? yield* Effect.result(ahead.changes) : undefined
  if (found?._tag !== "Success") return yield* readChanges(session, ends, maxPaths)
  return found.success.length > maxPaths ? yield* tooManyPaths(maxPaths) : found.success
})
