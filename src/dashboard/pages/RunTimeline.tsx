/** The steps of a run with the time between them, as bars whose length is the time until the next step. */
import { Link } from "@tanstack/react-router"
import { formatDuration } from "../text/FormatDuration.ts"
import { formatClock } from "../text/Format.ts"
import { t, tValue } from "../text/T.ts"
import type { RunDetails } from "./RunDetails.ts"

const millisBetween = (from: string, to: string): number =>
  Math.max(new Date(to).getTime() - new Date(from).getTime(), 0)

const labelOf = (run: RunDetails, what: string, id: string | undefined): string => {
  const publication = run.publications.find((row) => row.id === id)
  return publication === undefined
    ? tValue("step", what)
    : t("step.publication", { step: tValue("step", what), operation: tValue("operation", publication.operation) })
}

export const RunTimeline = ({ run }: { readonly run: RunDetails }) => {
  const { timeline } = run
  const [first] = timeline
  const last = timeline.at(-1)
  if (first === undefined || last === undefined) return null
  const whole = Math.max(millisBetween(first.at, last.at), 1)
  return (
    <ol className="timeline">
      {timeline.map(({ at, id, what }, index) => {
        const next = timeline[index + 1]
        const length = next === undefined ? 0 : millisBetween(at, next.at)
        const label = labelOf(run, what, id)
        return (
          <li key={index}>
            <span className="timeline-at mono">{formatClock(at)}</span>
            <span className="timeline-label">
              {what === "delivered" && id !== undefined ? (
                <Link to="/deliveries/$id" params={{ id }}>
                  {label}
                </Link>
              ) : (
                label
              )}
            </span>
            {next === undefined ? null : (
              <>
                <span className="timeline-duration quiet">{formatDuration(length)}</span>
                <span className="timeline-track" aria-hidden="true">
                  <span
                    style={{
                      marginInlineStart: `${(millisBetween(first.at, at) / whole) * 100}%`,
                      width: `max(2px, ${(length / whole) * 100}%)`
                    }}
                  />
                </span>
              </>
            )}
          </li>
        )
      })}
      <li className="timeline-total">
        <span />
        <span>{t("run.total")}</span>
        <span className="timeline-duration">{formatDuration(whole)}</span>
      </li>
    </ol>
  )
}
