/** How the run of a delivery ended: what was posted and where, and of what was not, why. */
import type { Reason } from "../../domain/Reason.ts"
import { useApi } from "../client/Queries.ts"
import { ExternalLink } from "../parts/Facts.tsx"
import { Prose } from "../parts/Prose.tsx"
import { RunLink, RunStatus } from "../parts/Records.tsx"
import { t, tReason, tValue } from "../text/T.ts"
import type { RunDetails } from "./RunDetails.ts"
import { isEnded } from "./RunStates.ts"
import { summaryText } from "../../domain/SummaryText.ts"

/** Operations that people do not read as a comment. */
const silent = new Set(["Status", "Label", "Statement", "Threads", "Thread"])

const Posted = ({ run }: { readonly run: RunDetails }) => {
  const posted = run.publications.filter(({ operation, status }) => status === "sent" && !silent.has(operation))
  if (posted.length === 0) return isEnded(run.status) ? <p>{t("delivery.posted.nothing")}</p> : null
  return (
    <p className="step-line">
      {t("delivery.posted")}
      {posted.map(({ id, operation, url }) => (
        <ExternalLink key={id} href={url}>
          {tValue("operation", operation)}
        </ExternalLink>
      ))}
    </p>
  )
}

/** Returns whether a reason is another one, or has it as a parameter. */
const holds = (reason: Reason | undefined, part: Reason): boolean =>
  reason !== undefined && JSON.stringify(reason).includes(JSON.stringify(part))

/** `said` is the reason of the delivery, which is often that of the run. */
export const DeliveredRun = ({ id, said }: { readonly id: string; readonly said: Reason | undefined }) => {
  const run = useApi("GET /runs/:id", { params: { id } }).data
  if (run === undefined)
    return (
      <p>
        <RunLink id={id} />
      </p>
    )
  const isUnpublished = ({ error, status }: (typeof run.publications)[number]) =>
    error !== undefined && status !== "sent" && status !== "nothing_to_do"
  const unpublished = run.publications.filter(isUnpublished)
  return (
    <>
      <p className="step-line">
        <RunLink id={id} /> <RunStatus {...run} />
      </p>
      {run.reason === undefined || holds(said, run.reason) ? null : <p>{tReason(run.reason)}</p>}
      <Posted run={run} />
      {run.findings.length > 0 ? null : (
        <p>
          <Prose text={run.skipped === undefined ? summaryText(run, tReason) : tReason(run.skipped)} />
        </p>
      )}
      {run.notices.map((notice) => (
        <p key={JSON.stringify(notice)}>{tReason(notice)}</p>
      ))}
      {unpublished.map(({ error, id: publication, operation }) => (
        <p key={publication} className="error-text">
          {t("delivery.unpublished", {
            operation: tValue("operation", operation),
            error: error === undefined ? "" : tReason(error)
          })}
        </p>
      ))}
    </>
  )
}
