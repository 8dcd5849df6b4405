/** Collects the problems of one pass, deduplicated, bounded and in order, and the reports that were refused. */
import type { RestoredPass } from "../../domain/AgentPass.ts"
import type { Unusable } from "../../domain/Coverage.ts"
import type { ReportedProblem } from "../../domain/Problem.ts"
import { countLost } from "../../domain/ReportSketch.ts"
import type { RecordedProblem, RefusedReport, ReportSketch } from "../../domain/ReportSketch.ts"

/** Maximum number of problems per pass; the engine publishes far fewer (review.max_problems), further ones are only counted. */
export const maxReported = 500
/** Maximum number of refused reports that are kept; further ones are lost in any case. */
const maxRefused = 100

export class Reports {
  #kept = new Map<string, RecordedProblem>()
  #refused = new Map<string, RefusedReport>()
  readonly #restored: Set<string>
  #dropped = 0
  #overRefused = 0
  /** Number of the response of the model. */
  round = 0

  /** `problems` and `refused` are those of earlier attempts at the pass. */
  constructor({ problems, refused }: Pick<RestoredPass, "problems" | "refused"> = { problems: [], refused: [] }) {
    for (const one of problems) this.#kept.set(identity(one.problem), one)
    // An agent that starts from the beginning reports them again.
    this.#restored = new Set(this.#kept.keys())
    for (const { round, ...sketch } of refused) this.#refuse(sketch, round)
  }

  /** Returns the result for the tool's reply: for a restored problem that of the earlier attempt. */
  add(problem: ReportedProblem): "recorded" | "duplicate" | "over_limit" {
    const key = identity(problem)
    if (this.#restored.delete(key)) return "recorded"
    if (this.#kept.has(key)) return "duplicate"
    if (this.#kept.size >= maxReported) {
      this.#dropped++
      return "over_limit"
    }
    this.#kept.set(key, { problem, round: this.round })
    return "recorded"
  }

  /** Keeps what could be read of a report that was refused. One that is repeated is the same. */
  refuse(sketch: ReportSketch): void {
    this.#refuse(sketch, this.round)
  }

  #refuse(sketch: ReportSketch, round: number): void {
    const key = JSON.stringify(sketch)
    if (this.#refused.has(key)) return
    if (this.#refused.size < maxRefused) this.#refused.set(key, { ...sketch, round })
    else this.#overRefused++
  }

  get problems(): ReadonlyArray<ReportedProblem> {
    return [...this.#kept.values()].map(({ problem }) => problem)
  }

  get count(): number {
    return this.#kept.size
  }

  get kept(): {
    readonly problems: ReadonlyArray<ReportedProblem>
    readonly dropped: number
    readonly unusable: ReadonlyArray<Unusable>
  } {
    return { problems: this.problems, dropped: this.#dropped, unusable: this.#unusable }
  }

  /** The refused reports that no problem corrects. Empty if there are none. */
  get #unusable(): ReadonlyArray<Unusable> {
    const count = countLost([...this.#refused.values()], [...this.#kept.values()]) + this.#overRefused
    return count === 0 ? [] : [{ reason: "report", count }]
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
