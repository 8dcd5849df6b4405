/** Collects the problems of one pass: deduplicated, bounded, in order. */
import type { ReportedProblem } from "../domain/Problem.ts"

/** Maximum number of problems per pass; the engine publishes far fewer (review.max_problems), further ones are only counted. */
export const maxReported = 500

export class Reports {
  #kept = new Map<string, ReportedProblem>()
  #dropped = 0

  /** Returns the result for the tool's reply. */
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

  get kept(): { readonly problems: ReadonlyArray<ReportedProblem>; readonly dropped: number } {
    return { problems: this.problems, dropped: this.#dropped }
  }

  get dropped(): number {
    return this.#dropped
  }
}

const squeeze = (text: string): string => text.replace(/\s+/g, " ").trim()

// Key of a problem: the same code with the same message. Different wordings are merged later, by the identity that the engine
// computes.
const identity = ({ file, line, side, category, quote, message }: ReportedProblem): string =>
  JSON.stringify([
    file,
    side ?? "new",
    category.toLowerCase(),
    quote === undefined ? line : squeeze(quote),
    squeeze(message)
  ])
