/**
 * Learns how many calls a provider takes at the same time. Until the first refusal, twice as many after as many responses as are allowed;
 * then half after a refusal, and one more after that many responses. Above the number at which the last refusal came it grows slowly. Pure.
 */

const initialLimit = 8
const maxLimit = 64
/** Growth above the number of the last refusal is this many times slower. */
const slowdown = 8

export class LearntConcurrency {
  #limit = initialLimit
  #refusedAt = Number.POSITIVE_INFINITY
  /** Increases with every reduction, so that calls of one burst that are refused together reduce the limit once. */
  #generation = 0

  get generation(): number {
    return this.#generation
  }

  get limit(): number {
    return Math.floor(this.#limit)
  }

  /** A response arrived while `inFlight` calls, this one included, were executed. An unused limit does not grow. */
  answered(inFlight: number): void {
    if (inFlight < this.limit) return
    this.#limit = Math.min(maxLimit, this.#limit + this.#step())
  }

  /** Growth after one response. */
  #step(): number {
    if (this.#refusedAt === Number.POSITIVE_INFINITY) return 1
    return this.limit + 1 >= this.#refusedAt ? 1 / this.limit / slowdown : 1 / this.limit
  }

  /** The provider refused a call that was granted in `generation`. */
  throttled(inFlight: number, generation: number): void {
    if (generation < this.#generation) return
    this.#generation++
    this.#refusedAt = inFlight
    this.#limit = Math.max(1, Math.floor(Math.min(this.#limit, inFlight) / 2))
  }
}
