/**
 * Measures the growth of work over twice the input: the minimum time of many short alternating runs of each, which
 * reduces the effect of a busy machine.
 */

/** Long enough for the clock, and so short that another process is unlikely to run in between. */
const minMillis = 0.3
const rounds = 25
const limit = 2.2
/** Measured again before it is too much: caches, collectors and compilers have their say too. */
const tries = 20
const minLength = 64
const maxLength = 131_072

const pause = new Int32Array(new SharedArrayBuffer(4))

const millisOf = <A>(input: A, work: (input: A) => unknown, times: number): number => {
  const from = performance.now()
  for (let run = 0; run < times; run++) work(input)
  return performance.now() - from
}

/** The factor per doubling that was seen over two doublings, which evens out what caches and collectors do at one of them. */
export const growth = <A>(inputOf: (length: number) => A, work: (input: A) => unknown): number => {
  let length = minLength
  const least = (input: A) => Math.min(...[1, 2, 3].map(() => millisOf(input, work, 1)))
  while (length < maxLength && least(inputOf(length)) < minMillis) length *= 2
  // What is quadratic is so at all lengths; a cache that overflows or a collector does harm at some of them.
  let seen = Number.POSITIVE_INFINITY
  for (const from of [length, 2 * length, length / 4]) {
    seen = Math.min(seen, growthFrom(from, inputOf, work))
    if (seen <= limit) break
  }
  return seen
}

/** The factor per doubling over the two doublings from `length` on. */
const growthFrom = <A>(length: number, inputOf: (length: number) => A, work: (input: A) => unknown): number => {
  const [single, fourfold] = [inputOf(length), inputOf(4 * length)]
  let times = 1
  while (millisOf(single, work, times) < minMillis && times < 4096) times *= 2
  let seen = Number.POSITIVE_INFINITY
  let [short, long] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY]
  for (let attempt = 0; attempt < tries && seen > limit; attempt++) {
    for (let round = 0; round < rounds; round++) {
      short = Math.min(short, millisOf(single, work, times))
      long = Math.min(long, millisOf(fourfold, work, times))
    }
    seen = Math.sqrt(long / short)
    // What disturbed this attempt gets time to pass, more after each one.
    if (seen > limit) Atomics.wait(pause, 0, 0, 20 * attempt)
  }
  return seen
}
