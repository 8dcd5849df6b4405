/** Sums of ended runs by window, over time, and by team, workspace, project, provider and model. */
import { Link, useNavigate } from "@tanstack/react-router"
import { useApi } from "../client/Queries.ts"
import { Chart } from "../parts/Chart.tsx"
import { SelectFilter, useFilters } from "../parts/Filters.tsx"
import { Page } from "../parts/Page.tsx"
import { Empty, Loaded, Panel } from "../parts/Panel.tsx"
import { useNow } from "../parts/Time.tsx"
import { formatCount, formatDay, formatUsd } from "../text/Format.ts"
import { t } from "../text/T.ts"
import { AuthorGroups, FindingGroups } from "./FindingGroups.tsx"
import { MetricCard, metrics, TotalsTable } from "./Totals.tsx"

const windows = ["today", "week", "month", "all"] as const
type Window = (typeof windows)[number]

const timelineDays: Record<Window, number> = { today: 14, week: 28, month: 60, all: 365 }

/** Beginning of a window in UTC, as the API defines it. */
const startOf = (window: Window): string | undefined => {
  const now = new Date()
  const midnight = Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate())
  if (window === "today") return new Date(midnight).toISOString()
  if (window === "week") return new Date(midnight - ((now.getUTCDay() + 6) % 7) * 86_400_000).toISOString()
  if (window === "month") return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), 1)).toISOString()
  return undefined
}

const dayAfter = (at: string): string => new Date(new Date(at).getTime() + 86_400_000).toISOString()

interface PeriodProps {
  readonly window: Window
  /** Undefined: the whole instance. */
  readonly team: string | undefined
}

const Timeline = ({ team, window }: PeriodProps) => {
  const now = useNow()
  const navigate = useNavigate()
  const since = new Date(Math.floor(now / 86_400_000 - timelineDays[window] + 1) * 86_400_000).toISOString()
  const query = useApi("GET /stats/timeline", { query: { bucket: "day", since, team } })
  return (
    <Loaded query={query} rows={5}>
      {(buckets) => {
        const times = buckets.map(({ start }) => start)
        return (
          <div className="columns">
            <Panel title={t("statistics.runs")}>
              <Chart
                label={t("statistics.runs")}
                times={times}
                format={formatCount}
                formatTime={formatDay}
                onSelect={(first, last) =>
                  void navigate({ to: "/runs", search: { since: first, until: dayAfter(last) } })
                }
                series={[
                  { label: t("run.succeeded"), color: "--good", values: buckets.map(({ runs }) => runs.succeeded) },
                  {
                    label: t("run.skipped"),
                    color: "--neutral",
                    values: buckets.map(({ runs }) => runs.skipped + runs.cancelled)
                  },
                  {
                    label: t("run.failed"),
                    color: "--bad",
                    values: buckets.map(({ runs }) => runs.failed + runs.timeout)
                  }
                ]}
              />
            </Panel>
            <Panel title={t("statistics.cost")}>
              <Chart
                label={t("statistics.cost")}
                minimum={0}
                times={times}
                format={formatUsd}
                formatTime={formatDay}
                series={[
                  {
                    label: t("metric.cost"),
                    color: "--accent-soft",
                    values: buckets.map(({ cost_usd: cost }) => cost ?? 0)
                  }
                ]}
              />
            </Panel>
          </div>
        )
      }}
    </Loaded>
  )
}

/** Totals of each team or workspace. */
const Periods = ({ by, window }: { readonly by: "team" | "workspace"; readonly window: Window }) => {
  const query = useApi("GET /stats/periods", { query: { by, since: startOf(window) } })
  // Without teams there is nothing to compare.
  if (by === "team" && query.data?.length === 0) return null
  const label = by === "team" ? t("budget.team") : t("groups.workspace")
  return (
    <Panel title={label} flush>
      <Loaded query={query}>
        {(rows) =>
          rows.length === 0 ? (
            <Empty title={t("statistics.empty")} />
          ) : (
            <TotalsTable
              label={label}
              nameLabel={label}
              rows={rows}
              rowKey={({ name }) => name}
              renderName={({ name }) =>
                by === "team" ? (
                  <Link to="/statistics" search={{ window, team: name }}>
                    {name}
                  </Link>
                ) : (
                  <Link to="/runs" search={{ workspace: name }}>
                    {name}
                  </Link>
                )
              }
            />
          )
        }
      </Loaded>
    </Panel>
  )
}

