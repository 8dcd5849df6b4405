/** Formats what became of the findings of published reviews: shares with Wilson's interval of 95 %. */
import { listedOutcome } from "../../admin/api/RunRecords.ts"
import type { OutcomeCounts } from "../../domain/FindingOutcome.ts"
import type { ListedOutcome } from "../../store/Outcomes.ts"
import { wilson } from "../../../eval/Intervals.ts"
import { columns } from "../Columns.ts"
import { oneLine } from "../Wording.ts"
import { percent } from "./EvalReport.ts"

type OutcomeFigure = Exclude<keyof OutcomeCounts, "agent" | "model" | "repository">

/** Figures with the names that a table and JSON have for them, in order. */
const figureNames = {
  findings: "findings",
  fixed: "fixed",
  partly: "partly",
  dismissed: "dismissed",
  withdrawn: "withdrawn",
  movedAway: "moved_away",
  openAtMerge: "open_at_merge",
  open: "open",
  replied: "replied",
  changedLater: "changed_later"
} as const satisfies Record<OutcomeFigure, string>

const columnsOf = Object.entries(figureNames) as ReadonlyArray<readonly [OutcomeFigure, string]>

type OutcomeFigures = Readonly<Record<OutcomeFigure, number>>

const total = (rows: ReadonlyArray<OutcomeCounts>): OutcomeFigures => {
  const sums = { ...noOutcomes }
  for (const row of rows) for (const [figure] of columnsOf) sums[figure] += row[figure]
  return sums
}

const noOutcomes: OutcomeFigures = {
  findings: 0,
  fixed: 0,
  partly: 0,
  dismissed: 0,
  withdrawn: 0,
  movedAway: 0,
  openAtMerge: 0,
  open: 0,
  replied: 0,
  changedLater: 0
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
  ...columnsOf.map(([, name]) => name.replaceAll("_", " ")),
  "resolution rate",
  "interval of 95 %"
]

const figures = (row: OutcomeFigures): ReadonlyArray<string> => [
  ...columnsOf.map(([figure]) => String(row[figure])),
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

const rowJson = (row: OutcomeFigures) => {
  const { value, interval } = share(row.fixed, row.findings)
  return {
    ...Object.fromEntries(columnsOf.map(([figure, name]) => [name, row[figure]])),
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

/** Formats outcomes as JSON lines, with the names and values that responses of the administration have. */
export const renderLines = (outcomes: ReadonlyArray<ListedOutcome>): string =>
  outcomes.map((one) => `${JSON.stringify(listedOutcome.view(one))}\n`).join("")
