/** Formats statistics as tables. */
import type { ModelJson, PeriodJson, ProjectJson, TotalsJson, WindowsJson } from "../domain/StatisticsJson.ts"
import { columns } from "./Columns.ts"
import { oneLine } from "./Wording.ts"

const header = [
  "runs",
  "succeeded",
  "problems",
  "accepted",
  "tokens in",
  "tokens out",
  "cost USD",
  "USD per accepted",
  "average",
  "p95",
  "first comment p50",
  "p90"
]

const seconds = (millis: number | null): string => (millis === null ? "-" : `${(millis / 1000).toFixed(1)} s`)

/** Formats a cost: `unknown`, or the known part with the number of runs that are missing in it. */
const formatCost = ({ cost_usd, runs_of_unknown_cost }: TotalsJson): string => {
  if (cost_usd === null) return "unknown"
  const known = cost_usd.toFixed(2)
  return runs_of_unknown_cost === 0 ? known : `${known} (${runs_of_unknown_cost} unknown)`
}

const cells = (totals: TotalsJson): ReadonlyArray<string> => [
  String(totals.runs.total),
  String(totals.runs.succeeded),
  String(Object.values(totals.problems).reduce((sum, problems) => sum + problems, 0)),
  totals.findings.accepted_rate === null ? "-" : `${(totals.findings.accepted_rate * 100).toFixed(0)} %`,
  String(totals.llm.input_tokens),
  String(totals.llm.output_tokens),
  formatCost(totals),
  totals.cost_per_accepted_finding_usd?.toFixed(2) ?? "-",
  seconds(totals.duration.average_ms),
  seconds(totals.duration.p95_ms),
  seconds(totals.first_comment.p50_ms),
  seconds(totals.first_comment.p90_ms)
]

/** Formats one row per subject; empty without a subject. */
const table = (
  names: ReadonlyArray<string>,
  rows: ReadonlyArray<readonly [ReadonlyArray<string>, TotalsJson]>
): string =>
  rows.length === 0
    ? ""
    : columns([[...names, ...header], ...rows.map(([own, totals]) => [...own, ...cells(totals)])], names.length)

export const formatWindows = ({ all, month, today, week }: typeof WindowsJson.Type): string =>
  table(
    ["window (UTC)"],
    [
      [["today"], today],
      [["week"], week],
      [["month"], month],
      [["all"], all]
    ]
  )

export const formatProjects = (projects: ReadonlyArray<typeof ProjectJson.Type>): string =>
  table(
    ["workspace", "repository"],
    projects.map((project) => [[oneLine(project.workspace), oneLine(project.repository)], project] as const)
  )

export const formatModels = (models: ReadonlyArray<typeof ModelJson.Type>): string =>
  table(
    ["provider", "model"],
    models.map((model) => [[oneLine(model.provider), oneLine(model.model)], model] as const)
  )

/** Formats two rows per team or workspace: the period, and the one before it. */
export const formatPeriods = (by: string, periods: ReadonlyArray<typeof PeriodJson.Type>): string =>
  table(
    [by, "period"],
    periods.flatMap(({ before, name, ...totals }) => [
      [[oneLine(name), "this"], totals] as const,
      ...(before === null ? [] : [[["", "before"], before] as const])
    ])
  )