const Models = ({ window }: { readonly window: Window }) => {
  const providers = useApi("GET /stats/providers", { query: { since: startOf(window) } })
  return (
    <Panel title={t("statistics.models")} flush>
      <Loaded query={providers}>
        {(rows) =>
          rows.length === 0 ? (
            <Empty title={t("statistics.empty")} />
          ) : (
            <TotalsTable
              label={t("statistics.models")}
              nameLabel={t("column.model")}
              rows={rows}
              rowKey={({ model, provider }) => `${provider}/${model}`}
              renderName={({ model, provider }) => <span className="mono">{`${provider}/${model}`}</span>}
            />
          )
        }
      </Loaded>
    </Panel>
  )
}

const Breakdown = ({ team, window }: PeriodProps) => {
  const projects = useApi("GET /stats/projects", { query: { since: startOf(window), team } })
  return (
    <>
      {/* Models and workspaces are not counted by team. */}
      {team === undefined ? <Models window={window} /> : null}
      {team === undefined ? <Periods by="workspace" window={window} /> : null}
      <Panel title={t("page.projects")} flush>
        <Loaded query={projects}>
          {(rows) =>
            rows.length === 0 ? (
              <Empty title={t("statistics.empty")} />
            ) : (
              <TotalsTable
                label={t("page.projects")}
                nameLabel={t("column.repository")}
                rows={rows.slice(0, 100)}
                rowKey={({ id }) => id}
                renderName={({ repository, workspace }) => (
                  <Link to="/runs" search={{ repo: repository, workspace }}>
                    {repository}
                  </Link>
                )}
              />
            )
          }
        </Loaded>
      </Panel>
    </>
  )
}

/** The filter by team, of all teams that had a run; absent without teams. */
const TeamFilter = () => {
  const { data = [] } = useApi("GET /stats/periods", { query: { by: "team" } })
  return data.length === 0 ? null : (
    <SelectFilter name="team" label={t("budget.team")} options={data.map(({ name }) => [name, name])} />
  )
}

export const Statistics = () => {
  const [filters, setFilters] = useFilters()
  const window = windows.find((name) => name === filters["window"]) ?? "month"
  const team = filters["team"]
  const since = startOf(window)
  const query = useApi("GET /stats/periods", { query: { by: team === undefined ? "instance" : "team", since } })
  return (
    <Page
      title={t("page.statistics")}
      note={t("statistics.note")}
      actions={
        <>
          <TeamFilter />
          <div className="presets" role="group" aria-label={t("statistics.window")}>
            {windows.map((name) => (
              <button
                type="button"
                key={name}
                aria-pressed={window === name}
                onClick={() => setFilters({ window: name })}
              >
                {t(`window.${name}`)}
              </button>
            ))}
          </div>
        </>
      }
    >
      <Loaded query={query} rows={6}>
        {(periods) => {
          const period = periods.find(({ name }) => name === (team ?? ""))
          return period === undefined ? (
            <Empty title={t("statistics.empty")} />
          ) : (
            <div className="figures">
              {metrics.map((metric) => (
                <MetricCard key={metric.label} metric={metric} totals={period} before={period.before} />
              ))}
            </div>
          )
        }}
      </Loaded>
      <Timeline window={window} team={team} />
      {team === undefined ? <Periods by="team" window={window} /> : null}
      <FindingGroups since={since} />
      {team === undefined ? <AuthorGroups since={since} /> : null}
      <Breakdown window={window} team={team} />
    </Page>
  )
}
