/**
 * `FileSource` over p4. The compared states are the branch at two submitted changelists, or a shelf and the newest submitted changelist of
 * its branch.
 */
import { Effect } from "effect"
import type { Scope } from "effect"
import { CheckoutError } from "../Checkout.ts"
import type { Revision, ServerCheckoutRequest } from "../Checkout.ts"
import type { FileSide, FileSource } from "../server/FileSource.ts"
import { readChanges, readShelf } from "./P4Changes.ts"
import type { P4Changes, P4Range } from "./P4Changes.ts"
import { readMessages, readSteps, shelfVersion } from "./P4Describe.ts"
import { exportBranch, exportOne } from "./P4Export.ts"
import { readContent, readContents, listSizes } from "./P4Files.ts"
import type { ListedFile } from "./P4Files.ts"
import { cleanRoot, checkRoot, belowDepot } from "./P4Path.ts"
import { readP4Blame } from "./P4Blame.ts"
import type { P4Session } from "./P4Session.ts"
import { readServerInfo } from "./P4Submitted.ts"
import { hasContent, isBinary } from "./P4Types.ts"
import { joinDepot } from "../../domain/DepotPath.ts"

/** Lists of folders, kept during a checkout: a review reads many files of rules that do not exist. */

const maxEntries = 5000

interface Listing {
  readonly files: ReadonlyMap<string, ListedFile>
  readonly more: boolean
}

const makeListings = (session: P4Session, branch: string, fold: boolean) => {
  const kept = new Map<string, Effect.Effect<Listing, CheckoutError>>()

  const read = Effect.fnUntraced(function* (directory: string, at: string) {
    const files = new Map<string, ListedFile>()
    const folder = joinDepot(branch, directory)
    const more = yield* listSizes(session, `${folder}/*@${at}`, (file) => {
      const name = belowDepot(folder, file.depotFile, fold)
      if (name !== undefined) files.set(name, file)
      return files.size >= maxEntries
    })
    return { files, more }
  })

  const listing = (directory: string, at: string): Effect.Effect<Listing, CheckoutError> =>
    Effect.suspend(() => {
      const key = `${at}:${directory}`
      const existing = kept.get(key)
      if (existing !== undefined) return existing
      const reading = Effect.runSync(Effect.cached(read(directory, at)))
      kept.set(key, reading)
      return reading
    })

  return {
    files: (directory: string, at: string): Effect.Effect<ReadonlyMap<string, ListedFile>, CheckoutError> =>
      Effect.map(listing(directory, at), ({ files }) => files),
    /** Finds a file in a state of the branch. */
    find: Effect.fnUntraced(function* (
      path: string,
      at: string
    ): Effect.fn.Return<ListedFile | undefined, CheckoutError> {
      const slash = path.lastIndexOf("/")
      const { files, more } = yield* listing(path.slice(0, Math.max(0, slash)), at)
      const found = files.get(path.slice(slash + 1))
      if (found !== undefined || !more) return found
      let other: ListedFile | undefined
      yield* listSizes(session, `${joinDepot(branch, path)}@${at}`, (file) => {
        other = file
        return true
      })
      return other
    })
  }
}

const maxMessages = 50
/** Files of a shelf, and changes that are read again for a file. */
const maxShelf = 100_000

export const openP4Source = Effect.fnUntraced(function* (
  session: P4Session,
  request: ServerCheckoutRequest
): Effect.fn.Return<FileSource, CheckoutError, Scope.Scope> {
  const [, head, version] = /^(\d{1,18})(?:-([0-9a-f]{12}))?$/.exec(request.head) ?? []
  if (head === undefined || !/^\d{1,18}$/.test(request.base)) {
    return yield* new CheckoutError({
      reason: "failed",
      why: { _tag: "InvalidChangelists", changelist: request.head, other: request.base }
    })
  }
  const branch = cleanRoot(request.branch)
  const wrong = checkRoot(branch)
  if (wrong !== undefined) return yield* wrong
  const { fold } = yield* readServerInfo(session)
  const shelf = version === undefined ? undefined : yield* readShelf(session, head, maxShelf)
  if (shelf !== undefined && shelf.state === "shelved" && shelfVersion(shelf) !== version) {
    return yield* new CheckoutError({
      reason: "missing",
      why: { _tag: "ShelvedAgain", changelist: head }
    })
  }
  const isSubmittedSince = shelf?.state === "submitted"
  const start =
    request.headOnly === true && version === undefined ? Math.max(Number(request.base), Number(head) - 1) : request.base
  const range: P4Range = {
    branch,
    head,
    base: String(start),
    fold,
    shelf: isSubmittedSince ? undefined : shelf
  }
  const steps =
    range.shelf !== undefined
      ? Effect.succeed([])
      : Effect.map(readSteps(session, branch, head, range.base), (found) =>
          found?.map(({ id, title }, index) => ({
            id,
            title,
            open: openP4Source(session, {
              ...request,
              head: id,
              base: found[index - 1]?.id ?? range.base,
              headOnly: undefined
            })
          }))
        )
  return makeSource(session, range, isSubmittedSince ? head : request.head, steps)
})

