/** Webhooks of a repository at GitHub, with the log of their deliveries. */
import { Effect, Schema } from "effect"
import type { ForgeClient } from "../Forge.ts"
import { loggedDeliveries } from "../hosts/HostWebhook.ts"
import { ownerAndName } from "../http/Profile.ts"
import type { Access } from "./Access.ts"
import { pages } from "./Facts.ts"

const Hook = Schema.Struct({
  id: Schema.Int,
  active: Schema.Boolean,
  events: Schema.Array(Schema.String),
  config: Schema.Struct({ url: Schema.optional(Schema.String) })
})

/** A status code of 0 means that there was no response. */
const Delivery = Schema.Struct({ delivered_at: Schema.String, status_code: Schema.Int })

const hooksPath = "/repos/{owner}/{repo}/hooks"

/** The deliveries of an app come from its own webhook, which has no repository. */
export const githubWebhooks = ({ rest }: Pick<Access, "rest">, isApp: boolean): ForgeClient["webhooks"] =>
  isApp
    ? undefined
    : Effect.fnUntraced(function* (repo) {
        const params = ownerAndName(repo)
        const hooks = yield* rest(repo).pages({ path: hooksPath, params }, Hook, pages)
        return yield* Effect.forEach(hooks, ({ active, config, events, id }) =>
          Effect.map(
            rest(repo).get(
              {
                path: `${hooksPath}/{hook_id}/deliveries`,
                params: { ...params, hook_id: String(id) },
                query: { per_page: loggedDeliveries }
              },
              Schema.Array(Delivery)
            ),
            (deliveries) => ({
              url: config.url ?? "",
              isActive: active,
              events,
              deliveries: deliveries.map(({ delivered_at: at, status_code: status }) => ({
                at,
                status: status === 0 ? undefined : status
              }))
            })
          )
        )
      })
