/** Webhooks of a project at GitLab, with the log of their deliveries. */
import { Effect, Schema } from "effect"
import type { ForgeClient } from "../Forge.ts"
import { loggedDeliveries } from "../hosts/HostWebhook.ts"
import type { Rest } from "../http/Http.ts"
import { projectId, projectPath } from "./Paths.ts"
import { pages, refusals } from "./Facts.ts"
import { isRefused } from "../http/HostWords.ts"

const Hook = Schema.Struct({
  id: Schema.Int,
  url: Schema.String,
  merge_requests_events: Schema.optional(Schema.NullOr(Schema.Boolean)),
  push_events: Schema.optional(Schema.NullOr(Schema.Boolean)),
  note_events: Schema.optional(Schema.NullOr(Schema.Boolean)),
  /** `executable`, or disabled after failed deliveries. */
  alert_status: Schema.optional(Schema.NullOr(Schema.String))
})

/** The status of a response, or a text such as `internal error`. */
const Delivery = Schema.Struct({ response_status: Schema.String })

const events = ["merge_requests_events", "push_events", "note_events"] as const

export const gitlabWebhooks = (rest: Rest): ForgeClient["webhooks"] =>
  Effect.fnUntraced(function* (repo) {
    const params = { id: projectId(repo) }
    const hooks = yield* rest.pages({ path: `${projectPath}/hooks`, params }, Hook, pages)
    return yield* Effect.forEach(hooks, (hook) =>
      rest
        .get(
          {
            path: `${projectPath}/hooks/{hook_id}/events`,
            params: { ...params, hook_id: String(hook.id) },
            query: { per_page: loggedDeliveries }
          },
          Schema.Array(Delivery)
        )
        .pipe(
          Effect.catchIf(isRefused(refusals.noDeliveries), () => Effect.succeed([])),
          Effect.map((deliveries) => ({
            url: hook.url,
            isActive: (hook.alert_status ?? "executable") === "executable",
            events: events.filter((event) => hook[event] === true),
            deliveries: deliveries.map(({ response_status: status }) => ({
              at: undefined,
              status: /^\d{3}$/.test(status) ? Number(status) : undefined
            }))
          }))
        )
    )
  })
