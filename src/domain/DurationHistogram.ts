/**
 * Histograms of durations that can be merged: counts per slot, where slots are intervals on a logarithmic scale, eight per doubling. The sum of
 * two histograms is that of all their durations, so that quantiles of any period come from its parts. Pure.
 */

/** Number of durations by slot. Absent: none. */
export type DurationHistogram = ReadonlyMap<number, number>

const slotsPerDoubling = 8
/** Slot of 2^31 ms, almost 25 days, and of everything above. */
const lastSlot = 31 * slotsPerDoubling

/** Returns the slot of a duration. Slot 0 holds those below one millisecond. */
export const findSlot = (millis: number): number =>
  millis < 1 ? 0 : Math.min(lastSlot, Math.floor(Math.log2(millis) * slotsPerDoubling) + 1)

export const mergeHistograms = (a: DurationHistogram, b: DurationHistogram): DurationHistogram => {
  const sum = new Map(a)
  for (const [slot, count] of b) sum.set(slot, (sum.get(slot) ?? 0) + count)
  return sum
}

/** Returns the geometric middle of a slot, at most 4.5 % from every duration in it. */
const middleMillis = (slot: number): number => (slot === 0 ? 0 : Math.round(2 ** ((slot - 0.5) / slotsPerDoubling)))

/**
 * Returns the duration that the fraction `q` (above 0, at most 1) of all durations does not exceed, at most 4.5 % and half a millisecond from
 * the exact one. Undefined without durations.
 */
export const findQuantile = (histogram: DurationHistogram, q: number): number | undefined => {
  const slots = [...histogram].filter(([, count]) => count > 0).toSorted(([a], [b]) => a - b)
  const total = slots.reduce((sum, [, count]) => sum + count, 0)
  const rank = Math.ceil(q * total)
  let seen = 0
  for (const [slot, count] of slots) {
    seen += count
    if (seen >= rank) return middleMillis(slot)
  }
  return undefined
}
