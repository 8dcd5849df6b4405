/** Random numbers from a seed (mulberry32), so that a run can be repeated. */
export interface Random {
  /** An integer from 0 up to and without `end`. */
  readonly below: (end: number) => number
}

export const randomFrom = (seed: number): Random => {
  let state = seed >>> 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
  return { below: (end) => Math.floor(next() * end) }
}

export const pick = <A>(random: Random, list: ReadonlyArray<A>): A | undefined => list[random.below(list.length)]
