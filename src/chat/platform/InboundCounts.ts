/**
 * Counts what people send to a node. A person who sends more in a minute than any use needs gets no records: each message would otherwise
 * leave one for a day. Counts of a minute are forgotten with it.
 */

/** Messages and buttons of a person in a minute; above 30 commands they have no effect anyway. */
export const maxPerMinute = 120
const minuteMillis = 60_000
const maxPeople = 100_000

export class InboundCounts {
  readonly #counts = new Map<string, number>()
  #minute = 0

  /** Counts one more of a person. Returns false beyond the limit. */
  admits(person: string, now: number): boolean {
    const minute = Math.floor(now / minuteMillis)
    if (minute !== this.#minute || this.#counts.size >= maxPeople) this.#counts.clear()
    this.#minute = minute
    const count = (this.#counts.get(person) ?? 0) + 1
    this.#counts.set(person, count)
    return count <= maxPerMinute
  }
}
