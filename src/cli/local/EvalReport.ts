/** Formats an evaluation for people. Text of models is displayed without control characters. */
import { formatUsd } from "../../domain/Money.ts"
import type { ExpectedProblem } from "../../../eval/EvalCase.ts"
import type { EvalScore, Figures, ScoredCase } from "../../../eval/Score.ts"
import type { Finding } from "../../domain/Problem.ts"
import { columns } from "../Columns.ts"
import { oneLine } from "../Wording.ts"
import { renderComparison, renderSideBySide } from "./EvalCompared.ts"
import type { NamedComparison, NamedFigures } from "./EvalCompared.ts"
import { formatLocation, formatTitle } from "./Report.ts"

export const percent = (value: number | undefined): string =>
  value === undefined ? "-" : `${(value * 100).toFixed(1)} %`

const header = ["", "cases", "expected", "found", "missed", "wrong", "precision", "recall", "on line"]
const rowOf = (name: string, figures: Figures): ReadonlyArray<string> => [
  name,
  String(figures.cases),
  String(figures.expected),
  String(figures.met),
  String(figures.missed),
  String(figures.wrong),
  percent(figures.precision),
  percent(figures.recall),
  percent(figures.lineAccuracy)
]

const table = (rows: ReadonlyArray<ReadonlyArray<string>>): string => columns([header, ...rows], 1)

const named = (figures: ReadonlyMap<string, Figures>): ReadonlyArray<ReadonlyArray<string>> =>
  [...figures].map(([name, one]) => rowOf(oneLine(name) || "(none)", one))

const renderScore = (score: EvalScore): string => {
  const { usage } = score
  const cost = usage.costUsd === undefined ? "cost unknown (no price for the model)" : `$${formatUsd(usage.costUsd, 4)}`
  const blocks = [
    table([rowOf("all", score), ...(score.crossFile.cases === 0 ? [] : [rowOf("across files", score.crossFile)])]),
    `By category\n${table(named(score.byCategory))}`,
    `By language\n${table(named(score.byLanguage))}`,
    ...detailsOf(score.scored),
    [
      `Clean changes without findings: ${score.silent} of ${score.clean}`,
      ...(score.failed === 0 ? [] : [`Reviews that failed: ${score.failed} of ${score.cases}`]),
      `Models: ${score.models.join(", ") || "none"}`,
      `Spent: ${usage.requests} requests, ${usage.inputTokens} tokens in (${usage.cachedTokens} cached), ${usage.outputTokens} out, ${cost}, ${score.seconds.toFixed(1)} s of reviewing`
    ].join("\n")
  ]
  return blocks.join("\n\n")
}

/** Formats results: each in detail, all side by side, and what differs. */
export const renderEval = (
  results: ReadonlyArray<NamedFigures & { readonly score: EvalScore }>,
  comparisons: ReadonlyArray<NamedComparison>
): string => {
  const details = results.map(({ name, score }) =>
    results.length === 1 ? renderScore(score) : `Configuration ${oneLine(name)}\n\n${renderScore(score)}`
  )
  return `${[...details, renderSideBySide(results), ...comparisons.map(renderComparison)].join("\n\n")}\n`
}

export const expectedText = ({ file, first, last, why, categories }: ExpectedProblem): string => {
  const lines = first === undefined ? "" : `:${first === last ? first : `${first}-${last}`}`
  return `${oneLine(file ?? "(no file)")}${lines} ${categories[0] ?? ""}: ${oneLine(why)}`
}
export const findingText = (finding: Finding): string =>
  `${oneLine(formatLocation(finding))} ${oneLine(finding.problem.category)}: ${oneLine(formatTitle(finding))}`

const detailsOf = (scored: ReadonlyArray<ScoredCase>): ReadonlyArray<string> => {
  const lines = scored.flatMap((one) => [
    ...(one.failed === undefined ? [] : [`failed  ${one.name}  ${oneLine(one.failed)}`]),
    ...one.missed.map((missed) => `missed  ${one.name}  ${expectedText(missed)}`),
    ...one.wrong.map((wrong) => `wrong   ${one.name}  ${findingText(wrong)}`)
  ])
  return lines.length === 0 ? [] : [lines.join("\n")]
}
