/** One run: its steps from the delivery to each publication, problems beside their code, coverage, models and cost. */
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router"
import { useState } from "react"
import { send, toRequest } from "../client/Call.ts"
import type { Output } from "../client/Endpoints.ts"
import { Problem, toRecord } from "../client/Problem.ts"
import { useApi } from "../client/Queries.ts"
import { ActionButton } from "../parts/ActionButton.tsx"
import { Confirm, Dialog } from "../parts/Dialog.tsx"
import { Copy, ExternalLink, Facts } from "../parts/Facts.tsx"
import { useNoticedAction } from "../parts/NoticedAction.ts"
import { notifyError } from "../parts/Notices.tsx"
import { Page } from "../parts/Page.tsx"
import { Empty, Loaded, Panel } from "../parts/Panel.tsx"
import { ChangeLink, changeName, Commit, RunStatus } from "../parts/Records.tsx"
import { Prose } from "../parts/Prose.tsx"
import { saveFile } from "../parts/SaveFile.ts"
import { StackedTable } from "../parts/StackedTable.tsx"
import { Shape, Status } from "../parts/Status.tsx"
import { Time } from "../parts/Time.tsx"
import { formatDuration } from "../text/FormatDuration.ts"
import { formatCount, formatUsd } from "../text/Format.ts"
import "../text/PagedTexts.ts"
import { t, tReason, tValue } from "../text/T.ts"
import type { RunDetails } from "./RunDetails.ts"
import { RunCalls } from "./RunCalls.tsx"
import { RunCoverage } from "./RunCoverage.tsx"
import { RunFindings } from "./RunFindings.tsx"
import { RunLog } from "./RunLog.tsx"
import { isEnded } from "./RunStates.ts"
import { RunTimeline } from "./RunTimeline.tsx"
import { RunWithheld } from "./RunWithheld.tsx"
import { summaryText } from "../../domain/SummaryText.ts"

const CancelRun = ({ id, onClose }: { readonly id: string; readonly onClose: () => void }) => {
  const cancel = useNoticedAction("POST /runs/:id/cancel", ["GET /runs/:id", "GET /runs", "GET /queue"])
  const confirm = () =>
    cancel.run({ params: { id } }, ({ status }) => t(`run.cancel.${status}`), { onSettled: onClose })
  return (
    <Confirm
      title={t("run.cancel")}
      label={t("run.cancel")}
      isDangerous
      isPending={cancel.isPending}
      onConfirm={confirm}
      onClose={onClose}
    >
      <p>{t("run.cancel.help")}</p>
    </Confirm>
  )
}

const RunActions = ({ run }: { readonly run: RunDetails }) => {
  const [isCancelling, setCancelling] = useState(false)
  const navigate = useNavigate()
  const again = useNoticedAction("POST /runs/:id/rereview", ["GET /runs", "GET /queue", "GET /events"])
  const review = () =>
    again.run({ params: { id: run.id } }, ({ status }) => t("run.again.done", { status: tValue("decision", status) }), {
      onSuccess: ({ event_id: id }) => void navigate({ to: "/deliveries/$id", params: { id } })
    })
  const [shared, setShared] = useState<Output<"POST /runs/:id/link">>()
  const link = useNoticedAction("POST /runs/:id/link")
  const share = () => link.run({ params: { id: run.id } }, () => t("run.share"), { onSuccess: setShared })
  return (
    <>
      {run.previous === undefined ? null : (
        <Link to="/runs/$id/compare" params={{ id: run.id }} className="button">
          {t("run.compare")}
        </Link>
      )}
      {run.status === "succeeded" ? (
        <ActionButton action="POST /runs/:id/link" onClick={share} disabled={link.isPending}>
          {t("run.share")}
        </ActionButton>
      ) : null}
      <ActionButton action="POST /runs/:id/rereview" onClick={review} disabled={again.isPending}>
        {t("run.again")}
      </ActionButton>
      {isEnded(run.status) ? null : (
        <ActionButton action="POST /runs/:id/cancel" className="danger" onClick={() => setCancelling(true)}>
          {t("run.cancel")}
        </ActionButton>
      )}
      {shared === undefined ? null : (
        <Dialog title={t("run.share")} onClose={() => setShared(undefined)}>
          <p>
            {t("tokens.column.expires")} <Time at={shared.expires_at} />
          </p>
          <Copy value={shared.url} />
        </Dialog>
      )}
      {isCancelling ? <CancelRun id={run.id} onClose={() => setCancelling(false)} /> : null}
    </>
  )
}

