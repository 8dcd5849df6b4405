/**
 * Work over a change in steps, for a change is as large as whoever sends it likes: a generator goes over a few thousand characters between
 * two yields, and its driver (engine/Turns.ts) lets others run in between. Pure.
 */

export type Steps<A> = Generator<void, A, void>

/** Characters that a step goes over, a little more or less; what goes over them costs well under a millisecond. */
export const stepLength = 16_384
/** What an item costs beside its characters. */
const itemLength = 16

/** Adds up what a step went over, and says when it is enough. */
export const meter = (): ((length: number) => boolean) => {
  let spent = 0
  return (length) => {
    spent += length + itemLength
    if (spent < stepLength) return false
    spent = 0
    return true
  }
}

/** Without letting anybody in between. */
export const atOnce = <A>(work: Steps<A>): A => {
  for (;;) {
    const step = work.next()
    if (step.done === true) return step.value
  }
}

export function* filterInSteps<A>(items: ReadonlyArray<A>, wanted: (item: A) => boolean): Steps<ReadonlyArray<A>> {
  const enough = meter()
  const found: Array<A> = []
  for (const item of items) {
    if (wanted(item)) found.push(item)
    if (enough(0)) yield
  }
  return found
}

const runLength = 256

/** As `toSorted`. */
export function* sortInSteps<A>(items: ReadonlyArray<A>, order: (a: A, b: A) => number): Steps<ReadonlyArray<A>> {
  const enough = meter()
  let runs: Array<ReadonlyArray<A>> = []
  for (let at = 0; at < items.length; at += runLength) {
    runs.push(items.slice(at, at + runLength).toSorted(order))
    yield
  }
  while (runs.length > 1) {
    const longer: Array<ReadonlyArray<A>> = []
    for (let at = 0; at < runs.length; at += 2) {
      longer.push(yield* merge(runs[at] ?? [], runs[at + 1] ?? [], order, enough))
    }
    runs = longer
  }
  return runs[0] ?? []
}

function* merge<A>(
  left: ReadonlyArray<A>,
  right: ReadonlyArray<A>,
  order: (a: A, b: A) => number,
  enough: ReturnType<typeof meter>
): Steps<ReadonlyArray<A>> {
  const merged: Array<A> = []
  let l = 0
  let r = 0
  while (l < left.length || r < right.length) {
    const [a, b] = [left[l], right[r]]
    const takeLeft = r === right.length || (l < left.length && order(a as A, b as A) <= 0)
    merged.push((takeLeft ? a : b) as A)
    if (takeLeft) l++
    else r++
    if (enough(0)) yield
  }
  return merged
}