const makeSource = (session: P4Session, range: P4Range, name: string, steps: FileSource["steps"]): FileSource => {
  const { base, branch, fold, head, shelf } = range
  const listings = makeListings(session, branch, fold)
  let known: P4Changes | undefined
  const changesUpTo = (maxPaths: number) =>
    Effect.tap(known === undefined ? readChanges(session, range, maxPaths) : Effect.succeed(known), (found) =>
      Effect.sync(() => (known = found))
    )
  /** State of the branch without the shelf. */
  const stateOf = (at: Revision): string | undefined =>
    at === "head" && shelf === undefined ? head : base === "0" ? undefined : base
  const sideOf = ({ at, path }: FileSide): ListedFile | undefined => known?.sides.get(path)?.[at]

  const find = Effect.fnUntraced(function* (path: string, at: Revision) {
    if (shelf !== undefined && at === "head") {
      const { sides } = yield* changesUpTo(maxShelf)
      const changed = sides.get(path)
      if (changed !== undefined) return changed.head
    }
    const state = stateOf(at)
    return state === undefined ? undefined : yield* listings.find(path, state)
  })

  return {
    head: name,
    from: base,
    changes: (maxPaths) => Effect.map(changesUpTo(maxPaths), ({ changes }) => changes),
    sizes: (paths) =>
      Effect.succeed(
        paths.map(({ path }) => Math.max(...(["from", "head"] as const).map((at) => sideOf({ path, at })?.bytes ?? 0)))
      ),
    contents: Effect.fnUntraced(function* (sides, keep) {
      const revisions = yield* Effect.forEach(sides, (side) => {
        const own = sideOf(side)
        return own === undefined ? find(side.path, side.at) : Effect.succeed(own)
      })
      yield* readContents(session, revisions, keep)
    }),
    copies: (added) => {
      const wanted = new Set(added)
      return Effect.succeed((known?.copies ?? []).filter(({ path }) => wanted.has(path)))
    },
    file: Effect.fnUntraced(function* (path, at, maxBytes) {
      const found = yield* find(path, at)
      if (found === undefined || isBinary(found.type) || !hasContent(found.action)) return undefined
      return (found.bytes ?? 0) > maxBytes ? undefined : yield* readContent(session, found, maxBytes)
    }),
    list: Effect.fnUntraced(function* (directory, at, limit) {
      const state = stateOf(at)
      const names = new Set(state === undefined ? [] : (yield* listings.files(directory, state)).keys())
      if (shelf !== undefined && at === "head") {
        const prefix = directory === "" ? "" : `${directory}/`
        for (const [path, { head: own }] of (yield* changesUpTo(maxShelf)).sides) {
          const rest = path.startsWith(prefix) ? path.slice(prefix.length) : "/"
          if (rest.includes("/")) continue
          if (own === undefined) names.delete(rest)
          else names.add(rest)
        }
      }
      return [...names].toSorted().slice(0, limit)
    }),
    blame: Effect.fnUntraced(function* (path, start, end) {
      const found = yield* find(path, "head")
      // The lines of a shelf have no changelist yet.
      return found === undefined || !found.spec.includes("#") ? [] : yield* readP4Blame(session, found, start, end)
    }),
    steps,
    messages:
      shelf === undefined
        ? readMessages(session, `${branch}/...@${Number(base) + 1},${head}`, maxMessages)
        : Effect.succeed([shelf.description]),
    exportTo: Effect.fnUntraced(function* (folder, maxBytes) {
      const state = stateOf("head")
      if (state !== undefined) yield* exportBranch(session, branch, state, fold, folder, maxBytes)
      if (shelf === undefined) return
      for (const [path, { head: own }] of (yield* changesUpTo(maxShelf)).sides)
        if (own !== undefined) yield* exportOne(session, folder, path, own, maxBytes)
    })
  }
}
