/** Implements `aicr events`: lists deliveries with their decisions, filtered like `GET /api/admin/events`. */
import { Clock, Console, Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import type { DeliveryRecord } from "../admin/api/EventRecords.ts"
import { EventDecision } from "../domain/Decision.ts"
import { given, request, urlFlag } from "./AdminCall.ts"
import type { AdminClient, OpenAdmin } from "./AdminCall.ts"
import { configFlag } from "./ConfigFlag.ts"
import { formatDelivery } from "./DeliveryText.ts"
import { refused } from "./Exit.ts"
import { jsonFlag } from "./JsonFlag.ts"
import { count, oneLine, second } from "./Wording.ts"

const units = { m: 60_000, h: 3_600_000, d: 86_400_000 } as const

/** Parses a time in ISO 8601, or a duration before now such as `90m`, `24h` or `7d`. */
export const parseSince = (text: string, now: number): string | undefined => {
  const [, amount, unit] = /^(\d{1,6})([mhd])$/.exec(text) ?? []
  if (unit === "m" || unit === "h" || unit === "d") return new Date(now - Number(amount) * units[unit]).toISOString()
  const millis = /^\d{4}-\d{2}-\d{2}/.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(millis) ? undefined : new Date(millis).toISOString()
}

/** Prints the counts of deliveries with a wrong signature. */
const printRejected = Effect.fnUntraced(function* ({ events }: AdminClient, since: string | undefined, json: boolean) {
  const { items } = yield* request(events.rejectedSignatures({ query: since === undefined ? {} : { since } }))
  if (json) return yield* Console.log(JSON.stringify({ rejected_signatures: items }, null, 2))
  for (const { addresses, hour, last_at, provider, trigger } of items) {
    const counts = Object.entries(addresses).flatMap(([name, deliveries]) =>
      deliveries === 0 ? [] : `${deliveries} from ${name} addresses`
    )
    yield* Console.log(`${second(hour)}  ${provider}  ${trigger}  ${counts.join(", ")}, last at ${second(last_at)}`)
  }
  if (items.length === 0) yield* Console.log("No rejected signatures.")
})

type Filters = Omit<NonNullable<Parameters<AdminClient["events"]["list"]>[0]>["query"], "cursor" | "limit">

const readEvents = Effect.fnUntraced(function* ({ events }: AdminClient, filters: Filters, limit: number) {
  const items: Array<DeliveryRecord> = []
  let cursor: string | undefined
  do {
    const paging = { limit: Math.min(200, limit - items.length), ...(cursor === undefined ? {} : { cursor }) }
    const page = yield* request(events.list({ query: { ...filters, ...paging } }))
    items.push(...page.items)
    cursor = page.next_cursor ?? undefined
  } while (cursor !== undefined && items.length < limit)
  return items
})

const text = (name: string, description: string) =>
  Flag.String(name).pipe(Flag.withDescription(description), Flag.optional)

type Runs = Effect.Effect<{ readonly openAdmin: OpenAdmin }>

const eventId = Argument.String("ID").pipe(Argument.withDescription("Id of a delivery"))

const payloadCommand = (runs: Runs) =>
  Command.make(
    "payload",
    { config: configFlag, url: urlFlag, json: jsonFlag, id: eventId },
    Effect.fnUntraced(function* ({ config, id, json, url }) {
      const { openAdmin } = yield* runs
      const payload = yield* openAdmin({ config, url, use: "records" }, ({ events }) =>
        request(events.payload({ params: { id } }))
      )
      if (json) return yield* Console.log(JSON.stringify(payload, null, 2))
      const lines = Object.entries(payload.headers).map(([name, value]) => `${name}: ${oneLine(value)}`)
      yield* Console.log([...lines, "", oneLine(payload.body)].join("\n"))
      if (payload.cut) yield* Console.error(`Only the beginning of ${count(payload.bytes, "byte")} is kept.`)
    })
  ).pipe(
    Command.withDescription("Print headers and body of a delivery, without credentials"),
    Command.withExamples([
      { command: "aicr events payload 01a20ee5-7f77-7002-9f13-60b2a17c0f31", description: "As the host sent it" }
    ])
  )

const replayCommand = (runs: Runs) =>
  Command.make(
    "replay",
    { config: configFlag, url: urlFlag, json: jsonFlag, id: eventId },
    Effect.fnUntraced(function* ({ config, id, json, url }) {
      const { openAdmin } = yield* runs
      const replay = yield* openAdmin({ config, url, use: "changing" }, ({ events }) =>
        request(events.replay({ params: { id } }))
      )
      if (json) return yield* Console.log(JSON.stringify(replay, null, 2))
      const reason = replay.reason === undefined ? "" : ` (${oneLine(replay.reason)})`
      yield* Console.log(`Delivery ${id} repeated as ${replay.event_id}: ${replay.decision}${reason}`)
    })
  ).pipe(
    Command.withDescription(
      "Process the stored body of a delivery again, with the current configuration, as a new delivery"
    ),
    Command.withExamples([
      {
        command: "aicr events replay 01a20ee5-7f77-7002-9f13-60b2a17c0f31",
        description: "After the configuration was corrected"
      }
    ])
  )

export const eventsCommand = (runs: Effect.Effect<{ readonly openAdmin: OpenAdmin }>) =>
  Command.make(
    "events",
    {
      config: configFlag,
      url: urlFlag,
      json: jsonFlag,
      repo: text("repo", "Repository, as OWNER/NAME"),
      number: Flag.Int("number").pipe(Flag.withDescription("Number of a pull request or issue"), Flag.optional),
      reason: text("reason", "Reason, such as draft"),
      decision: Flag.Literals("decision", EventDecision.literals).pipe(Flag.withDescription("Decision"), Flag.optional),
      workspace: text("workspace", "Workspace").pipe(Flag.withAlias("w")),
      since: text("since", "Time in ISO 8601, or a duration before now such as 90m, 24h or 7d"),
      rejectedSignatures: Flag.Boolean("rejected-signatures").pipe(
        Flag.withDefault(false),
        Flag.withDescription(
          "Count deliveries with a wrong signature per trigger and hour. Default of --since: a week ago"
        )
      ),
      limit: Flag.Int("limit").pipe(Flag.withDescription("Maximum number of deliveries"), Flag.withDefault(50))
    },
    Effect.fnUntraced(function* ({ config, json, limit, rejectedSignatures, since, url, ...options }) {
      const { openAdmin } = yield* runs
      const now = yield* Clock.currentTimeMillis
      const from = Option.isSome(since) ? parseSince(since.value, now) : undefined
      if (Option.isSome(since) && from === undefined) {
        return yield* refused(
          "--since: expected a time such as 2026-03-04T12:00:00Z, or a duration such as 90m, 24h or 7d"
        )
      }
      if (rejectedSignatures)
        return yield* openAdmin({ config, url, use: "records" }, (client) => printRejected(client, from, json))
      if (limit < 1 || limit > 10_000) return yield* refused("--limit: expected 1 to 10000")
      const filters = { ...given(options), ...(from === undefined ? {} : { since: from }) }
      const items = yield* openAdmin({ config, url, use: "records" }, (client) => readEvents(client, filters, limit))
      if (json) return yield* Console.log(JSON.stringify({ events: items }, null, 2))
      for (const item of items) yield* Console.log(formatDelivery(item))
      if (items.length === 0) yield* Console.log("No deliveries.")
    })
  ).pipe(
    Command.withSubcommands([payloadCommand(runs), replayCommand(runs)]),
    Command.withDescription("List deliveries, newest first, with their decisions"),
    Command.withExamples([
      { command: "aicr events --repo team/app --number 5", description: "Deliveries about one pull request" },
      { command: "aicr events --reason repository_not_configured --since 24h", description: "Why nothing happened" }
    ])
  )
