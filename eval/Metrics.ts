/**
 * Figures of an evaluation with their intervals, and their differences between two evaluations of the same changes.
 * Shares of findings have Wilson's interval; everything else, and every difference, is resampled by change. Pure.
 */
import { differenceInterval, ratioInterval, computeRatio, wilson } from "./Intervals.ts"
import type { Interval, Ratio } from "./Intervals.ts"
import type { ScoredCase } from "./Score.ts"

/** Counts and amounts of one change; all that a later comparison needs. */
export interface Tally {
  readonly name: string
  readonly met: number
  readonly located: number
  readonly onLine: number
  readonly missed: number
  readonly wrong: number
  readonly inputTokens: number
  readonly outputTokens: number
  readonly cachedTokens: number
  readonly costUsd: number | undefined
  readonly seconds: number
}

export const tallyCase = ({ name, met, missed, wrong, usage, seconds }: ScoredCase): Tally => ({
  name,
  met: met.length,
  located: met.filter(({ onLine }) => onLine !== undefined).length,
  onLine: met.filter(({ onLine }) => onLine === true).length,
  missed: missed.length,
  wrong: wrong.length,
  inputTokens: usage.inputTokens,
  outputTokens: usage.outputTokens,
  cachedTokens: usage.cachedTokens,
  costUsd: usage.costUsd,
  seconds
})

type Row = {
  readonly label: string
  readonly unit: "share" | "tokens" | "usd" | "seconds"
  /** Undefined where a change has no value, so that no figure exists. */
  readonly of: (tally: Tally) => Ratio | undefined
  readonly isOfFindings?: true
  /** Direction of an improvement. */
  readonly better: "more" | "less"
}

const perChange = (top: number | undefined): Ratio | undefined => (top === undefined ? undefined : { top, bottom: 1 })
const share = (top: number, bottom: number): Ratio => ({ top, bottom })

export const metrics = {
  precision: {
    label: "precision",
    unit: "share",
    of: ({ met, wrong }) => share(met, met + wrong),
    isOfFindings: true,
    better: "more"
  },
  recall: {
    label: "recall",
    unit: "share",
    of: ({ met, missed }) => share(met, met + missed),
    isOfFindings: true,
    better: "more"
  },
  line_accuracy: {
    label: "on line",
    unit: "share",
    of: ({ onLine, located }) => share(onLine, located),
    isOfFindings: true,
    better: "more"
  },
  tokens_in: { label: "tokens in", unit: "tokens", of: ({ inputTokens }) => perChange(inputTokens), better: "less" },
  tokens_out: {
    label: "tokens out",
    unit: "tokens",
    of: ({ outputTokens }) => perChange(outputTokens),
    better: "less"
  },
  cached_share: {
    label: "cached share",
    unit: "share",
    of: ({ cachedTokens, inputTokens }) => share(cachedTokens, inputTokens),
    better: "more"
  },
  cost_usd: { label: "cost", unit: "usd", of: ({ costUsd }) => perChange(costUsd), better: "less" },
  seconds: { label: "seconds", unit: "seconds", of: ({ seconds }) => perChange(seconds), better: "less" }
} satisfies Record<string, Row>

export type MetricName = keyof typeof metrics

export interface Measured {
  readonly metric: MetricName
  readonly value: number | undefined
  readonly interval: Interval | undefined
}

const rows: ReadonlyArray<readonly [MetricName, Row]> = Object.entries(metrics).map(([name, row]) => [
  name as MetricName,
  row
])

/** Undefined unless every change has a value. */
const ratiosOf = (row: Row, tallies: ReadonlyArray<Tally>): ReadonlyArray<Ratio> | undefined => {
  const found = tallies.flatMap((tally) => row.of(tally) ?? [])
  return found.length === tallies.length ? found : undefined
}

const sumOf = (ratios: ReadonlyArray<Ratio>, part: keyof Ratio): number =>
  ratios.reduce((sum, ratio) => sum + ratio[part], 0)

export const measure = (tallies: ReadonlyArray<Tally>): ReadonlyArray<Measured> =>
  rows.map(([metric, row]) => {
    const ratios = ratiosOf(row, tallies)
    const value = ratios && computeRatio(ratios)
    if (ratios === undefined || value === undefined) return { metric, value: undefined, interval: undefined }
    const interval =
      row.isOfFindings === true ? wilson(sumOf(ratios, "top"), sumOf(ratios, "bottom")) : ratioInterval(ratios)
    return { metric, value, interval }
  })

export interface MetricDifference {
  readonly metric: MetricName
  readonly before: number
  readonly after: number
  readonly interval: Interval
  /** `same` where the interval contains zero: the difference may be chance. */
  readonly verdict: "better" | "worse" | "same"
}

export interface EvalComparison {
  /** Changes that both evaluations have; only they are compared. */
  readonly changes: number
  readonly differences: ReadonlyArray<MetricDifference>
}

export const compare = (before: ReadonlyArray<Tally>, after: ReadonlyArray<Tally>): EvalComparison => {
  const earlier = new Map(before.map((tally) => [tally.name, tally]))
  const pairs = after.flatMap((tally) => {
    const found = earlier.get(tally.name)
    return found === undefined ? [] : [[found, tally] as const]
  })
  const differences = rows.flatMap(([metric, row]): ReadonlyArray<MetricDifference> => {
    const first = ratiosOf(
      row,
      pairs.map(([tally]) => tally)
    )
    const second = ratiosOf(
      row,
      pairs.map(([, tally]) => tally)
    )
    if (first === undefined || second === undefined) return []
    const [was, is, interval] = [computeRatio(first), computeRatio(second), differenceInterval(first, second)]
    if (was === undefined || is === undefined || interval === undefined) return []
    const isMore = interval.low > 0
    const isChance = !isMore && interval.high >= 0
    const verdict = isChance ? "same" : isMore === (row.better === "more") ? "better" : "worse"
    return [{ metric, before: was, after: is, interval, verdict }]
  })
  return { changes: pairs.length, differences }
}
