/** The story of one pull request or issue: deliveries, queue entries, runs and publications in the order of time. */
import { Link, useSearch } from "@tanstack/react-router"
import type { ReactNode } from "react"
import { separateOwn } from "../../domain/OwnDeliveries.ts"
import type { OwnDeliveries } from "../../domain/OwnDeliveries.ts"
import type { Output } from "../client/Endpoints.ts"
import { useApi } from "../client/Queries.ts"
import { ExternalLink } from "../parts/Facts.tsx"
import { whyNothing } from "../parts/DeliveryTexts.ts"
import { Page } from "../parts/Page.tsx"
import { Empty, Loaded, Panel } from "../parts/Panel.tsx"
import { Commit, DeliveryStatus, RunStatus } from "../parts/Records.tsx"
import { Status } from "../parts/Status.tsx"
import { Time, useNow } from "../parts/Time.tsx"
import { eventName } from "../text/EventName.ts"
import { formatDuration } from "../text/FormatDuration.ts"
import { formatCount, formatUsd } from "../text/Format.ts"
import "../text/PagedTexts.ts"
import { t, tMaybe, tReason, tValue } from "../text/T.ts"
import { countRejected } from "./AttentionFacts.ts"
import { toCount } from "./Numbers.ts"

type Story = Output<"GET /story">
type Delivery = Story["deliveries"][number]
type StoryRun = Story["runs"][number]
type StoryEntry = Story["entries"][number]

interface Step {
  readonly key: string
  readonly at: string
  readonly kind: string
  readonly content: ReactNode
}

const deliveryStep = (delivery: Delivery): Step => ({
  key: `d${delivery.id}`,
  at: delivery.received_at,
  kind: t("record.delivery"),
  content: (
    <>
      <div className="step-line">
        <Link to="/deliveries/$id" params={{ id: delivery.id }}>
          {eventName(delivery)}
        </Link>
        <DeliveryStatus delivery={delivery} />
        <span className="quiet">{delivery.sender ?? delivery.author}</span>
        <Commit id={delivery.head} />
      </div>
      {delivery.decision === "ignored" || delivery.decision === "rejected" ? (
        <p className="quiet">{tMaybe("why", whyNothing(delivery))}</p>
      ) : null}
      {delivery.run_id !== undefined || delivery.outcome_reason === undefined ? null : (
        <p className="quiet">{tReason(delivery.outcome_reason)}</p>
      )}
      {delivery.rule === undefined ? null : <p className="quiet mono">{tReason(delivery.rule)}</p>}
    </>
  )
})

const ownStep = ({ deliveries, events, last }: OwnDeliveries<Delivery>): Step => ({
  key: `o${deliveries[0].id}`,
  at: deliveries[0].received_at,
  kind: t("record.delivery"),
  content: (
    <div className="step-line">
      <span>{t("change.own", { count: deliveries.length })}</span>
      <DeliveryStatus delivery={last} />
      <span className="quiet">{last.sender ?? last.author}</span>
      <span className="quiet mono">{events.join(", ")}</span>
    </div>
  )
})

const Publications = ({ run }: { readonly run: StoryRun }) =>
  run.publications.length === 0 ? null : (
    <ul className="publications">
      {run.publications.map(({ channel, error, id, operation, status, url }) => (
        <li key={id}>
          <Status group="publication" value={status} />
          <ExternalLink href={url}>{tValue("operation", operation)}</ExternalLink>
          <span className="quiet">{channel}</span>
          {error === undefined ? null : (
            <span className={status === "nothing_to_do" ? "quiet" : "error-text"}>{tReason(error)}</span>
          )}
        </li>
      ))}
    </ul>
  )

/** The round of a review, and what it found and did not post. */
const RoundFacts = ({ run: { credentials = 0, folded = 0, late = 0, round } }: { readonly run: StoryRun }) => {
  const facts = [
    ...(round === undefined ? [] : [t("reviewed.round", { round })]),
    ...(credentials === 0 ? [] : [t("reviewed.credentials", { count: credentials })]),
    ...(late === 0 ? [] : [t("reviewed.late", { count: late })]),
    ...(folded === 0 ? [] : [t("reviewed.folded", { count: folded })])
  ]
  return facts.length === 0 ? null : <p className="quiet">{facts.join(" · ")}</p>
}

const runStep = (run: StoryRun): Step => ({
  key: `r${run.id}`,
  at: run.created_at,
  kind: t("record.run"),
  content: (
    <>
      <div className="step-line">
        <Link to="/runs/$id" params={{ id: run.id }}>
          {t("change.review", { count: run.findings ?? "–" })}
        </Link>
        <RunStatus {...run} />
        <Commit id={run.head} />
        <span className="quiet">{formatDuration(run.duration_ms)}</span>
        {run.cost_usd === null ? null : <span className="quiet">{formatUsd(run.cost_usd)}</span>}
      </div>
      <RoundFacts run={run} />
      {run.reason === undefined ? null : <p className="error-text">{tReason(run.reason)}</p>}
      {run.conclusion === undefined ? null : <p className="quiet">{tReason(run.conclusion)}</p>}
      <Publications run={run} />
    </>
  )
})

