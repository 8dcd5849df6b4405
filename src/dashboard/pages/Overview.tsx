/** What needs attention, what runs, what waits, and how much was done and spent. */
import { Link, useNavigate } from "@tanstack/react-router"
import type { ReactNode } from "react"
import type { Reason } from "../../domain/Reason.ts"
import { causeName, rootCause } from "../../domain/RootCause.ts"
import { useApi, usePages } from "../client/Queries.ts"
import { Chart } from "../parts/Chart.tsx"
import { Page } from "../parts/Page.tsx"
import { Empty, Loaded, Panel } from "../parts/Panel.tsx"
import { changeName, RunStatus } from "../parts/Records.tsx"
import { Time, useNow } from "../parts/Time.tsx"
import { formatDuration } from "../text/FormatDuration.ts"
import { formatClock, formatCount, formatRate, formatShort, formatUsd } from "../text/Format.ts"
import { t, tReason } from "../text/T.ts"
import { Attention } from "./Attention.tsx"
import { Budgets } from "./Budgets.tsx"
import { failedStatuses, runningStatuses } from "./RunStates.ts"
import "../text/CheckTexts.ts"

const Figure = ({
  children,
  label,
  note
}: {
  readonly label: string
  readonly children: ReactNode
  readonly note?: ReactNode
}) => (
  <div className="figure">
    <p className="figure-label">{label}</p>
    <p className="figure-value">{children}</p>
    {note === undefined ? null : <p className="quiet">{note}</p>}
  </div>
)

const Figures = () => {
  const stats = useApi("GET /stats", {})
  const queue = useApi("GET /queue", {})
  return (
    <div className="figures">
      <Loaded query={stats} rows={2}>
        {({ windows: { month, today } }) => (
          <>
            <Figure
              label={t("overview.today")}
              note={t("overview.failed", { count: formatCount(today.runs.failed + today.runs.timeout) })}
            >
              <Link to="/runs">{formatShort(today.runs.total)}</Link>
            </Figure>
            <Figure
              label={t("overview.findings")}
              note={t("overview.accepted", { rate: formatRate(month.findings.accepted_rate) })}
            >
              <Link to="/statistics">{formatShort(month.findings.published)}</Link>
            </Figure>
            <Figure label={t("overview.cost")} note={t("overview.cost.month", { cost: formatUsd(month.cost_usd) })}>
              <Link to="/runs" search={{ sort: "-cost" }}>
                {formatUsd(today.cost_usd)}
              </Link>
            </Figure>
            <Figure
              label={t("overview.duration")}
              note={t("overview.p95", { duration: formatDuration(month.duration.p95_ms) })}
            >
              {formatDuration(month.duration.average_ms)}
            </Figure>
          </>
        )}
      </Loaded>
      <Loaded query={queue} rows={1}>
        {({ by_status: { ready = 0, running = 0, waiting = 0 }, oldest_waiting_at: oldest }) => (
          <Figure
            label={t("overview.waiting")}
            note={
              oldest === null ? (
                t("overview.running", { count: running })
              ) : (
                <>
                  {t("overview.oldest")} <Time at={oldest} />
                </>
              )
            }
          >
            <Link to="/queue">{formatShort(waiting + ready)}</Link>
          </Figure>
        )}
      </Loaded>
    </div>
  )
}

interface RunRow {
  readonly id: string
  readonly repo: string
  readonly number?: number
  readonly branch?: string
  readonly head?: string
  readonly title?: string
  readonly status: string
  readonly partial: boolean
  readonly reason?: Reason
  readonly created_at: string
  readonly started_at?: string
}

/** Returns the runs by cause, the newest of each first. */
const byCause = <Row extends RunRow>(runs: ReadonlyArray<Row>): ReadonlyArray<readonly [run: Row, count: number]> =>
  [
    ...Map.groupBy(runs, ({ reason, status }) =>
      reason === undefined ? status : causeName(rootCause(reason))
    ).values()
  ].flatMap((group) => group.slice(0, 1).map((run) => [run, group.length] as const))

const RunRows = ({ runs }: { readonly runs: ReadonlyArray<readonly [run: RunRow, count: number]> }) => (
  <ul className="rows">
    {runs.map(([run, count]) => (
      <li key={run.id}>
        <RunStatus {...run} />
        <div>
          <Link to="/runs/$id" params={{ id: run.id }}>
            {changeName(run)}
          </Link>{" "}
          {count === 1 ? null : <strong>{t("overview.more", { count: formatCount(count - 1) })}</strong>}{" "}
          <span className="quiet">{run.reason === undefined ? run.title : tReason(run.reason)}</span>
        </div>
        <Time at={run.started_at ?? run.created_at} />
      </li>
    ))}
  </ul>
)

const RunPanel = ({
  empty,
  isByCause = false,
  status,
  title
}: {
  /** True: one run for each cause, with the number of the others. */
  readonly isByCause?: boolean
  readonly title: string
  readonly status: string
  readonly empty: string
}) => {
  const query = usePages("GET /runs", { query: { status } })
  return (
    <Panel
      title={title}
      flush
      actions={
        <Link to="/runs" search={status === "all" ? {} : { status }}>
          {t("action.all")}
        </Link>
      }
    >
      <Loaded
        query={{ data: query.data === undefined ? undefined : query.items, error: query.error, refetch: query.refetch }}
      >
        {(runs) =>
          runs.length === 0 ? (
            <Empty title={empty} />
          ) : (
            <RunRows runs={(isByCause ? byCause(runs) : runs.map((run) => [run, 1] as const)).slice(0, 8)} />
          )
        }
      </Loaded>
    </Panel>
  )
}

const hours = 48

const hourAfter = (at: string): string => new Date(new Date(at).getTime() + 3_600_000).toISOString()

const Throughput = () => {
  const now = useNow()
  const navigate = useNavigate()
  const query = useApi("GET /stats/timeline", {
    query: { bucket: "hour", since: new Date(Math.floor(now / 3_600_000 - hours + 1) * 3_600_000).toISOString() }
  })
  return (
    <Panel title={t("overview.throughput")} actions={<Link to="/statistics">{t("page.statistics")}</Link>}>
      <Loaded query={query} rows={4}>
        {(buckets) => (
          <Chart
            label={t("overview.throughput")}
            times={buckets.map(({ start }) => start)}
            format={formatCount}
            onSelect={(first, last) => void navigate({ to: "/runs", search: { since: first, until: hourAfter(last) } })}
            formatTime={(at) => formatClock(at).slice(0, 5)}
            series={[
              { label: t("run.succeeded"), color: "--good", values: buckets.map(({ runs }) => runs.succeeded) },
              {
                label: t("run.skipped"),
                color: "--neutral",
                values: buckets.map(({ runs }) => runs.skipped + runs.cancelled)
              },
              { label: t("run.failed"), color: "--bad", values: buckets.map(({ runs }) => runs.failed + runs.timeout) }
            ]}
          />
        )}
      </Loaded>
    </Panel>
  )
}

export const Overview = () => (
  <Page title={t("page.overview")}>
    <Attention />
    <Figures />
    <div className="columns">
      <RunPanel title={t("overview.now")} status={runningStatuses} empty={t("overview.now.empty")} />
      <RunPanel title={t("overview.failures")} status={failedStatuses} empty={t("overview.failures.empty")} isByCause />
    </div>
    <div className="columns">
      <Throughput />
      <Budgets />
    </div>
    <RunPanel title={t("overview.recent")} status="all" empty={t("runs.empty")} />
  </Page>
)
