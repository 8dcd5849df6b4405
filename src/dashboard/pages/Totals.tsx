/** The numbers of a period, each with how it is computed: the descriptions of the API, which are those of docs/statistics.md. */
import type { ReactNode } from "react"
import type { Output } from "../client/Endpoints.ts"
import { formatDuration } from "../text/FormatDuration.ts"
import { formatCount, formatRate, formatShort, formatUsd } from "../text/Format.ts"
import { useFilters } from "../parts/Filters.tsx"
import { StackedTable } from "../parts/StackedTable.tsx"
import { sortRows } from "../parts/SortRows.ts"
import { t } from "../text/T.ts"
import type { Key } from "../text/T.ts"

type TotalsRecord = Output<"GET /stats">["windows"]["all"]

interface Metric {
  readonly label: Key
  readonly help: Key
  readonly value: (totals: TotalsRecord) => string
}

export const metrics: ReadonlyArray<Metric> = [
  { label: "metric.runs", help: "metric.runs.help", value: ({ runs }) => formatShort(runs.total) },
  { label: "metric.succeeded", help: "metric.succeeded.help", value: ({ runs }) => formatShort(runs.succeeded) },
  { label: "metric.failed", help: "metric.failed.help", value: ({ runs }) => formatShort(runs.failed + runs.timeout) },
  { label: "metric.partial", help: "metric.partial.help", value: ({ runs }) => formatShort(runs.partial) },
  {
    label: "metric.published",
    help: "metric.published.help",
    value: ({ findings }) => formatShort(findings.published)
  },
  {
    label: "metric.accepted",
    help: "metric.accepted.help",
    value: ({ findings }) => formatRate(findings.accepted_rate)
  },
  {
    label: "metric.dismissed",
    help: "metric.dismissed.help",
    value: ({ findings }) => formatRate(findings.dismissed_rate)
  },
  {
    label: "metric.openAtMerge",
    help: "metric.openAtMerge.help",
    value: ({ findings }) => formatShort(findings.open_at_merge)
  },
  { label: "metric.replied", help: "metric.replied.help", value: ({ findings }) => formatRate(findings.replied_rate) },
  {
    label: "metric.lines",
    help: "metric.lines.help",
    value: ({ files, lines }) => `${formatShort(lines)} / ${formatShort(files)}`
  },
  {
    label: "metric.tokens",
    help: "metric.tokens.help",
    value: ({ llm }) => `${formatShort(llm.input_tokens)} / ${formatShort(llm.output_tokens)}`
  },
  {
    label: "metric.cached",
    help: "metric.cached.help",
    value: ({ llm }) => formatRate(llm.input_tokens === 0 ? null : llm.cached_tokens / llm.input_tokens)
  },
  { label: "metric.cost", help: "metric.cost.help", value: (totals) => formatUsd(totals.cost_usd) },
  {
    label: "metric.costAccepted",
    help: "metric.costAccepted.help",
    value: (totals) => formatUsd(totals.cost_per_accepted_finding_usd)
  },
  {
    label: "metric.unpriced",
    help: "metric.unpriced.help",
    value: (totals) => formatCount(totals.runs_of_unknown_cost)
  },
  {
    label: "metric.average",
    help: "metric.average.help",
    value: ({ duration }) => formatDuration(duration.average_ms)
  },
  { label: "metric.p95", help: "metric.p95.help", value: ({ duration }) => formatDuration(duration.p95_ms) },
  {
    label: "metric.firstComment",
    help: "metric.firstComment.help",
    value: ({ first_comment: first }) => `${formatDuration(first.p50_ms)} / ${formatDuration(first.p90_ms)}`
  }
]

interface CardProps {
  readonly metric: Metric
  readonly totals: TotalsRecord
  /** Null for all time, which has no period before it. */
  readonly before: TotalsRecord | null
}

/** A number with that of the period before. A click explains its computation. */
export const MetricCard = ({ before, metric, totals }: CardProps) => (
  <details className="figure metric">
    <summary>
      <span className="figure-label">{t(metric.label)}</span>
      <span className="figure-value">{metric.value(totals)}</span>
      {before === null ? null : <span className="quiet">{t("groups.before", { rate: metric.value(before) })}</span>}
    </summary>
    <p className="quiet">{t(metric.help)}</p>
  </details>
)

interface TableProps<Row extends TotalsRecord> {
  readonly label: string
  readonly rows: ReadonlyArray<Row>
  readonly renderName: (row: Row) => ReactNode
  readonly rowKey: (row: Row) => string
  readonly nameLabel: string
}

const sortValues: Readonly<Record<string, (row: TotalsRecord) => number | null>> = {
  runs: ({ runs }) => runs.total,
  failed: ({ runs }) => runs.failed + runs.timeout,
  published: ({ findings }) => findings.published,
  accepted: ({ findings }) => findings.accepted_rate,
  tokens: ({ llm }) => llm.input_tokens + llm.output_tokens,
  cost: (row) => row.cost_usd,
  p95: ({ duration }) => duration.p95_ms,
  firstComment: ({ first_comment: first }) => first.p50_ms
}

/** One row per project or model. Both tables of a page have the same order. */
export const TotalsTable = <Row extends TotalsRecord>({
  label,
  nameLabel,
  renderName,
  rowKey,
  rows
}: TableProps<Row>) => {
  const [{ sort }] = useFilters()
  return (
    <StackedTable
      label={label}
      heads={[
        { label: nameLabel },
        { label: t("metric.runs"), sort: "runs", end: true },
        { label: t("metric.failed"), sort: "failed", end: true },
        { label: t("metric.published"), sort: "published", end: true },
        { label: t("metric.accepted"), sort: "accepted", end: true },
        { label: t("metric.tokens"), sort: "tokens", end: true },
        { label: t("metric.cost"), sort: "cost", end: true },
        { label: t("metric.p95"), sort: "p95", end: true },
        { label: t("metric.firstComment"), sort: "firstComment", end: true }
      ]}
      rows={sortRows(rows, sort, sortValues).map((row) => (
        <tr key={rowKey(row)}>
          <td>{renderName(row)}</td>
          <td className="end">{formatShort(row.runs.total)}</td>
          <td className="end">{formatShort(row.runs.failed + row.runs.timeout)}</td>
          <td className="end">{formatShort(row.findings.published)}</td>
          <td className="end">{formatRate(row.findings.accepted_rate)}</td>
          <td className="end">{`${formatShort(row.llm.input_tokens)} / ${formatShort(row.llm.output_tokens)}`}</td>
          <td className="end">{formatUsd(row.cost_usd)}</td>
          <td className="end">{formatDuration(row.duration.p95_ms)}</td>
          <td className="end">
            {`${formatDuration(row.first_comment.p50_ms)} / ${formatDuration(row.first_comment.p90_ms)}`}
          </td>
        </tr>
      ))}
    />
  )
}
