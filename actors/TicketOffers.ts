/**
 * Which ready entries get a ticket now, and when the queue is scanned next: a pure function of what is ready, when each entry's last
 * ticket went out, and the clock.
 *
 * | a ready entry                                  | gets a ticket            |
 * |------------------------------------------------|--------------------------|
 * | without a ticket from this activation          | now                      |
 * | whose last ticket is at least 30 seconds old   | now: that one may be lost |
 * | otherwise                                      | 30 seconds after the last |
 */
import { Duration } from "effect"

/** An entry that nobody claimed for this long after its ticket gets another one. */
export const reofferAfterMillis = Duration.toMillis("30 seconds")

/** When the last ticket of each ready entry went out, by entry id. */
export type OfferedAt = ReadonlyMap<string, number>

export interface Offers {
  readonly entryIds: ReadonlyArray<string>
  /** With these offers, and without entries that are no longer ready. */
  readonly offeredAt: OfferedAt
  /** When to scan again without a wake; undefined when only a wake can change anything. */
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
