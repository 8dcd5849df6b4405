/** Counts events of many subjects within a minute, against one limit for each of them. Counts of a minute are forgotten with it. */

const minuteMillis = 60_000
const maxSubjects = 100_000

export class MinuteCounts {
  readonly #counts = new Map<string, number>()
  readonly #limit: number
  #minute = 0

  /** `limit`: events of one subject in a minute. */
  constructor(limit: number) {
    this.#limit = limit
  }

  /** Counts one more of a subject. Returns false beyond the limit. `now` is in milliseconds since the epoch. */
  admits(subject: string, now: number): boolean {
    const minute = Math.floor(now / minuteMillis)
    if (minute !== this.#minute || this.#counts.size >= maxSubjects) this.#counts.clear()
    this.#minute = minute
    const count = (this.#counts.get(subject) ?? 0) + 1
    this.#counts.set(subject, count)
    return count <= this.#limit
  }
}
