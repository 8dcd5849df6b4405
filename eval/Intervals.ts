/** Confidence intervals of 95 %. Chance is seeded: equal values give equal intervals. Pure. */
import { makeChance } from "./Chance.ts"

export interface Interval {
  readonly low: number
  readonly high: number
}

/** One item of a sample: the figure is the sum of the tops divided by the sum of the bottoms. */
export interface Ratio {
  readonly top: number
  readonly bottom: number
}

const z = 1.959964
const resamples = 2000
const seed = 0x5eed

/** Wilson's interval of a share; undefined without observations. */
export const wilson = (part: number, whole: number): Interval | undefined => {
  if (whole === 0) return undefined
  const share = part / whole
  const scale = 1 + (z * z) / whole
  const centre = (share + (z * z) / (2 * whole)) / scale
  const half = (z / scale) * Math.sqrt((share * (1 - share)) / whole + (z * z) / (4 * whole * whole))
  return { low: Math.max(0, centre - half), high: Math.min(1, centre + half) }
}

/** Returns the interval of a statistic of samples of `size` indices, drawn with replacement. */
const bootstrap = (size: number, statistic: (indices: Uint32Array) => number | undefined): Interval | undefined => {
  if (size === 0) return undefined
  const chance = makeChance(seed)
  const indices = new Uint32Array(size)
  const found: Array<number> = []
  for (let sample = 0; sample < resamples; sample++) {
    for (let at = 0; at < size; at++) indices[at] = Math.floor(chance() * size)
    const value = statistic(indices)
    if (value !== undefined) found.push(value)
  }
  if (found.length === 0) return undefined
  const sorted = found.toSorted((a, b) => a - b)
  const at = (share: number): number => sorted[Math.round(share * (sorted.length - 1))] ?? 0
  return { low: at(0.025), high: at(0.975) }
}

export const computeRatio = (items: ReadonlyArray<Ratio>): number | undefined => {
  const bottom = items.reduce((sum, item) => sum + item.bottom, 0)
  return bottom === 0 ? undefined : items.reduce((sum, item) => sum + item.top, 0) / bottom
}

const ratioAt = (items: ReadonlyArray<Ratio>, indices: Uint32Array): number | undefined => {
  let [top, bottom] = [0, 0]
  for (const index of indices) {
    top += items[index]?.top ?? 0
    bottom += items[index]?.bottom ?? 0
  }
  return bottom === 0 ? undefined : top / bottom
}

export const ratioInterval = (items: ReadonlyArray<Ratio>): Interval | undefined =>
  bootstrap(items.length, (indices) => ratioAt(items, indices))

/** Interval of the difference of two figures over the same items, in the same order. */
export const differenceInterval = (before: ReadonlyArray<Ratio>, after: ReadonlyArray<Ratio>): Interval | undefined =>
  bootstrap(before.length, (indices) => {
    const [first, second] = [ratioAt(before, indices), ratioAt(after, indices)]
    return first === undefined || second === undefined ? undefined : second - first
  })
