/** Formats figures of several configurations side by side, with intervals, and differences between evaluations. */
import { metrics } from "../../../eval/Metrics.ts"
import type { EvalComparison, Measured, MetricName } from "../../../eval/Metrics.ts"
import { columns } from "../Columns.ts"
import { count, oneLine } from "../Wording.ts"

export interface NamedFigures {
  readonly name: string
  readonly figures: ReadonlyArray<Measured>
}

export interface NamedComparison extends EvalComparison {
  /** Names of both sides. */
  readonly name: string
}

const formats: Readonly<Record<(typeof metrics)[MetricName]["unit"], (value: number) => string>> = {
  share: (value) => `${(value * 100).toFixed(1)} %`,
  tokens: (value) => value.toFixed(0),
  usd: (value) => `$${value.toFixed(4)}`,
  seconds: (value) => `${value.toFixed(1)} s`
}

export const formatMetric = (metric: MetricName, value: number): string =>
  value < 0 ? `-${formats[metrics[metric].unit](-value)}` : formats[metrics[metric].unit](value)

/** Formats a difference with its sign. */
export const formatChange = (metric: MetricName, value: number): string =>
  `${value > 0 ? "+" : ""}${formatMetric(metric, value)}`

const cell = ({ metric, value, interval }: Measured): string => {
  if (value === undefined) return "-"
  const range = interval && ` (${formatMetric(metric, interval.low)} to ${formatMetric(metric, interval.high)})`
  return `${formatMetric(metric, value)}${range ?? ""}`
}

export const metricLabel = (metric: MetricName): string =>
  metrics[metric].unit === "share" ? metrics[metric].label : `${metrics[metric].label} per change`

export const renderSideBySide = (all: ReadonlyArray<NamedFigures>): string => {
  const rows = (all[0]?.figures ?? []).map(({ metric }, at) => [
    metricLabel(metric),
    ...all.map(({ figures }) => {
      const one = figures[at]
      return one === undefined ? "-" : cell(one)
    })
  ])
  return `Figures with intervals of 95 %\n${columns([["", ...all.map(({ name }) => oneLine(name))], ...rows], 1)}`
}

export const renderComparison = ({ name, changes, differences }: NamedComparison): string => {
  const rows = differences.map(({ metric, before, after, interval, verdict }) => [
    metricLabel(metric),
    formatMetric(metric, before),
    formatMetric(metric, after),
    formatChange(metric, after - before),
    `${formatChange(metric, interval.low)} to ${formatChange(metric, interval.high)}`,
    verdict === "same" ? "not significant" : `significantly ${verdict}`
  ])
  const title = `${oneLine(name)}, ${count(changes, "common change")}`
  return `${title}\n${columns([["", "before", "after", "difference", "interval of 95 %", ""], ...rows], 1)}`
}
