/**
 * Replies of the server that every review reads, requested at the same time when a checkout begins. They assume that the branch is at the
 * same location at both ends, as it nearly always is; the log shows whether that is true.
 */
import { Effect } from "effect"
import type { Scope } from "effect"
import type { ChangedPath, CheckoutError } from "../Checkout.ts"
import { tooManyPaths } from "../server/SourceCheckout.ts"
import { readChanges } from "./SvnChanges.ts"
import { readHistory } from "./SvnHistory.ts"
import type { SvnHistory } from "./SvnHistory.ts"
import type { SvnEnds } from "./SvnInfo.ts"
import { makeListings } from "./SvnListing.ts"
import type { SvnTree } from "./SvnListing.ts"
import type { SvnSession } from "./SvnSession.ts"

/** Changed paths that are read before the limit of the review is known. */
const maxPathsAhead = 20_000

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
  plain: Ahead["plain"]
): Effect.fn.Return<Ahead, never, Scope.Scope> {
  const listings = makeListings(session)
  const history = yield* Effect.cached(readHistory(session, plain.head, plain.from.revision))
  const changes = yield* Effect.cached(readChanges(session, plain, maxPathsAhead))
  const requests = plain.from.revision === "0" ? [history] : [history, changes]
  yield* Effect.forEach(requests, (request) => Effect.forkScoped(Effect.ignore(request)), { discard: true })
  return { plain, history, changes, listings }
})

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
