/** Formats what became of the findings of published reviews: shares with Wilson's interval of 95 %. */
import type { OutcomeCounts } from "../../domain/FindingOutcome.ts"
import { wilson } from "../../../eval/Intervals.ts"
import { columns } from "../Columns.ts"
import { oneLine } from "../Wording.ts"
import { percent } from "./EvalReport.ts"

const total = (rows: ReadonlyArray<OutcomeCounts>): Omit<OutcomeCounts, "repository" | "agent" | "model"> => {
  const sum = (figure: "findings" | "fixed" | "dismissed" | "open" | "replied"): number =>
    rows.reduce((so, row) => so + row[figure], 0)
  return {
    findings: sum("findings"),
    fixed: sum("fixed"),
    dismissed: sum("dismissed"),
    open: sum("open"),
    replied: sum("replied")
  }
}

const share = (part: number, whole: number) => ({
  value: whole === 0 ? undefined : part / whole,
  interval: wilson(part, whole)
})

const shareText = (part: number, whole: number): ReadonlyArray<string> => {
  const { value, interval } = share(part, whole)
  return [percent(value), interval === undefined ? "-" : `${percent(interval.low)} to ${percent(interval.high)}`]
}

const header = [
  "repository",
  "agent",
  "model",
  "findings",
  "fixed",
  "dismissed",
  "open",
  "replied",
  "resolution rate",
  "interval of 95 %"
]

const figures = (row: ReturnType<typeof total>): ReadonlyArray<string> => [
  ...[row.findings, row.fixed, row.dismissed, row.open, row.replied].map(String),
  ...shareText(row.fixed, row.findings)
]

/** Formats outcomes as a table, with a line for all where there are several. */
export const renderRecorded = (rows: ReadonlyArray<OutcomeCounts>): string => {
  if (rows.length === 0)
    return "No outcomes are recorded: no review with findings has been published on a pull request\n"
  const lines = rows.map((row) => [oneLine(row.repository), oneLine(row.agent), oneLine(row.model), ...figures(row)])
  const all = rows.length === 1 ? [] : [["all", "", "", ...figures(total(rows))]]
  return `${columns([header, ...lines, ...all], 3)}\n`
}

const rowJson = ({ findings, fixed, dismissed, open, replied }: ReturnType<typeof total>) => {
  const { value, interval } = share(fixed, findings)
  return {
    findings,
    fixed,
    dismissed,
    open,
    replied,
    resolution_rate: value ?? null,
    interval: interval ?? null
  }
}

/** Formats outcomes as JSON with stable field names. */
export const renderRecordedJson = (rows: ReadonlyArray<OutcomeCounts>): string =>
  `${JSON.stringify(
    {
      all: rowJson(total(rows)),
      recorded: rows.map((row) => ({
        repository: row.repository,
        agent: row.agent,
        model: row.model,
        ...rowJson(row)
      }))
    },
    undefined,
    2
  )}\n`
