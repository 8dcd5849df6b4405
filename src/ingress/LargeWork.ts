/**
 * Shares the event loop between work on large bodies and all other requests. Work is a generator that yields after a short step. The first
 * step runs immediately and suffices for most requests; the rest gets a few milliseconds per iteration of the event loop, for all clients
 * together, round-robin over clients.
 */

/** Milliseconds per iteration of the event loop. */
const turnMillis = 5

interface Waiting {
  /** Takes one step; returns true when the work is complete. */
  readonly step: () => boolean
}

export class LargeWork {
  /** Work by client, in round-robin order, each oldest first. */
  readonly #clients = new Map<string, Array<Waiting>>()

  /** Returns the result, or undefined if `isGone` becomes true first. Rejects if the generator throws. */
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
      // Setting it again moves the client to the end of the order, and this loop reaches it once more.
      if (waiting.length > 0) this.#clients.set(client, waiting)
      if (performance.now() >= end) break
    }
    if (this.#clients.size > 0) setImmediate(this.#turn)
  }
}
