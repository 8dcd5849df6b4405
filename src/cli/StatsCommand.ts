/** Implements `aicr stats`: statistics of ended runs, like `GET /api/admin/stats`. */
import { Clock, Console, Effect, Option } from "effect"
import { Command, Flag } from "effect/cli"
import { request, urlFlag } from "./AdminCall.ts"
import type { AdminClient, OpenAdmin } from "./AdminCall.ts"
import { configFlag } from "./ConfigFlag.ts"
import { parseSince } from "./EventsCommand.ts"
import { refused } from "./Exit.ts"
import { jsonFlag } from "./JsonFlag.ts"
import { formatModels, formatPeriods, formatProjects, formatWindows } from "./StatsText.ts"

const printTables = (tables: ReadonlyArray<string>) => Console.log(tables.filter((table) => table !== "").join("\n\n"))

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
  yield* tables.every((table) => table === "") ? Console.log("No runs.") : printTables(tables)
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
