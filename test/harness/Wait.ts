/** Waiting on conditions: tests never sleep for a fixed time. */

export interface WaitOptions {
  /** Milliseconds; the default is 30 000. */
  readonly timeout?: number
  /** Milliseconds between two evaluations; the default is 10. More for a condition that costs much. */
  readonly interval?: number
  /** Describes the expected and the current state for the message of a timeout. */
  readonly describe: () => string
}

/** The first result of `condition` that is neither undefined nor false. Fails when time is up. */
export const waitUntil = async <A>(
  condition: () => A | undefined | false | Promise<A | undefined | false>,
  { describe, interval = 10, timeout = 30_000 }: WaitOptions
): Promise<A> => {
  const deadline = performance.now() + timeout
  for (;;) {
    const found = await condition()
    if (found !== undefined && found !== false) return found
    if (performance.now() > deadline) throw new Error(`not within ${timeout} ms: ${describe()}`)
    await new Promise((resume) => setTimeout(resume, interval))
  }
}
