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
/** When the time of this turn is up; undefined: nobody has had any of it. */
let end: number | undefined
/** It was not `turn` that gave it: the event loop has not come round when `turn` is called next. */
let early = false
let turning = false

const turn = (): void => {
  end = undefined
  if (waiting.length === 0) return
  setImmediate(turn)
  const until = early ? Number.NEGATIVE_INFINITY : performance.now() + turnMillis
  end = until
  early = false
  turning = true
  while (waiting.length > 0 && performance.now() < until) {
    const work = waiting.shift()
    if (work !== undefined && !work(until)) waiting.push(work)
  }
  turning = false
}

/** Whether there is time left of this turn that nobody waits for; then until when. */
const timeLeft = (): number | undefined => {
  const now = performance.now()
  if (end === undefined) {
    end = now + turnMillis
    setImmediate(turn)
  }
  if (waiting.length > 0 || now >= end) return undefined
  early ||= !turning
  return end
}

export const runInTurns = <A>(steps: Steps<A>): Effect.Effect<A> =>
  Effect.callback<A>((resume) => {
    const work: Work = (until) => {
      const result = advance(steps, until)
      if (result !== undefined) resume(result)
      return result !== undefined
    }
    const until = timeLeft()
    if (until !== undefined && work(until)) return Effect.void
    waiting.push(work)
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
