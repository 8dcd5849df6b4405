/** What one pass has reported so far: duplicates merged, bounded, in order. */
import type { ReportedProblem } from "../domain/Problem.ts"

/** Problems kept per pass; the engine publishes far fewer (review.max_problems), the rest is only counted. */
export const maxReported = 500

export class Reports {
  #kept = new Map<string, ReportedProblem>()
  #dropped = 0

  /** What happened to it, for the tool's answer. */
  add(problem: ReportedProblem): "recorded" | "duplicate" | "over_limit" {
    const key = identity(problem)
    if (this.#kept.has(key)) return "duplicate"
    if (this.#kept.size >= maxReported) {
      this.#dropped++
      return "over_limit"
    }
    this.#kept.set(key, problem)
    return "recorded"
  }

  get problems(): ReadonlyArray<ReportedProblem> {
    return [...this.#kept.values()]
  }

  get dropped(): number {
    return this.#dropped
  }
}

const squeeze = (text: string): string => text.replace(/\s+/g, " ").trim()

// The same code, called faulty for the same reason. Re-wordings are merged later, by the engine's identity.
const identity = ({ file, line, side, category, quote, message }: ReportedProblem): string =>
  JSON.stringify([
    file,
    side ?? "new",
    category.toLowerCase(),
    quote === undefined ? line : squeeze(quote),
    squeeze(message)
  ])
