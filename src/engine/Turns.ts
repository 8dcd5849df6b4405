/**
 * Drives generators of pure work by the clock. In each turn of the event loop all of them together, of however many reviews, get a few
 * milliseconds; one after the other has its turns. A step of a generator is not interrupted: it has to be short (review/Steps.ts).
 */
import { Effect } from "effect"
import type { Steps } from "../review/Steps.ts"

/** Of a turn of the event loop. What is left of 50 is for collecting garbage and for whoever else has work. */
const turnMillis = 5

/** Goes on until it is done or the time is up; says whether it is done. */
type Work = (until: number) => boolean

const waiting: Array<Work> = []
/** A turn is coming, or on its way. */
let awaited = false

const turn = (): void => {
  const until = performance.now() + turnMillis
  do {
    const work = waiting.shift()
    if (work !== undefined && !work(until)) waiting.push(work)
  } while (waiting.length > 0 && performance.now() < until)
  awaited = waiting.length > 0
  if (awaited) setImmediate(turn)
}

export const runInTurns = <A>(steps: Steps<A>): Effect.Effect<A> =>
  Effect.callback<A>((resume) => {
    const work: Work = (until) => {
      const end = advance(steps, until)
      if (end !== undefined) resume(end)
      return end !== undefined
    }
    waiting.push(work)
    if (!awaited) setImmediate(turn)
    awaited = true
    return Effect.sync(() => {
      const at = waiting.indexOf(work)
      if (at >= 0) waiting.splice(at, 1)
    })
  })

/** Undefined: the time is up. */
const advance = <A>(steps: Steps<A>, until: number): Effect.Effect<A> | undefined => {
  try {
    do {
      const step = steps.next()
      if (step.done === true) return Effect.succeed(step.value)
    } while (performance.now() < until)
    return undefined
  } catch (cause) {
    return Effect.die(cause)
  }
}
