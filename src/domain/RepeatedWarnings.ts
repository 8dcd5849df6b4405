/**
 * Limits warnings that repeat, or that outsiders can cause: one per key and minute, and a fixed number per minute over all keys. What is not logged is
 * counted, and the next warning carries the count.
 */
const windowMillis = 60_000
const maxPerWindow = 20

export class RepeatedWarnings {
  readonly #logged = new Set<string>()
  #windowEndsAt = Number.NEGATIVE_INFINITY
  #suppressed = 0

  /** Returns the number of warnings suppressed since the last one if this one is to be logged, otherwise undefined. */
  admit(key: string, now: number): number | undefined {
    if (now >= this.#windowEndsAt || now < this.#windowEndsAt - windowMillis) {
      this.#logged.clear()
      this.#windowEndsAt = now + windowMillis
    }
    if (this.#logged.has(key) || this.#logged.size >= maxPerWindow) {
      this.#suppressed++
      return undefined
    }
    this.#logged.add(key)
    const suppressed = this.#suppressed
    this.#suppressed = 0
    return suppressed
  }
}
