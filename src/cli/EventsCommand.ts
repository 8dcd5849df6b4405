/** Implements `aicr events`: lists deliveries with their decisions, filtered like `GET /api/admin/events`. */
import { Clock, Console, Effect, Option, Schema } from "effect"
import { Command, Flag } from "effect/cli"
import { request, urlFlag } from "./AdminCall.ts"
import type { OpenAdmin, SendCall } from "./AdminCall.ts"
import { configFlag } from "./ConfigFlag.ts"
import { DeliveryItem, formatDelivery } from "./DeliveryText.ts"
import { refused } from "./Exit.ts"
import { jsonFlag } from "./JsonFlag.ts"
import { second } from "./Wording.ts"

const EventPage = Schema.Struct({ items: Schema.Array(DeliveryItem), next_cursor: Schema.NullOr(Schema.String) })

const units = { m: 60_000, h: 3_600_000, d: 86_400_000 } as const

/** Parses a time in ISO 8601, or a duration before now such as `90m`, `24h` or `7d`. */
export const parseSince = (text: string, now: number): string | undefined => {
  const [, amount, unit] = /^(\d{1,6})([mhd])$/.exec(text) ?? []
  if (unit === "m" || unit === "h" || unit === "d") return new Date(now - Number(amount) * units[unit]).toISOString()
  const millis = /^\d{4}-\d{2}-\d{2}/.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(millis) ? undefined : new Date(millis).toISOString()
}

const RejectedPage = Schema.Struct({
  items: Schema.Array(
    Schema.Struct({
      provider: Schema.String,
      trigger: Schema.String,
      addresses: Schema.String,
      count: Schema.Int,
      last_at: Schema.String
    })
  )
})

/** Prints the counts of deliveries with a wrong signature. They are in the memory of the service. */
const printRejected = Effect.fnUntraced(function* (send: SendCall, json: boolean) {
  const { body, value } = yield* request(send, RejectedPage, { method: "GET", path: "/rejected-signatures" })
  if (json) return yield* Console.log(JSON.stringify({ rejected_signatures: body["items"] }, null, 2))
  for (const { addresses, count, last_at, provider, trigger } of value.items) {
    yield* Console.log(`${second(last_at)}  ${provider}  ${trigger}  ${count} from ${addresses} addresses`)
  }
  if (value.items.length === 0) yield* Console.log("No rejected signatures since the start of the service.")
})

type Filters = Readonly<Record<string, string | number | undefined>>

const readEvents = Effect.fnUntraced(function* (send: SendCall, filters: Filters, limit: number) {
  const items: Array<DeliveryItem> = []
  const raw: Array<unknown> = []
  let cursor: string | undefined
  do {
    const query = { ...filters, cursor, limit: Math.min(200, limit - items.length) }
    const { body, value } = yield* request(send, EventPage, { method: "GET", path: "/events", query })
    items.push(...value.items)
    if (Array.isArray(body["items"])) raw.push(...body["items"])
    cursor = value.next_cursor ?? undefined
  } while (cursor !== undefined && items.length < limit)
  return { items, raw }
})

const text = (name: string, description: string) =>
  Flag.String(name).pipe(Flag.withDescription(description), Flag.optional)

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
      decision: text("decision", "Decision: queued, deferred, coalesced, ignored or rejected"),
      workspace: text("workspace", "Workspace").pipe(Flag.withAlias("w")),
      since: text("since", "Time in ISO 8601, or a duration before now such as 90m, 24h or 7d"),
      rejectedSignatures: Flag.Boolean("rejected-signatures").pipe(
        Flag.withDefault(false),
        Flag.withDescription("Count deliveries with a wrong signature instead, by trigger")
      ),
      limit: Flag.Int("limit").pipe(Flag.withDescription("Maximum number of deliveries"), Flag.withDefault(50))
    },
    Effect.fnUntraced(function* ({ config, json, limit, rejectedSignatures, since, url, ...given }) {
      const { openAdmin } = yield* runs
      if (rejectedSignatures)
        return yield* openAdmin({ config, url, use: "records" }, (send) => printRejected(send, json))
      const now = yield* Clock.currentTimeMillis
      const from = Option.isSome(since) ? parseSince(since.value, now) : undefined
      if (Option.isSome(since) && from === undefined) {
        return yield* refused(
          "--since: expected a time such as 2026-03-04T12:00:00Z, or a duration such as 90m, 24h or 7d"
        )
      }
      if (limit < 1 || limit > 10_000) return yield* refused("--limit: expected 1 to 10000")
      const filters = {
        repo: Option.getOrUndefined(given.repo),
        number: Option.getOrUndefined(given.number),
        reason: Option.getOrUndefined(given.reason),
        decision: Option.getOrUndefined(given.decision),
        workspace: Option.getOrUndefined(given.workspace),
        since: from
      }
      const { items, raw } = yield* openAdmin({ config, url, use: "records" }, (send) =>
        readEvents(send, filters, limit)
      )
      if (json) return yield* Console.log(JSON.stringify({ events: raw }, null, 2))
      for (const item of items) yield* Console.log(formatDelivery(item))
      if (items.length === 0) yield* Console.log("No deliveries.")
    })
  ).pipe(
    Command.withDescription("List deliveries, newest first, with their decisions"),
    Command.withExamples([
      { command: "aicr events --repo team/app --number 5", description: "Deliveries about one pull request" },
      { command: "aicr events --reason repository_not_configured --since 24h", description: "Why nothing happened" }
    ])
  )
