/**
 * A report of a model that was refused, as far as it could be read: enough to recognise its correction. A report is lost if none of the
 * recorded problems corrects it, and a review that lost one did not find the change clean. Pure.
 */
import { Schema } from "effect"
import type { ReportedProblem } from "./Problem.ts"

export const ReportSketch = Schema.Struct({
  file: Schema.optional(Schema.String),
  line: Schema.optional(Schema.Int),
  quote: Schema.optional(Schema.String),
  message: Schema.optional(Schema.String)
})
export type ReportSketch = typeof ReportSketch.Type

/** Number of the response of the model in its pass. */
interface InRound {
  readonly round: number
}
export type RefusedReport = ReportSketch & InRound
export interface RecordedProblem extends InRound {
  readonly problem: ReportedProblem
}

/** Shorter texts are in many others: they have to be equal. */
const minPart = 12

const letters = (text: string | undefined): string => (text ?? "").toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "")

/** Texts as letters, so that they are compared without JSON's and Markdown's characters. */
interface Compared {
  readonly file: string | undefined
  readonly line: number | undefined
  readonly quote: string
  readonly message: string
  readonly round: number
}

const compared = ({ file, line, message, quote }: ReportSketch, { round }: InRound): Compared => ({
  file,
  line,
  quote: letters(quote),
  message: letters(message),
  round
})

const isSameText = (one: string, other: string): boolean => {
  const [short, long] = one.length < other.length ? [one, other] : [other, one]
  return short !== "" && (short === long || (short.length >= minPart && long.includes(short)))
}

const mayBeIn = (sketch: Compared, problem: Compared): boolean =>
  sketch.file === undefined || sketch.file === problem.file

/** Returns whether a later problem with other words may be about the same code. */
const isAboutSameCode = (sketch: Compared, problem: Compared): boolean => {
  const { line, message, quote } = sketch
  if (!mayBeIn(sketch, problem) || problem.round <= sketch.round) return false
  if (line === undefined && quote === "") return message === ""
  return (line !== undefined && line === problem.line) || isSameText(quote, problem.quote)
}

/**
 * Returns the number of refused reports that no problem corrects: neither one with the same text, nor one of a later response about the
 * same code, which corrects one report.
 */
export const countLost = (refused: ReadonlyArray<RefusedReport>, recorded: ReadonlyArray<RecordedProblem>): number => {
  if (refused.length === 0) return 0
  const problems = recorded.map(({ problem, round }) => compared(problem, { round }))
  const used = new Set<Compared>()
  const open = refused.flatMap((report) => {
    const sketch = compared(report, report)
    const same = problems.filter((problem) => mayBeIn(sketch, problem) && isSameText(sketch.message, problem.message))
    for (const problem of same) used.add(problem)
    return same.length === 0 ? [sketch] : []
  })
  return open.filter((sketch) => {
    const correction = problems.find((problem) => !used.has(problem) && isAboutSameCode(sketch, problem))
    if (correction !== undefined) used.add(correction)
    return correction === undefined
  }).length
}
