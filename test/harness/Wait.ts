/** Waiting on conditions: tests never sleep for a fixed time. */

export interface WaitOptions {
  /** Milliseconds; the default is 30 000. */
  readonly timeout?: number
  /** Milliseconds between two evaluations, at least; the default is 10. */
  readonly interval?: number
  /** Describes the expected and the current state for the message of a timeout. */
  readonly describe: () => string
}

/** Pauses are this much longer than the evaluations between them: what waits leaves the processor to what it waits for. */
const pauseFactor = 10
const maxPause = 250

/** The first result of `condition` that is neither undefined nor false. Fails when time is up. */
export const waitUntil = async <A>(
  condition: () => A | undefined | false | Promise<A | undefined | false>,
  { describe, interval = 10, timeout = 30_000 }: WaitOptions
): Promise<A> => {
  const deadline = performance.now() + timeout
  for (;;) {
    const began = performance.now()
    const found = await condition()
    if (found !== undefined && found !== false) return found
    const pause = Math.min((performance.now() - began) * pauseFactor, maxPause)
    if (performance.now() > deadline) throw new Error(`not within ${timeout} ms: ${describe()}`)
    await new Promise((resume) => setTimeout(resume, Math.max(interval, pause)))
  }
}
