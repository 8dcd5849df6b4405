/** Handles requests about statistics. */
import { Clock, Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { ConfigStore } from "../../config/ConfigStore.ts"
import { totalsJson } from "../../domain/StatisticsJson.ts"
import { Outcomes } from "../../store/Outcomes.ts"
import type { FindingGrouping } from "../../store/Outcomes.ts"
import { Runs } from "../../store/Runs.ts"
import { maxSubjects, Statistics } from "../../store/Statistics.ts"
import type { BucketTotals, ModelTotals, PeriodScope, ProjectTotals } from "../../store/Statistics.ts"
import { AdminHttpApi } from "../api/AdminHttpApi.ts"
import { pageSize } from "../api/Parameters.ts"
import { conflict, invalid } from "../api/Problems.ts"
import { groupedView } from "../api/StatisticsGroup.ts"
import { listedOutcome } from "../api/RunRecords.ts"
import { orUnavailable } from "./Available.ts"
import { parseTime, parseValueCursor, toPage } from "./Paging.ts"
import { runView } from "../views/RunViews.ts"
import { maybeTime, toTime } from "../views/Views.ts"

/** Number of projects and of models in the summary, and of its runs. */
const listed = 100
const recentRuns = 20

const projectView = ({ project, ...totals }: ProjectTotals) => ({
  id: project.id,
  workspace: project.workspace,
  trigger: project.trigger,
  repository: project.repository,
  team: project.team ?? null,
  last_run_at: toTime(project.lastRunAt),
  deleted_at: maybeTime(project.deletedAt) ?? null,
  ...totalsJson(totals)
})

const modelView = ({ model, ...totals }: ModelTotals) => {
  const at = model.indexOf("/")
  return { provider: model.slice(0, Math.max(0, at)), model: model.slice(at + 1), ...totalsJson(totals) }
}

const bucketView = ({ startAt, ...totals }: BucketTotals) => ({ start: toTime(startAt), ...totalsJson(totals) })

/** Reads the response of `GET /stats`. */
export const readSummary = Effect.gen(function* () {
  const statistics = yield* Statistics
  const now = yield* Clock.currentTimeMillis
  const [windows, projects, models, runs] = yield* Effect.all(
    [
      statistics.windows(now),
      statistics.projects({ limit: listed }),
      statistics.models({ limit: listed }),
      Runs.use(({ list }) => list({ limit: recentRuns }))
    ],
    { concurrency: 4 }
  )
  const { all, month, today, week } = windows
  return {
    generated_at: toTime(now),
    timezone: "UTC" as const,
    windows: { all: totalsJson(all), today: totalsJson(today), week: totalsJson(week), month: totalsJson(month) },
    projects: projects.map(projectView),
    providers: models.map(modelView),
    recent_runs: runs.map(runView)
  }
})

const period = ({ since }: { readonly since?: string }) => ({ since: parseTime(since), limit: maxSubjects })

const periods = Effect.fnUntraced(function* (query: {
  readonly by: PeriodScope
  readonly since?: string
  readonly until?: string
}) {
  const until = parseTime(query.until) ?? (yield* Clock.currentTimeMillis)
  const since = query.since === undefined ? undefined : Math.min(Date.parse(query.since), until)
  const found = yield* Statistics.use((statistics) => statistics.periods({ by: query.by, since, until }))
  return found.map(({ before, name, ...totals }) => ({
    name,
    ...totalsJson(totals),
    before: before === undefined ? null : totalsJson(before)
  }))
})

const timeline = Effect.fnUntraced(function* (query: {
  readonly bucket?: "hour" | "day"
  readonly since?: string
  readonly team?: string
}) {
  if (query.bucket === "hour" && query.team !== undefined) return yield* invalid("bucket", { _tag: "TeamByDay" })
  const now = yield* Clock.currentTimeMillis
  const { timeline: list } = yield* Statistics
  return (yield* orUnavailable(list(query.bucket ?? "day", parseTime(query.since), now, query.team))).map(bucketView)
})

const outcomes = Effect.fnUntraced(function* (query: {
  readonly cursor?: string
  readonly limit?: number
  readonly since?: string
}) {
  const cursor = query.cursor === undefined ? undefined : yield* parseValueCursor(query.cursor)
  const found = yield* Outcomes.use(({ list }) =>
    list({
      since: parseTime(query.since) ?? 0,
      after: cursor && { targetKey: cursor.value, fingerprint: cursor.id },
      limit: pageSize(query) + 1
    })
  ).pipe(orUnavailable)
  const named = found.map((one) => ({ ...one, id: one.fingerprint }))
  return toPage(named, query, listedOutcome.view, ({ targetKey }) => targetKey)
})

/** Length of the period unless the request names its beginning. */
const defaultPeriodMillis = 30 * 86_400_000

interface FoundPeriod {
  readonly since?: string
  readonly until?: string
}

/** Counts the findings of a period. */
const countFound = Effect.fnUntraced(function* (
  query: FoundPeriod,
  read: (
    period: { readonly since: number; readonly until: number },
    store: Outcomes["Service"]
  ) => ReturnType<Outcomes["Service"]["groups"]>
) {
  const until = parseTime(query.until) ?? (yield* Clock.currentTimeMillis)
  const since = Math.min(parseTime(query.since) ?? until - defaultPeriodMillis, until)
  const found = yield* orUnavailable(read({ since, until }, yield* Outcomes))
  return { since: toTime(since), until: toTime(until), items: found.map(groupedView) }
})

const findings = ({ by, team, ...query }: FoundPeriod & { readonly by: FindingGrouping; readonly team?: string }) =>
  countFound(query, (within, { groups }) => groups({ by, team, ...within }))

const authors = Effect.fnUntraced(function* (query: FoundPeriod) {
  if (!(yield* ConfigStore).current().document.admin.figures_by_author)
    return yield* conflict("figures_off", { _tag: "FiguresByAuthorOff" })
  return yield* countFound(query, (within, store) => store.authors(within))
})

export const layer = HttpApiBuilder.group(AdminHttpApi, "statistics", (handlers) =>
  handlers.handleAll({
    summary: () => orUnavailable(readSummary),
    projects: ({ query }) =>
      Statistics.use(({ projects }) => projects({ ...period(query), team: query.team })).pipe(
        Effect.map((found) => found.map(projectView)),
        orUnavailable
      ),
    providers: ({ query }) =>
      Statistics.use(({ models }) => models(period(query))).pipe(
        Effect.map((found) => found.map(modelView)),
        orUnavailable
      ),
    periods: ({ query }) => orUnavailable(periods(query)),
    findings: ({ query }) => findings(query),
    authors: ({ query }) => authors(query),
    outcomes: ({ query }) => outcomes(query),
    timeline: ({ query }) => timeline(query)
  })
)