const entryStep = (entry: StoryEntry): Step => ({
  key: `e${entry.id}`,
  at: entry.admitted_at,
  kind: t("record.entry"),
  content: (
    <div className="step-line">
      <Status group="entry" value={entry.status} />
      <span className="quiet">{tReason(entry.why)}</span>
      {entry.until === undefined ? null : <Time at={entry.until} />}
    </div>
  )
})

type ChangeFinding = Story["findings"][number]

/** Names a finding: one that only maintainers got has no title and no path. */
const titleOf = ({ number, private: digest, title }: ChangeFinding): string => {
  if (digest !== undefined) return t("run.private", { count: digest.slice(0, 12) })
  return number === undefined ? title : `${number}. ${title}`
}

const FindingRow = ({ finding }: { readonly finding: ChangeFinding }) => (
  <li>
    <Status group="finding" value={finding.outcome} />
    <div>
      <ExternalLink href={finding.url}>{titleOf(finding)}</ExternalLink>{" "}
      <span className="quiet">
        {tValue("severity", finding.severity)} · <span className="mono">{finding.path}</span>
        {finding.replied ? ` · ${t("finding.replied")}` : ""}
      </span>
    </div>
    <Link to="/runs/$id" params={{ id: finding.found_in }}>
      {t("finding.since")}
    </Link>
  </li>
)

/** The commit status that holds the change, and its findings over all heads: open ones first. */
const ChangeState = ({ story: { findings, status } }: { readonly story: Story }) => {
  if (status === undefined && findings.length === 0) return null
  const byState = Map.groupBy(findings, ({ outcome }) => outcome)
  const shown = [...(byState.get("open") ?? []), ...findings.filter(({ outcome }) => outcome !== "open")]
  const counts = [...byState].map(([state, some]) => `${tValue("finding", state)}: ${formatCount(some.length)}`)
  return (
    <Panel title={t("change.findings", { count: findings.length })} note={counts.join(" · ")} flush>
      <ul className="rows">
        {status === undefined ? null : (
          <li>
            <Status group="gate" value={status.state} />
            <div>
              {t("change.gate")} <Commit id={status.head} />{" "}
              <span className="quiet">{tReason(status.description)}</span>
            </div>
            <Link to="/runs/$id" params={{ id: status.run_id }}>
              {t("record.run")}
            </Link>
          </li>
        )}
        {shown.map((finding) => (
          <FindingRow key={`${finding.fingerprint} ${finding.found_in}`} finding={finding} />
        ))}
      </ul>
    </Panel>
  )
}

/** Entries that run or have ended are visible as runs, which do not say that they wait for their model. */
const stepsOf = ({ deliveries, entries, runs }: Story): ReadonlyArray<Step> => {
  const { own, single } = separateOwn(deliveries)
  return [
    ...single.map(deliveryStep),
    ...own.map(ownStep),
    ...entries
      .filter(
        ({ status, why }) =>
          status === "waiting" || status === "ready" || status === "dead" || why._tag === "AwaitsModel"
      )
      .map(entryStep),
    ...runs.map(runStep)
  ].toSorted((a, b) => b.at.localeCompare(a.at))
}

const hourMillis = 3_600_000

/** Deliveries that were refused before their repository was read may be those of this change. Counts are per hour. */
const WrongSignatures = () => {
  const since = new Date(Math.floor(useNow() / hourMillis) * hourMillis - hourMillis).toISOString()
  const count = countRejected(useApi("GET /rejected-signatures", { query: { since } }).data?.items ?? [])
  return count === 0 ? null : <p className="error-text">{t("change.signatures", { count: formatCount(count) })}</p>
}

export const Change = () => {
  const { number, repo } = useSearch({ from: "/change" })
  const query = useApi("GET /story", { query: { repo, number: toCount(number) ?? 1 } })
  return (
    <Loaded query={query} rows={8}>
      {(story) => {
        const newest = story.runs.at(-1)
        const steps = stepsOf(story)
        return (
          <Page
            title={newest?.title ?? `${repo}#${number}`}
            back={{ to: "/changes", label: "page.changes" }}
            note={
              <>
                <ExternalLink href={newest?.url}>{`${repo}#${number}`}</ExternalLink>{" "}
                {newest?.author === undefined ? null : <span>{t("change.by", { author: newest.author })}</span>}
              </>
            }
          >
            <ChangeState story={story} />
            {story.partial ? <p className="quiet">{t("change.partial")}</p> : null}
            {steps.length === 0 ? (
              <Empty title={t("change.empty")}>
                <WrongSignatures />
                {t("change.empty.help")} <Link to="/setup">{t("page.setup")}</Link>
              </Empty>
            ) : (
              <ol className="story">
                {steps.map(({ at, content, key, kind }) => (
                  <li key={key}>
                    <div className="story-at">
                      <span className="story-kind">{kind}</span>
                      <Time at={at} />
                    </div>
                    <div className="story-body">{content}</div>
                  </li>
                ))}
              </ol>
            )}
          </Page>
        )
      }}
    </Loaded>
  )
}
