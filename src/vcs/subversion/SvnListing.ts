/**
 * Lists of folders, kept during a checkout. A review reads many files of rules that do not exist: the lists of their folders show that
 * without a request for each.
 */
import { Effect } from "effect"
import type { CheckoutError } from "../Checkout.ts"
import type { SvnInfo } from "./SvnInfo.ts"
import { readSvnXml } from "./SvnProcess.ts"
import type { SvnSession } from "./SvnSession.ts"
import { joinUrl, pegged } from "./SvnUrl.ts"

interface Listing {
  readonly files: ReadonlyArray<string>
  readonly names: ReadonlySet<string>
  /** There are more than were read. */
  readonly more: boolean
}

const maxEntries = 5000
const nothing: Listing = { files: [], names: new Set(), more: false }

export const makeListings = (session: SvnSession) => {
  const kept = new Map<string, Effect.Effect<Listing, CheckoutError>>()

  const listing = (info: SvnInfo, directory: string): Effect.Effect<Listing, CheckoutError> =>
    Effect.suspend(() => {
      const key = `${info.revision}:${directory}`
      const existing = kept.get(key)
      if (existing !== undefined) return existing
      const reading = Effect.runSync(Effect.cached(read(session, info, directory)))
      kept.set(key, reading)
      return reading
    })

  const parentOf = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf("/")))

  /** Returns true if the lists of its folders do not contain the path. */
  const isMissing = (info: SvnInfo, path: string): Effect.Effect<boolean, CheckoutError> =>
    Effect.gen(function* () {
      const parent = parentOf(path)
      if (parent !== "" && (yield* isMissing(info, parent))) return true
      const { more, names } = yield* listing(info, parent)
      return !more && !names.has(path.slice(parent === "" ? 0 : parent.length + 1))
    })

  return {
    isMissing,
    /** Lists folders that will be read. */
    readAhead: (info: SvnInfo, directories: ReadonlyArray<string>): Effect.Effect<void, CheckoutError> =>
      Effect.forEach(directories, (directory) => listing(info, directory), { concurrency: 2, discard: true }),
    files: (info: SvnInfo, directory: string, limit: number): Effect.Effect<ReadonlyArray<string>, CheckoutError> =>
      Effect.gen(function* () {
        if (directory !== "" && (yield* isMissing(info, directory))) return []
        return (yield* listing(info, directory)).files.slice(0, limit)
      })
  }
}

const read = Effect.fnUntraced(function* (
  session: SvnSession,
  info: SvnInfo,
  directory: string
): Effect.fn.Return<Listing, CheckoutError> {
  const files: Array<string> = []
  const names = new Set<string>()
  let name = ""
  const more = yield* readSvnXml(
    session,
    ["list", "-r", info.revision, pegged(joinUrl(info.url, directory), info.revision)],
    (element) => {
      if (element.name === "name") name = element.text
      if (element.name !== "entry") return false
      names.add(name)
      if (element.attributes["kind"] === "file") files.push(name)
      return names.size >= maxEntries
    }
  ).pipe(
    Effect.catchIf(
      ({ reason }) => reason === "missing",
      () => Effect.undefined
    )
  )
  return more === undefined ? nothing : { files, names, more }
})
