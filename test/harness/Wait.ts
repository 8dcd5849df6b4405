/** Waiting on conditions: tests never sleep for a fixed time. */

export interface WaitOptions {
  /** Milliseconds; the default is 30 000. */
  readonly timeout?: number
  /**
   * Milliseconds between two evaluations. The default is 10, and 50 for a condition that returns a promise: it reads from a server, a program or
   * a file, whose work would otherwise take the processor from what is waited for.
   */
  readonly interval?: number
  /** Describes the expected and the current state for the message of a timeout. */
  readonly describe: () => string
}

/** The first result of `condition` that is neither undefined nor false. Fails when time is up. */
export const waitUntil = async <A>(
  condition: () => A | undefined | false | Promise<A | undefined | false>,
  { describe, interval, timeout = 30_000 }: WaitOptions
): Promise<A> => {
  const deadline = performance.now() + timeout
  for (;;) {
    const evaluated = condition()
    const found = await evaluated
    if (found !== undefined && found !== false) return found
    if (performance.now() > deadline) throw new Error(`not within ${timeout} ms: ${describe()}`)
    await new Promise((resume) => setTimeout(resume, interval ?? (evaluated instanceof Promise ? 50 : 10)))
  }
}
