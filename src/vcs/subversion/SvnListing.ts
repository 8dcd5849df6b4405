/**
 * Lists of folders, kept during a checkout. A review reads many files of rules that do not exist: the lists of their folders show that
 * without a request for each. They have the sizes of files as well.
 */
import { Effect } from "effect"
import type { CheckoutError } from "../Checkout.ts"
import { readSvnXml } from "./SvnProcess.ts"
import type { SvnSession } from "./SvnSession.ts"
import { joinUrl, pegged } from "./SvnUrl.ts"

/** A branch in a revision. */
export interface SvnTree {
  readonly url: string
  readonly revision: string
}

interface Listing {
  readonly files: ReadonlyMap<string, number>
  readonly names: ReadonlySet<string>
  /** There are more than were read. */
  readonly more: boolean
}

const maxEntries = 5000
/** Entries of all folders of one command; the remaining folders are listed by themselves when they are read. */
const maxEntriesTogether = 20_000
const nothing: Listing = { files: new Map(), names: new Set(), more: false }

export const makeListings = (session: SvnSession) => {
  const kept = new Map<string, Effect.Effect<Listing, CheckoutError>>()
  const keyOf = ({ revision, url }: SvnTree, directory: string): string => `${revision}:${url}:${directory}`

  const listing = (tree: SvnTree, directory: string): Effect.Effect<Listing, CheckoutError> =>
    Effect.suspend(() => {
      const key = keyOf(tree, directory)
      const existing = kept.get(key)
      if (existing !== undefined) return existing
      const reading = Effect.runSync(Effect.cached(readAlone(session, tree, directory)))
      kept.set(key, reading)
      return reading
    })

  /** Lists folders that will be read, with one command. */
  const readAhead = (tree: SvnTree, directories: ReadonlyArray<string>): Effect.Effect<void, CheckoutError> =>
    Effect.suspend(() => {
      const missing = directories.filter((directory) => !kept.has(keyOf(tree, directory)))
      if (missing.length === 0) return Effect.void
      const together = Effect.runSync(Effect.cached(read(session, tree, missing)))
      for (const directory of missing) {
        const one = Effect.flatMap(together, (found) => {
          const own = found.get(directory)
          return own === undefined ? readAlone(session, tree, directory) : Effect.succeed(own)
        })
        kept.set(keyOf(tree, directory), Effect.runSync(Effect.cached(one)))
      }
      return Effect.asVoid(together)
    })

  /** Returns true if the lists of its folders do not contain the path. */
  const isMissing = (tree: SvnTree, path: string): Effect.Effect<boolean, CheckoutError> =>
    Effect.gen(function* () {
      const parent = parentOf(path)
      if (parent !== "" && (yield* isMissing(tree, parent))) return true
      const { more, names } = yield* listing(tree, parent)
      return !more && !names.has(nameOf(path))
    })

  return {
    isMissing,
    readAhead,
    files: (tree: SvnTree, directory: string, limit: number): Effect.Effect<ReadonlyArray<string>, CheckoutError> =>
      Effect.gen(function* () {
        if (directory !== "" && (yield* isMissing(tree, directory))) return []
        return [...(yield* listing(tree, directory)).files.keys()].slice(0, limit)
      }),
    /** Returns the size of a file whose folder has been listed, or is being listed. */
    size: (tree: SvnTree, path: string): Effect.Effect<number | undefined, CheckoutError> =>
      Effect.suspend(() => {
        const existing = kept.get(keyOf(tree, parentOf(path)))
        return existing === undefined ? Effect.undefined : Effect.map(existing, ({ files }) => files.get(nameOf(path)))
      })
  }
}

/** Folders that are listed before they are read. */
const maxAhead = 20

/** Returns the folders of files with all folders above them, in which a review looks for rules. */
export const listFolders = (paths: ReadonlyArray<string>): ReadonlyArray<string> => {
  const found = new Set<string>([""])
  for (const path of paths)
    for (let end = path.indexOf("/"); end > 0 && found.size < maxAhead; end = path.indexOf("/", end + 1))
      found.add(path.slice(0, end))
  return [...found]
}

const parentOf = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf("/")))
const nameOf = (path: string): string => path.slice(path.lastIndexOf("/") + 1)

const readAlone = (session: SvnSession, tree: SvnTree, directory: string): Effect.Effect<Listing, CheckoutError> =>
  Effect.map(read(session, tree, [directory]), (found) => found.get(directory) ?? nothing)

/** Lists folders; those that do not exist are empty. Very large ones end the command, and the folders after them are not in the result. */
const read = Effect.fnUntraced(function* (
  session: SvnSession,
  { revision, url }: SvnTree,
  directories: ReadonlyArray<string>
): Effect.fn.Return<ReadonlyMap<string, Listing>, CheckoutError> {
  const found = new Map<string, Listing>()
  const makeListing = () => ({ files: new Map<string, number>(), names: new Set<string>(), more: false })
  let current = makeListing()
  let entry = { name: "", size: 0 }
  let entries = 0
  const add = (listing: Listing) => {
    const directory = directories[found.size]
    if (directory !== undefined) found.set(directory, listing)
  }
  yield* readSvnXml(
    session,
    ["list", ...directories.map((directory) => pegged(joinUrl(url, directory), revision))],
    ({ attributes, name, text }) => {
      if (name === "name") entry = { name: text, size: 0 }
      if (name === "size") entry.size = Number(text)
      if (name === "entry") {
        entries++
        current.more = current.names.size >= maxEntries
        if (!current.more) {
          current.names.add(entry.name)
          if (attributes["kind"] === "file") current.files.set(entry.name, entry.size)
        }
        if (entries < maxEntriesTogether && !(current.more && directories.length === 1)) return false
        add({ ...current, more: true })
        return true
      }
      if (name !== "list") return false
      add(current)
      current = makeListing()
      return false
    }
  ).pipe(
    Effect.catchIf(
      ({ reason }) => reason === "missing",
      () => Effect.void
    )
  )
  return found
})
