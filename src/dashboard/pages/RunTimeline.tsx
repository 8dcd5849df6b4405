/** The steps of a run with the time that each took, as bars on a common scale; parts of a step are indented below it. */
import { Link } from "@tanstack/react-router"
import { formatDuration } from "../text/FormatDuration.ts"
import { formatClock, formatCount, formatExact, formatUsd } from "../text/Format.ts"
import { Empty } from "../parts/Panel.tsx"
import { t, tValue } from "../text/T.ts"
import type { RunDetails } from "./RunDetails.ts"

type Step = RunDetails["timeline"][number]

const toMillis = (at: string): number => new Date(at).getTime()

const label = ({ operation, pass, what }: Step): string => {
  if (operation !== undefined) return tValue("operation", operation)
  return pass === undefined ? tValue("step", what) : t("step.pass.number", { pass })
}

/** Waits below it are those of every call. */
const shownWaitMillis = 100

const detailsOf = (step: Step): ReadonlyArray<string> => [
  ...(step.model === undefined ? [] : [step.model]),
  ...(step.channel === undefined ? [] : [step.channel]),
  ...(step.input_tokens === undefined
    ? []
    : [
        t("step.tokens", {
          input: formatCount(step.input_tokens),
          cached: formatCount(step.cached_tokens ?? 0),
          output: formatCount(step.output_tokens ?? 0)
        })
      ]),
  ...(step.cost_usd === undefined ? [] : [formatUsd(step.cost_usd)]),
  ...(step.wait_ms === undefined || step.wait_ms < shownWaitMillis
    ? []
    : [t("step.waited", { time: formatDuration(step.wait_ms) })]),
  ...(step.failed === true ? [t("step.failed.part")] : [])
]

const Bar = ({ from, step, whole }: { readonly from: number; readonly step: Step; readonly whole: number }) => (
  <span className="timeline-track" aria-hidden="true">
    <span
      className={step.failed === true ? "failed" : undefined}
      style={{
        marginInlineStart: `${((toMillis(step.at) - from) / whole) * 100}%`,
        width: `max(2px, ${((step.duration_ms ?? 0) / whole) * 100}%)`
      }}
    />
  </span>
)

export const RunTimeline = ({ run: { timeline } }: { readonly run: RunDetails }) => {
  const [first] = timeline
  if (first === undefined) return <Empty title={t("run.timeline.empty")} />
  const from = Math.min(...timeline.map(({ at }) => toMillis(at)))
  const until = Math.max(...timeline.map(({ at, duration_ms: length = 0 }) => toMillis(at) + length))
  const whole = Math.max(until - from, 1)
  return (
    <ol className="timeline">
      {timeline.map((step, index) => (
        <li key={index}>
          <time className="timeline-at mono" dateTime={step.at} title={formatExact(step.at)}>
            {formatClock(step.at)}
          </time>
          <span className="timeline-label" style={{ paddingInlineStart: `${Math.min(step.depth, 4) * 1.1}rem` }}>
            {step.id === undefined ? (
              label(step)
            ) : (
              <Link to="/deliveries/$id" params={{ id: step.id }}>
                {label(step)}
              </Link>
            )}{" "}
            <span className="quiet">{detailsOf(step).join(" · ")}</span>
          </span>
          {step.duration_ms === undefined ? null : (
            <>
              <span className="timeline-duration quiet">{formatDuration(step.duration_ms)}</span>
              <Bar from={from} step={step} whole={whole} />
            </>
          )}
        </li>
      ))}
      <li className="timeline-total">
        <span />
        <span>{t("run.total")}</span>
        <span className="timeline-duration">{formatDuration(whole)}</span>
      </li>
    </ol>
  )
}
