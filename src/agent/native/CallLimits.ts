/** Limits of model calls of an agent. */

/** Duration of one call with its retries and fallbacks: some models stream for ten minutes. Waiting for permits does not count. */
export const callMillis = 20 * 60_000
