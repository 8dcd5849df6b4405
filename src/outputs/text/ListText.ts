/** Renders the findings of a change: one line of counts, and one list that has each finding once. Pure. */
import { isUnresolved } from "../../domain/FindingState.ts"
import { countBySeverity } from "../../domain/Analysis.ts"
import { severityRank } from "../../domain/Kinds.ts"
import type { Reason } from "../../domain/Reason.ts"
import { inLanguage } from "../../text/InLanguage.ts"
import { labelsFor } from "../Labels.ts"
import type { Labels } from "../Labels.ts"
import { gfm } from "../SafeText.ts"
import type { FindingRow } from "./FindingList.ts"
import { icons } from "./View.ts"

/** Maximum number of rows of each part; the counts and the record of the run are complete. */
const maxOpen = 60
const maxClosed = 20
const maxPeople = 5

/** Language and markup of the target. */
export interface ListStyle {
  readonly language: string
  /** False where the target shows HTML as text. */
  readonly hasHtml: boolean
}

const severities = (rows: ReadonlyArray<FindingRow>, language: string): string => {
  const all = countBySeverity(rows.map(({ severity }) => severity))
  const reason: Reason = { _tag: "ProblemsFound", severities: all.map((one) => ({ _tag: "SeverityCount", ...one })) }
  return inLanguage(language)(reason)
}

/** Splits a list by what counts. */
const parts = (rows: ReadonlyArray<FindingRow>) => {
  const unresolved = rows.filter(({ isUnread, state }) => isUnresolved(state) && !isUnread)
  return {
    unresolved,
    unread: rows.filter(({ isUnread }) => isUnread),
    closed: rows.filter(({ state }) => !isUnresolved(state))
  }
}

const renderCounts = (rows: ReadonlyArray<FindingRow>, clean: string | undefined, { language }: ListStyle): string => {
  const labels = labelsFor(language)
  const { closed, unresolved, unread } = parts(rows)
  const found =
    unresolved.length > 0
      ? `${labels.found(unresolved.length)}${labels.colon}${severities(unresolved, language)}`
      : clean
  const count = (some: ReadonlyArray<FindingRow>, word: string): ReadonlyArray<string> =>
    some.length === 0 ? [] : [labels.counted(some.length, word)]
  const byState = Map.groupBy(closed, ({ state }) => state)
  const others = [
    ...count(
      unresolved.filter(({ isNew }) => isNew),
      labels.since.fresh
    ),
    ...[...byState].flatMap(([state, own]) => count(own, labels.states[state])),
    ...count(unread, labels.unread)
  ]
  return [...(found === undefined ? [] : [`**${found}**`]), ...others].join(" · ")
}

const indented = (text: string): string =>
  text
    .split("\n")
    .map((line) => (line === "" ? line : `  ${line}`))
    .join("\n")

const linked = ({ name, place, url }: FindingRow): string => {
  const text = name === "" ? place : name
  const title = url === undefined ? text : gfm.link(text, url)
  return name === "" ? title : `${title} · ${place}`
}

const stateWord = ({ ignored, isNew, isUnread, missed, state }: FindingRow, labels: Labels): string | undefined => {
  if (isUnread) return labels.unread
  if (state !== "open") return labels.states[state]
  if (ignored.length > 0)
    return `${labels.since.ignored}${labels.colon}${ignored.slice(0, maxPeople).map(gfm.codeSpan).join(", ")}`
  if (missed !== undefined) return labels.missed(missed)
  return isNew ? labels.since.fresh : undefined
}

const renderRow = (row: FindingRow, labels: Labels): string => {
  const { detail, number, severity, state } = row
  const text = `${icons[severity]} ${labels.severity[severity]} · ${linked(row)}`
  const word = stateWord(row, labels)
  const line = `- **${number}** ${isUnresolved(state) ? text : `~~${text}~~`}${word === undefined ? "" : ` · ${word}`}`
  return detail === undefined || !isUnresolved(state) ? line : `${line}\n\n${indented(detail)}\n`
}

const bySeverity = (a: FindingRow, b: FindingRow): number =>
  severityRank(b.severity) - severityRank(a.severity) || a.number - b.number

const renderRows = (rows: ReadonlyArray<FindingRow>, limit: number, labels: Labels): ReadonlyArray<string> => [
  ...rows.slice(0, limit).map((row) => renderRow(row, labels)),
  ...(rows.length > limit ? [`- ${labels.more(rows.length - limit)}`] : [])
]

/** Renders the list. `clean`: the sentence for a review without an open problem. */
export const renderList = (rows: ReadonlyArray<FindingRow>, clean: string | undefined, style: ListStyle): string => {
  const labels = labelsFor(style.language)
  const { closed, unresolved, unread } = parts(rows)
  const open = [...unresolved, ...unread].toSorted(bySeverity)
  const folded = style.hasHtml ? open.filter((row) => row.folded === true) : []
  const listed = style.hasHtml ? open.filter((row) => row.folded !== true) : open
  const hidden =
    folded.length === 0
      ? []
      : [
          "",
          "<details>",
          `<summary>${labels.minor(severities(folded, style.language))}</summary>`,
          "",
          ...renderRows(folded, maxOpen, labels),
          "",
          "</details>"
        ]
  const newestFirst = closed.toSorted((a, b) => b.number - a.number).slice(0, maxClosed)
  const more = closed.length > newestFirst.length ? [`- ${labels.more(closed.length - newestFirst.length)}`] : []
  return [
    renderCounts(rows, clean, style),
    "",
    ...renderRows(listed, maxOpen, labels),
    ...newestFirst.toSorted((a, b) => a.number - b.number).map((row) => renderRow(row, labels)),
    ...more,
    ...hidden
  ].join("\n")
}