const RunFacts = ({ run }: { readonly run: RunDetails }) => (
  <Facts
    items={[
      [t("column.status"), <RunStatus key="status" {...run} />],
      [t("column.change"), <ChangeLink key="change" change={run} />],
      [t("column.author"), run.author],
      [t("column.workspace"), run.workspace],
      run.head !== undefined && [t("column.commit"), <Commit key="head" id={run.head} />],
      run.base !== undefined && [t("run.base"), <Commit key="base" id={run.base} />],
      run.round !== undefined && [t("run.round"), formatCount(run.round)],
      [t("column.started"), <Time key="started" at={run.started_at ?? run.created_at} />],
      [t("column.duration"), formatDuration(run.duration_ms)],
      run.waiting_until !== undefined && [t("run.waiting"), <Time key="waiting" at={run.waiting_until} />],
      [t("column.cost"), formatUsd(run.cost_usd)],
      [t("run.id"), <Copy key="id" value={run.id} />],
      [t("delivery.config"), <code key="config">{run.config_hash.slice(0, 12)}</code>]
    ]}
  />
)

/** Earlier reviews that read files of this one, and the pull requests of a merge group. */
const Basis = ({ run: { carried = [], members = [] } }: { readonly run: RunDetails }) =>
  carried.length + members.length === 0 ? null : (
    <ul>
      {carried.map(({ files, models, run_id: id }) => (
        <li key={id}>
          <Link to="/runs/$id" params={{ id }}>
            {t("run.carried", { count: files })}
          </Link>{" "}
          <span className="mono">{models.join(", ")}</span>
        </li>
      ))}
      {members.map(({ number, run: id, state }) => (
        <li key={number}>
          {id === undefined ? (
            `#${number}`
          ) : (
            <Link to="/runs/$id" params={{ id }}>
              #{number}
            </Link>
          )}{" "}
          {state === undefined ? null : <Status group="gate" value={state} />}
        </li>
      ))}
    </ul>
  )

const Models = ({ run }: { readonly run: RunDetails }) => {
  if (run.models_used.length === 0 && run.carried !== undefined) return null
  if (run.models_used.length === 0)
    return <Empty title={t(isEnded(run.status) ? "run.models.empty" : "run.models.pending")} />
  return (
    <StackedTable
      label={t("run.models")}
      heads={[
        { label: t("column.model") },
        ...(["requests", "input", "cached", "output", "cost"] as const).map((name) => ({
          label: t(`column.${name}`),
          end: true
        }))
      ]}
      rows={run.models_used.map((model) => (
        <tr key={model.model}>
          <td className="mono">{model.model}</td>
          <td className="end">{formatCount(model.requests)}</td>
          <td className="end">{formatCount(model.input_tokens)}</td>
          <td className="end">{formatCount(model.cached_tokens)}</td>
          <td className="end">{formatCount(model.output_tokens)}</td>
          <td className="end">{formatUsd(model.cost_usd)}</td>
        </tr>
      ))}
    />
  )
}

interface Stated {
  readonly run: string
  /** The head of the run, if its details may be removed. */
  readonly head?: string | undefined
}

/** Saves the statement byte by byte, because its signature covers every one. */
const saveStatement = async ({ head, run }: Stated): Promise<void> => {
  const [method, url] = toRequest("GET /verdicts/statement", { query: { run, head } })
  const response = await send(url, { method })
  if (!response.ok) throw new Problem(response.status, toRecord(await response.json()))
  saveFile(`statement-${run}.json`, await response.blob())
}

const StatementDownload = (stated: Stated) => (
  <button type="button" className="small" id="statement" onClick={() => void saveStatement(stated).catch(notifyError)}>
    {t("run.statement.download")}
  </button>
)

