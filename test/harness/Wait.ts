/** Waiting on conditions: tests never sleep for a fixed time. */

export interface WaitOptions {
  /** Milliseconds; the default is 30 000. */
  readonly timeout?: number
  /**
   * Milliseconds between two evaluations. The default is 10, and 50 for a condition that returns a promise; ten times as long as an evaluation
   * takes, up to 100, where that is more. What reads from a server, a program or a file would otherwise take the processor from what is waited for.
   */
  readonly interval?: number
  /** Describes the expected and the current state for the message of a timeout. */
  readonly describe: () => string
}

const pauseAfter = (millis: number, isAsync: boolean): number => Math.max(isAsync ? 50 : 10, Math.min(100, 10 * millis))

/** The first result of `condition` that is neither undefined nor false. Fails when time is up. */
export const waitUntil = async <A>(
  condition: () => A | undefined | false | Promise<A | undefined | false>,
  { describe, interval, timeout = 30_000 }: WaitOptions
): Promise<A> => {
  const deadline = performance.now() + timeout
  for (;;) {
    const from = performance.now()
    const evaluated = condition()
    const found = await evaluated
    if (found !== undefined && found !== false) return found
    const now = performance.now()
    if (now > deadline) throw new Error(`not within ${timeout} ms: ${describe()}`)
    await new Promise((resume) => setTimeout(resume, interval ?? pauseAfter(now - from, evaluated instanceof Promise)))
  }
}
