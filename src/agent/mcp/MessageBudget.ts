/**
 * Bounds the work that the messages of one agent cause, before they are parsed: they are parsed and checked on the event loop, and the agent
 * may follow instructions of the change under review. A body of many small values takes seconds to check, and one of long texts does not.
 */
import { measureJson } from "../../domain/JsonShape.ts"

/** Has room for 500 problems with all fields. */
const perRequest = { depth: 64, values: 10_000 }
const mebibyte = 1024 * 1024

/** Limits of all requests of a pass together. */
const perPass = { requests: 5000, bytes: 64 * mebibyte, values: 500_000 }

interface BudgetRefusal {
  readonly status: 413 | 429
  readonly message: string
}

export class MessageBudget {
  #requests = 0
  #bytes = 0
  #values = 0

  /** Counts a body. Returns a refusal if it must not be parsed. */
  refuse(body: Buffer): BudgetRefusal | undefined {
    this.#requests++
    this.#bytes += body.length
    if (this.#requests > perPass.requests || this.#bytes > perPass.bytes || this.#values > perPass.values)
      return { status: 429, message: "the limit of requests of this review is reached; end the review" }
    const values = measureJson(body.toString("latin1"), perRequest)
    if (values === undefined) {
      const { depth, values: maximum } = perRequest
      return { status: 413, message: `a request has at most ${maximum} values, nested at most ${depth} levels deep` }
    }
    this.#values += values
    return undefined
  }
}
