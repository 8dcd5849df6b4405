/** Requests for permits that wait, and the order in which they get one: every second permit goes to the run that expects the fewest calls. Pure. */
import type { Deferred } from "effect"

interface Request {
  readonly run: string
  readonly expectedCalls: number
}

interface Waiting {
  readonly expectedCalls: number
  /** Keyed by the id of the permit. */
  readonly requests: Map<string, Deferred.Deferred<void>>
}

interface WaitingRequest {
  readonly id: string
  readonly granted: Deferred.Deferred<void>
}

/** Waiting requests by run. */
export class WaitingRuns {
  readonly #runs = new Map<string, Waiting>()
  readonly #runOf = new Map<string, string>()
  #served = 0

  get size(): number {
    return this.#runOf.size
  }
  add({ expectedCalls, run }: Request, { granted, id }: WaitingRequest): void {
    const known = this.#runs.get(run)
    if (known === undefined) this.#runs.set(run, { expectedCalls, requests: new Map([[id, granted]]) })
    else known.requests.set(id, granted)
    this.#runOf.set(id, run)
  }
  remove(id: string): void {
    const run = this.#runOf.get(id)
    if (run === undefined) return
    this.#runOf.delete(id)
    const requests = this.#runs.get(run)?.requests
    requests?.delete(id)
    if (requests?.size === 0) this.#runs.delete(run)
  }
  /** Takes the oldest request of the next run and moves the run to the end of the round. */
  next(): WaitingRequest | undefined {
    const [first, ...others] = this.#runs
    const isForShortest = this.#served++ % 2 === 1
    const chosen = isForShortest
      ? others.reduce(
          (best, one) => (best !== undefined && one[1].expectedCalls >= best[1].expectedCalls ? best : one),
          first
        )
      : first
    const [request] = chosen?.[1].requests ?? []
    if (chosen === undefined || request === undefined) return undefined
    const [run, waiting] = chosen
    const [id, granted] = request
    this.remove(id)
    if (this.#runs.delete(run)) this.#runs.set(run, waiting)
    return { id, granted }
  }
}