/** The statement of a run whose details are removed, to which its summary still links. */
const RemainingStatement = (stated: Stated) => (
  <Page title={t("operation.Statement")} back={{ to: "/runs", label: "page.runs" }}>
    <Empty title={t("run.removed")}>{t("run.removed.help")}</Empty>
    <StatementDownload {...stated} />
  </Page>
)

const Publications = ({ run }: { readonly run: RunDetails }) => {
  if (run.publications.length === 0)
    return <Empty title={t("run.publications.empty")}>{t("run.publications.empty.help")}</Empty>
  return (
    <ul className="rows">
      {run.publications.map(
        ({ attempts, channel, comments, error, id, not_before: next, operation, status, updated_at: at, url }) => (
          <li key={id}>
            <Status group="publication" value={status} />
            <div>
              <ExternalLink href={url}>
                {tValue("operation", comments !== undefined && operation === "Summary" ? "Review" : operation)}
              </ExternalLink>{" "}
              <span className="quiet">{channel}</span>
              {comments === undefined ? null : <p className="quiet">{t("run.comments", { count: comments })}</p>}
              {operation === "Statement" && status === "sent" ? <StatementDownload run={run.id} /> : null}
              {error === undefined ? null : (
                <p className={status === "nothing_to_do" ? "quiet" : "error-text"}>{tReason(error)}</p>
              )}
              {attempts === 0 ? null : (
                <p className="quiet">
                  {t("run.attempts", { count: attempts })} {next === undefined ? null : <Time at={next} />}
                </p>
              )}
            </div>
            <Time at={at} />
          </li>
        )
      )}
    </ul>
  )
}

/** Why the run ended as it did or is not further yet. */
const Reason = ({ run }: { readonly run: RunDetails }) => {
  const reason = run.reason
  if (reason === undefined && run.notices.length === 0) return null
  const isBad = run.status === "failed" || run.status === "timeout"
  return (
    <div className={`verdict tone-${isBad ? "bad" : "warn"}`}>
      <Shape tone={isBad ? "bad" : "warn"} />
      <div>
        {reason === undefined ? null : <p className="verdict-title">{tReason(reason)}</p>}
        {reason?._tag === "QueuedTimeout" ? <p>{t("why.queued_timeout")}</p> : null}
        {run.notices.map((notice, index) => (
          <p key={index}>{tReason(notice)}</p>
        ))}
      </div>
    </div>
  )
}

export const Run = () => {
  const { id } = useParams({ from: "/runs/$id" })
  const { head } = useSearch({ from: "/runs/$id" })
  const query = useApi("GET /runs/:id", { params: { id } })
  const isRemoved = query.error instanceof Problem && query.error.status === 404
  if (isRemoved && head !== undefined) return <RemainingStatement run={id} head={head} />
  return (
    <Loaded query={query} rows={10}>
      {(run) => (
        <Page
          title={run.title ?? changeName(run)}
          back={{ to: "/runs", label: "page.runs" }}
          note={
            <>
              <ExternalLink href={run.url}>{changeName(run)}</ExternalLink> <RunStatus {...run} />
            </>
          }
          actions={<RunActions run={run} />}
        >
          <Reason run={run} />
          <div className="columns wide-left">
            <div className="stack">
              <RunWithheld run={run} />
              <RunFindings run={run} />
              <Panel title={t("run.timeline")}>
                <RunTimeline run={run} />
              </Panel>
              {run.skipped === undefined ? null : (
                <Panel title={t("run.skipped.why")}>
                  <Prose text={tReason(run.skipped)} />
                </Panel>
              )}
              {summaryText(run, tReason) === "" ? null : (
                <Panel title={t("run.summary")}>
                  <div className="prose">
                    <Prose text={summaryText(run, tReason)} />
                  </div>
                </Panel>
              )}
              <RunCoverage run={run} />
              <RunCalls run={run.id} />
              <RunLog run={run} />
            </div>
            <div className="stack">
              <Panel title={t("run.facts")}>
                <RunFacts run={run} />
              </Panel>
              <Panel title={t("run.publications")} flush>
                <Publications run={run} />
              </Panel>
              <Panel title={t("run.models")} flush>
                <Models run={run} />
                <Basis run={run} />
              </Panel>
            </div>
          </div>
        </Page>
      )}
    </Loaded>
  )
}
