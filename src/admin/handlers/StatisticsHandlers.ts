/** Handles requests about statistics. */
import { Clock, Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { totalsJson } from "../../domain/StatisticsJson.ts"
import { Outcomes } from "../../store/Outcomes.ts"
import type { FindingGrouping } from "../../store/Outcomes.ts"
import { Runs } from "../../store/Runs.ts"
import { maxSubjects, Statistics } from "../../store/Statistics.ts"
import type { BucketTotals, ModelTotals, ProjectTotals } from "../../store/Statistics.ts"
import { AdminHttpApi } from "../api/AdminHttpApi.ts"
import { pageSize } from "../api/Parameters.ts"
import { groupedView } from "../api/StatisticsGroup.ts"
import { listedOutcome } from "../api/RunRecords.ts"
import { orUnavailable } from "./Available.ts"
import { parseValueCursor, toPage } from "./Paging.ts"
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

const parseTime = (since: string | undefined): number | undefined =>
  since === undefined ? undefined : Date.parse(since)

const period = ({ since }: { readonly since?: string }) => ({ since: parseTime(since), limit: maxSubjects })

const timeline = Effect.fnUntraced(function* (query: { readonly bucket?: "hour" | "day"; readonly since?: string }) {
  const now = yield* Clock.currentTimeMillis
  const { timeline: list } = yield* Statistics
  return (yield* list(query.bucket ?? "day", parseTime(query.since), now)).map(bucketView)
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

const findings = Effect.fnUntraced(function* (query: {
  readonly by: FindingGrouping
  readonly since?: string
  readonly until?: string
}) {
  const until = parseTime(query.until) ?? (yield* Clock.currentTimeMillis)
  const since = Math.min(parseTime(query.since) ?? until - defaultPeriodMillis, until)
  const found = yield* Outcomes.use(({ groups }) => groups({ by: query.by, since, until }))
  return { since: toTime(since), until: toTime(until), items: found.map(groupedView) }
})

export const layer = HttpApiBuilder.group(AdminHttpApi, "statistics", (handlers) =>
  handlers.handleAll({
    summary: () => orUnavailable(readSummary),
    projects: ({ query }) =>
      Statistics.use(({ projects }) => projects(period(query))).pipe(
        Effect.map((found) => found.map(projectView)),
        orUnavailable
      ),
    providers: ({ query }) =>
      Statistics.use(({ models }) => models(period(query))).pipe(
        Effect.map((found) => found.map(modelView)),
        orUnavailable
      ),
    findings: ({ query }) => orUnavailable(findings(query)),
    outcomes: ({ query }) => outcomes(query),
    timeline: ({ query }) => orUnavailable(timeline(query))
  })
)
