/** Renders an evaluation as one HTML page without scripts, styles of others or addresses. All text is escaped. */
import type { EvalScore } from "../../../eval/Score.ts"
import { escapeHtml } from "../../domain/EscapeHtml.ts"
import { oneLine } from "../Wording.ts"
import { formatChange, formatMetric, metricLabel } from "./EvalCompared.ts"
import type { NamedComparison, NamedFigures } from "./EvalCompared.ts"
import { expectedText, findingText, percent } from "./EvalReport.ts"

interface EvalPageInput {
  readonly results: ReadonlyArray<NamedFigures & { readonly score: EvalScore }>
  readonly comparisons: ReadonlyArray<NamedComparison>
}

const escape = (text: string): string => escapeHtml(oneLine(text))

const style = `:root{color-scheme:light dark;--back:#fff;--text:#1b1f24;--soft:#59636e;--line:#d1d9e0;--bar:#0969da;--good:#1a7f37;--bad:#cf222e}
@media(prefers-color-scheme:dark){:root{--back:#0d1117;--text:#e6edf3;--soft:#9198a1;--line:#3d444d;--bar:#4493f8;--good:#3fb950;--bad:#f85149}}
body{margin:2rem auto;max-width:72rem;padding:0 1rem;background:var(--back);color:var(--text);font:15px/1.5 system-ui,sans-serif}
.scroll{overflow-x:auto}table{border-collapse:collapse;margin:.5rem 0 1.5rem}th,td{border-bottom:1px solid var(--line);padding:.35rem .9rem;text-align:right;white-space:nowrap}
th:first-child,td:first-child{text-align:left}small{color:var(--soft);display:block}.bar{position:relative;height:4px;width:8rem;background:var(--line);margin-left:auto}
.bar i{position:absolute;top:0;height:4px;background:var(--bar)}.better{color:var(--good)}.worse{color:var(--bad)}li{overflow-wrap:anywhere}`

const table = (head: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<string>>): string =>
  `<div class="scroll"><table><thead><tr>${head.map((cell) => `<th>${cell}</th>`).join("")}</tr></thead><tbody>${rows
    .map((row) => `<tr>${row.map((cell) => `<td>${cell}</td>`).join("")}</tr>`)
    .join("")}</tbody></table></div>`

const figure = ({ metric, value, interval }: NamedFigures["figures"][number]): string => {
  if (value === undefined) return "-"
  const shown = escape(formatMetric(metric, value))
  if (interval === undefined) return shown
  const { low, high } = interval
  const range = `<small>${escape(`${formatMetric(metric, low)} to ${formatMetric(metric, high)}`)}</small>`
  const isShare = formatMetric(metric, 1).endsWith("%")
  const bar = `<div class="bar"><i style="left:${(low * 100).toFixed(1)}%;width:${((high - low) * 100).toFixed(1)}%"></i></div>`
  return `${shown}${range}${isShare ? bar : ""}`
}

const comparison = ({ name, changes, differences }: NamedComparison): string =>
  `<h2>${escape(name)}</h2><p>${changes} common changes, intervals of 95 %</p>${table(
    ["", "before", "after", "difference", "interval", ""],
    differences.map(({ metric, before, after, interval, verdict }) => [
      escape(metricLabel(metric)),
      escape(formatMetric(metric, before)),
      escape(formatMetric(metric, after)),
      escape(formatChange(metric, after - before)),
      escape(`${formatChange(metric, interval.low)} to ${formatChange(metric, interval.high)}`),
      `<span class="${verdict}">${verdict === "same" ? "not significant" : `significantly ${verdict}`}</span>`
    ])
  )}`

const details = ({ name, score }: EvalPageInput["results"][number]): string => {
  const groups = [...score.byLanguage, ["across files", score.crossFile] as const]
  const lines = score.scored.flatMap((one) => [
    ...(one.failed === undefined ? [] : [`failed: ${one.name}: ${one.failed}`]),
    ...one.missed.map((missed) => `missed: ${one.name}: ${expectedText(missed)}`),
    ...one.wrong.map((wrong) => `wrong: ${one.name}: ${findingText(wrong)}`)
  ])
  return `<h2>${escape(name)}</h2>${table(
    ["", "changes", "expected", "found", "wrong", "precision", "recall", "on line"],
    groups.map(([group, one]) => [
      escape(group),
      ...[one.cases, one.expected, one.met, one.wrong].map(String),
      ...[one.precision, one.recall, one.lineAccuracy].map(percent)
    ])
  )}<details><summary>${lines.length} missed, wrong or failed</summary><ul>${lines
    .map((line) => `<li>${escape(line)}</li>`)
    .join("")}</ul></details>`
}

export const renderPage = ({ results, comparisons }: EvalPageInput): string =>
  `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>Evaluation of reviews</title><style>${style}</style></head><body>
<h1>Evaluation of reviews</h1><p>${results[0]?.score.cases ?? 0} changes, intervals of 95 %</p>
${table(
  ["", ...results.map(({ name }) => escape(name))],
  (results[0]?.figures ?? []).map(({ metric }, at) => [
    escape(metricLabel(metric)),
    ...results.map(({ figures }) => {
      const one = figures[at]
      return one === undefined ? "-" : figure(one)
    })
  ])
)}
${comparisons.map(comparison).join("\n")}
${results.map(details).join("\n")}
</body></html>
`
