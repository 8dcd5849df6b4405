/**
 * Decides which ready entries get a ticket now and when the queue is scanned next. A pure function of the ready entries, the time of each
 * entry's last ticket, and the clock.
 *
 * | a ready entry                                  | gets a ticket                  |
 * |------------------------------------------------|--------------------------------|
 * | without a ticket from this activation          | now                            |
 * | whose last ticket is at least 30 seconds old   | now, because it may be lost    |
 * | otherwise                                      | 30 seconds after the last      |
 */
import { Duration } from "effect"

/** Age of a ticket after which an unclaimed entry gets another one. */
const reofferAfterMillis = Duration.toMillis("30 seconds")

/** Time of the last ticket of each ready entry, by entry id. */
export type OfferedAt = ReadonlyMap<string, number>

export interface Offers {
  readonly entryIds: ReadonlyArray<string>
  /** Includes these offers and excludes entries that are no longer ready. */
  readonly offeredAt: OfferedAt
  /** Time of the next scan without a wake; undefined if only a wake can change anything. */
  readonly nextScanAt: number | undefined
}

export const decideOffers = (
  ready: ReadonlyArray<string>,
  offeredAt: OfferedAt,
  nextDueAt: number | undefined,
  now: number
): Offers => {
  const entryIds = [...new Set(ready)].filter((id) => (offeredAt.get(id) ?? -Infinity) + reofferAfterMillis <= now)
  const current = new Map(ready.map((id) => [id, offeredAt.get(id) ?? now]))
  for (const id of entryIds) current.set(id, now)
  const reofferAt = [...current.values()].map((at) => at + reofferAfterMillis)
  const times = nextDueAt === undefined ? reofferAt : [nextDueAt, ...reofferAt]
  return { entryIds, offeredAt: current, nextScanAt: times.length === 0 ? undefined : Math.min(...times) }
}
