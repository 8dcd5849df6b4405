/**
 * Measures the growth of work over twice the input: the minimum time of many short alternating runs of each, which reduces the effect of a busy
 * machine. What seems too much is measured again by the processor time of this thread, in which nothing else that runs on the machine counts; its
 * clock is coarse (4 ms on some systems), so that this takes long.
 */

/** Long enough for the clock, and so short that another process is unlikely to run in between. */
const minMillis = 0.3
const rounds = 8
const limit = 2.2
/** Processor time for one measurement: many times what the coarse clock may add or miss. */
const usedMillis = 100
/** Measured again before it is too much: caches, collectors and compilers have their say too. */
const tries = 6
const minLength = 64
const maxLength = 131_072

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
    seen = Math.min(seen, growthFrom(inputOf(from), inputOf(4 * from), work))
    if (seen <= limit) break
  }
  return seen
}

/** The factor per doubling from an input to one of four times its length. */
const growthFrom = <A>(single: A, fourfold: A, work: (input: A) => unknown): number => {
  let times = 1
  while (millisOf(single, work, times) < minMillis && times < 4096) times *= 2
  let [short, long] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY]
  for (let round = 0; round < rounds; round++) {
    short = Math.min(short, millisOf(single, work, times))
    long = Math.min(long, millisOf(fourfold, work, times))
  }
  let seen = Math.sqrt(long / short)
  for (let attempt = 0; attempt < tries && seen > limit; attempt++)
    seen = Math.min(seen, Math.sqrt(usedBy(fourfold, work, times) / usedBy(single, work, times)))
  return seen
}

/** Processor time of this thread for one run, in milliseconds, over as many times `times` runs as take long enough. */
const usedBy = <A>(input: A, work: (input: A) => unknown, times: number): number => {
  const before = process.threadCpuUsage()
  for (let batches = 1; ; batches++) {
    for (let run = 0; run < times; run++) work(input)
    const { system, user } = process.threadCpuUsage(before)
    const used = (system + user) / 1000
    if (used >= usedMillis) return used / (batches * times)
  }
}
