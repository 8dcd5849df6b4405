/** One delivery: what was decided, by which rule on which line of the configuration, what it led to, and its content. */
import { Link, useParams } from "@tanstack/react-router"
import type { Output } from "../client/Endpoints.ts"
import { useApi } from "../client/Queries.ts"
import { Copy, Facts, ExternalLink } from "../parts/Facts.tsx"
import { shownOutcome, whyNothing } from "../parts/DeliveryTexts.ts"
import { Page } from "../parts/Page.tsx"
import { Loaded, Panel } from "../parts/Panel.tsx"
import { Prose } from "../parts/Prose.tsx"
import { ChangeLink, changeName, Commit, DeliveryStatus, RunLink, RunStatus } from "../parts/Records.tsx"
import { Shape } from "../parts/Status.tsx"
import { Time } from "../parts/Time.tsx"
import { eventName } from "../text/EventName.ts"
import { formatCount } from "../text/Format.ts"
import { t, tMaybe, tReason, tValue } from "../text/T.ts"
import { DecidedBy } from "./DecidedBy.tsx"
import { DeliveryPayload, ReplayDelivery } from "./DeliveryPayload.tsx"
import type { Reason } from "../../domain/Reason.ts"
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

/**
 * How the run of a delivery ended: what was posted and where, and of what was not, why.
 *
 * `said` is the reason of the delivery, which is often that of the run.
 */
const DeliveredRun = ({ id, said }: { readonly id: string; readonly said: Reason | undefined }) => {
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

type Details = Output<"GET /events/:id">

/** What the work of a delivery waits for, from its queue entry; the queue has it among its first ones, or all of them. */
const Waiting = ({ delivery: { id, workspace } }: { readonly delivery: Details }) => {
  const queue = useApi("GET /queue", { query: { workspace } })
  const entry = queue.data?.items.find(({ events }) => events.includes(id))
  return (
    <p>
      {entry === undefined ? null : <span className="mono">{tReason(entry.why)} </span>}
      <Link to="/queue" search={workspace === undefined ? {} : { workspace }}>
        {t("page.queue")}
      </Link>
    </p>
  )
}

/** Settings that its rule, or the reason of its end, names. */
const Decided = ({
  delivery: { outcome_reason: outcomeReason, rule, run_id: runId, workspace }
}: {
  readonly delivery: Details
}) => {
  const run = useApi("GET /runs/:id", { params: { id: runId ?? "" } }, { enabled: runId !== undefined }).data
  const reasons = [rule, outcomeReason, run?.reason, ...(run?.notices ?? [])].filter((reason) => reason !== undefined)
  return <DecidedBy rule={rule} reasons={reasons} workspace={workspace} />
}

/** One sentence about what happened, and what to do if that is not wanted. */
const Verdict = ({ delivery }: { readonly delivery: Details }) => {
  const { decision, outcome, outcome_reason: outcomeReason, reason, run_id: runId } = delivery
  const isNothing = decision === "ignored" || decision === "rejected"
  const title = isNothing
    ? t("delivery.nothing", { reason: tValue("reason", reason ?? decision) })
    : outcome === undefined
      ? t("delivery.pending", { state: tValue("decision", decision) })
      : t("delivery.outcome", { state: tValue("outcome", shownOutcome(delivery)) })
  const help = tMaybe("why", isNothing ? whyNothing(delivery) : (outcome ?? decision))
  const tone = isNothing
    ? decision === "rejected"
      ? "bad"
      : "warn"
    : outcome === "failed"
      ? "bad"
      : outcome === "executed"
        ? "good"
        : "wait"
  return (
    <div className={`verdict tone-${tone}`}>
      <Shape tone={tone} />
      <div>
        <p className="verdict-title">{title}</p>
        {help === undefined ? null : (
          <p>
            <Prose text={help} />
          </p>
        )}
        {outcomeReason === undefined ? null : <p className="mono">{tReason(outcomeReason)}</p>}
        {isNothing || outcome !== undefined ? null : <Waiting delivery={delivery} />}
        {runId === undefined ? null : <DeliveredRun key={runId} id={runId} said={outcomeReason} />}
      </div>
    </div>
  )
}

const DeliveryFacts = ({ delivery }: { readonly delivery: Details }) => (
  <Facts
    items={[
      [t("column.change"), <ChangeLink key="change" change={delivery} />],
      [t("column.decision"), <DeliveryStatus key="decision" delivery={delivery} />],
      [t("column.received"), <Time key="at" at={delivery.received_at} />],
      [t("column.event"), eventName(delivery)],
      [t("column.trigger"), delivery.trigger ?? delivery.provider],
      [t("column.workspace"), delivery.workspace],
      [t("column.author"), delivery.author],
      [t("column.sender"), delivery.sender],
      [t("column.branch"), delivery.branch],
      delivery.head !== undefined && [t("column.commit"), <Commit key="head" id={delivery.head} />],
      delivery.command !== undefined && [t("delivery.command"), <code key="command">{delivery.command}</code>],
      delivery.duplicates > 0 && [t("delivery.duplicates"), formatCount(delivery.duplicates)],
      delivery.duplicated_at !== undefined && [
        t("delivery.duplicated"),
        <Time key="duplicated" at={delivery.duplicated_at} />
      ],
      [t("delivery.id"), <Copy key="id" value={delivery.id} />],
      [t("delivery.host"), <Copy key="host" value={delivery.delivery} />],
      delivery.replay_of !== undefined && [
        t("payload.replayOf"),
        <Link key="of" to="/deliveries/$id" params={{ id: delivery.replay_of }}>
          {t("replay.original")}
        </Link>
      ]
    ]}
  />
)

/** Deliveries that repeat this one. */
const Replays = ({ replays }: { readonly replays: Details["replays"] }) => (
  <Panel title={t("replay.list")} flush>
    <ul className="rows">
      {replays.map((replay) => (
        <li key={replay.id}>
          <Link to="/deliveries/$id" params={{ id: replay.id }}>
            <Time at={replay.received_at} />
          </Link>
          <DeliveryStatus delivery={replay} />
        </li>
      ))}
    </ul>
  </Panel>
)

export const Delivery = () => {
  const { id } = useParams({ from: "/deliveries/$id" })
  const query = useApi("GET /events/:id", { params: { id } })
  return (
    <Loaded query={query} rows={8}>
      {(delivery) => (
        <Page
          title={changeName(delivery)}
          back={{ to: "/deliveries", label: "page.deliveries" }}
          actions={<ReplayDelivery id={delivery.id} />}
        >
          <Verdict delivery={delivery} />
          <div className="columns">
            <Panel title={t("delivery.facts")}>
              <DeliveryFacts delivery={delivery} />
            </Panel>
            <div className="stack">
              <Decided key={delivery.id} delivery={delivery} />
              {delivery.work === undefined ? null : (
                <Panel title={t("delivery.work")}>
                  <Facts
                    items={[
                      [t("column.title"), delivery.work.title],
                      [t("delivery.due"), <Time key="due" at={delivery.work.due_at} />],
                      [t("delivery.priority"), String(delivery.work.priority)],
                      [t("delivery.config"), <code key="config">{delivery.work.config_hash.slice(0, 12)}</code>]
                    ]}
                  />
                </Panel>
              )}
            </div>
          </div>
          {delivery.replays.length === 0 ? null : <Replays replays={delivery.replays} />}
          <DeliveryPayload key={delivery.id} id={delivery.id} />
        </Page>
      )}
    </Loaded>
  )
}
