/** Implements `aicr stats`: statistics of ended runs, like `GET /api/admin/stats`. */
import { Clock, Console, Effect, Option } from "effect"
import { Command, Flag } from "effect/cli"
import { request, urlFlag } from "./AdminCall.ts"
import type { AdminClient, OpenAdmin } from "./AdminCall.ts"
import { configFlag } from "./ConfigFlag.ts"
import { parseSince } from "./EventsCommand.ts"
import { refused } from "./Exit.ts"
import { jsonFlag } from "./JsonFlag.ts"
import type { ModelJson, PeriodJson, ProjectJson, TotalsJson, WindowsJson } from "../domain/StatisticsJson.ts"
import { columns } from "./Columns.ts"
import { oneLine } from "./Wording.ts"

/** Formats statistics as tables. */

const header = [
  "runs",
  "succeeded",
  "problems",
  "accepted",
  "tokens in",
  "tokens out",
  "cost USD",
  "USD per accepted",
  "average",
  "p95",
  "first comment p50",
  "p90"
]

const seconds = (millis: number | null): string => (millis === null ? "-" : `${(millis / 1000).toFixed(1)} s`)

/** Formats a cost: `unknown`, or the known part with the number of runs that are missing in it. */
const formatCost = ({ cost_usd, runs_of_unknown_cost }: TotalsJson): string => {
  if (cost_usd === null) return "unknown"
  const known = cost_usd.toFixed(2)
  return runs_of_unknown_cost === 0 ? known : `${known} (${runs_of_unknown_cost} unknown)`
}

const cells = (totals: TotalsJson): ReadonlyArray<string> => [
  String(totals.runs.total),
  String(totals.runs.succeeded),
  String(Object.values(totals.problems).reduce((sum, problems) => sum + problems, 0)),
  totals.findings.accepted_rate === null ? "-" : `${(totals.findings.accepted_rate * 100).toFixed(0)} %`,
  String(totals.llm.input_tokens),
  String(totals.llm.output_tokens),
  formatCost(totals),
  totals.cost_per_accepted_finding_usd?.toFixed(2) ?? "-",
  seconds(totals.duration.average_ms),
  seconds(totals.duration.p95_ms),
  seconds(totals.first_comment.p50_ms),
  seconds(totals.first_comment.p90_ms)
]

/** Formats one row per subject; empty without a subject. */
const table = (
  names: ReadonlyArray<string>,
  rows: ReadonlyArray<readonly [ReadonlyArray<string>, TotalsJson]>
): string =>
  rows.length === 0
    ? ""
    : columns([[...names, ...header], ...rows.map(([own, totals]) => [...own, ...cells(totals)])], names.length)

const formatWindows = ({ all, month, today, week }: typeof WindowsJson.Type): string =>
  table(
    ["window (UTC)"],
    [
      [["today"], today],
      [["week"], week],
      [["month"], month],
      [["all"], all]
    ]
  )

const formatProjects = (projects: ReadonlyArray<typeof ProjectJson.Type>): string =>
  table(
    ["workspace", "repository"],
    projects.map((project) => [[oneLine(project.workspace), oneLine(project.repository)], project] as const)
  )

const formatModels = (models: ReadonlyArray<typeof ModelJson.Type>): string =>
  table(
    ["provider", "model"],
    models.map((model) => [[oneLine(model.provider), oneLine(model.model)], model] as const)
  )

/** Formats two rows per team or workspace: the period, and the one before it. */
const formatPeriods = (by: string, periods: ReadonlyArray<typeof PeriodJson.Type>): string =>
  table(
    [by, "period"],
    periods.flatMap(({ before, name, ...totals }) => [
      [[oneLine(name), "this"], totals] as const,
      ...(before === null ? [] : [[["", "before"], before] as const])
    ])
  )

const printTables = (tables: ReadonlyArray<string>) => Console.log(tables.filter((text) => text !== "").join("\n\n"))

const printSummary = Effect.fnUntraced(function* ({ statistics }: AdminClient, json: boolean) {
  const found = yield* request(statistics.summary())
  if (json) return yield* Console.log(JSON.stringify(found, null, 2))
  yield* printTables([formatWindows(found.windows), formatProjects(found.projects), formatModels(found.providers)])
})

const printSince = Effect.fnUntraced(function* ({ statistics }: AdminClient, since: string, json: boolean) {
  const projects = yield* request(statistics.projects({ query: { since } }))
  const providers = yield* request(statistics.providers({ query: { since } }))
  if (json) return yield* Console.log(JSON.stringify({ since, projects, providers }, null, 2))
  const tables = [formatProjects(projects), formatModels(providers)]
  yield* tables.every((text) => text === "") ? Console.log("No runs.") : printTables(tables)
})

const groupings = ["team", "workspace"] as const

const printPeriods = Effect.fnUntraced(function* (
  { statistics }: AdminClient,
  by: (typeof groupings)[number],
  since: string | undefined,
  json: boolean
) {
  const periods = yield* request(statistics.periods({ query: { by, ...(since === undefined ? {} : { since }) } }))
  if (json) return yield* Console.log(JSON.stringify({ by, since: since ?? null, periods }, null, 2))
  yield* Console.log(periods.length === 0 ? "No runs." : formatPeriods(by, periods))
})

export const statsCommand = (runs: Effect.Effect<{ readonly openAdmin: OpenAdmin }>) =>
  Command.make(
    "stats",
    {
      config: configFlag,
      url: urlFlag,
      json: jsonFlag,
      since: Flag.String("since").pipe(
        Flag.withDescription(
          "Only projects and models since the day (UTC) of this time in ISO 8601, or of a duration before now such as 24h or 30d"
        ),
        Flag.optional
      ),
      by: Flag.Literals("by", groupings).pipe(
        Flag.withDescription(
          "Show each team or workspace instead; with --since together with the same number of days before it"
        ),
        Flag.optional
      )
    },
    Effect.fnUntraced(function* ({ by, config, json, since, url }) {
      const { openAdmin } = yield* runs
      const now = yield* Clock.currentTimeMillis
      const from = Option.isSome(since) ? parseSince(since.value, now) : undefined
      if (Option.isSome(since) && from === undefined) {
        return yield* refused("--since: expected a time such as 2026-03-04T12:00:00Z, or a duration such as 24h or 30d")
      }
      yield* openAdmin({ config, url, use: "records" }, (client) =>
        Option.isSome(by)
          ? printPeriods(client, by.value, from, json)
          : from === undefined
            ? printSummary(client, json)
            : printSince(client, from, json)
      )
    })
  ).pipe(
    Command.withDescription(
      "Show statistics of reviews: runs, problems, accepted findings, tokens, cost and durations"
    ),
    Command.withExamples([
      { command: "aicr stats", description: "All time, today, this week and this month" },
      { command: "aicr stats --since 30d --json", description: "Projects and models of the last 30 days" },
      { command: "aicr stats --by team --since 7d", description: "Teams, with the seven days before" }
    ])
  )
