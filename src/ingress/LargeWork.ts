/**
 * Lets work on large bodies share the event loop with all other requests. Work is a generator that yields after a short step. Its first
 * step runs at once, which is all that most requests have; the rest gets a few milliseconds in each turn of the event loop, for all
 * clients together, and the clients take turns.
 */

/** Milliseconds of one turn of the event loop. */
const turnMillis = 5

interface Waiting {
  /** Takes one step; true when the work is over. */
  readonly step: () => boolean
}

export class LargeWork {
  /** Clients in the order of their turns, each with its work, oldest first. */
  readonly #clients = new Map<string, Array<Waiting>>()

  /** The result; undefined when `isGone` before it was there. Rejects when the generator throws. */
  run<A>(client: string, steps: Generator<void, A, void>, isGone: () => boolean): Promise<A | undefined> {
    const first = steps.next()
    if (first.done === true) return Promise.resolve(first.value)
    return new Promise((resolve, reject) => {
      const step = (): boolean => {
        if (isGone()) {
          resolve(undefined)
          return true
        }
        try {
          const next = steps.next()
          if (next.done === true) resolve(next.value)
          return next.done === true
        } catch (defect) {
          reject(defect)
          return true
        }
      }
      if (this.#clients.size === 0) setImmediate(this.#turn)
      const waiting = this.#clients.get(client)
      if (waiting === undefined) this.#clients.set(client, [{ step }])
      else waiting.push({ step })
    })
  }

  readonly #turn = (): void => {
    const end = performance.now() + turnMillis
    for (const [client, waiting] of this.#clients) {
      const [oldest] = waiting
      this.#clients.delete(client)
      if (oldest?.step() === true) waiting.shift()
      // Set again, the client is the last in the order, and this loop comes to it once more.
      if (waiting.length > 0) this.#clients.set(client, waiting)
      if (performance.now() >= end) break
    }
    if (this.#clients.size > 0) setImmediate(this.#turn)
  }
}
