/** Random numbers from a seed, so that a run can be repeated. */
import { makeChance } from "../../eval/Chance.ts"

export interface Random {
  /** An integer from 0 up to and without `end`. */
  readonly below: (end: number) => number
}

export const randomFrom = (seed: number): Random => {
  const next = makeChance(seed)
  return { below: (end) => Math.floor(next() * end) }
}

export const pick = <A>(random: Random, list: ReadonlyArray<A>): A | undefined => list[random.below(list.length)]
