/** Lists of folders, kept during a checkout: a review reads many files of rules that do not exist. */
import { Effect } from "effect"
import { joinDepot } from "../../domain/DepotPath.ts"
import type { CheckoutError } from "../Checkout.ts"
import { listSizes } from "./P4Files.ts"
import type { ListedFile } from "./P4Files.ts"
import { belowDepot } from "./P4Path.ts"
import type { P4Session } from "./P4Session.ts"

const maxEntries = 5000

interface Listing {
  readonly files: ReadonlyMap<string, ListedFile>
  readonly more: boolean
}

export const makeListings = (session: P4Session, branch: string, fold: boolean) => {
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
