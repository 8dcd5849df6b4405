/** Webhooks of a repository at Gitea and Forgejo, whose APIs have no log of deliveries. */
import { Effect, Schema } from "effect"
import type { ForgeClient } from "../Forge.ts"
import type { Rest } from "../http/Http.ts"
import { ownerAndName } from "../http/Profile.ts"
import { pages } from "./Facts.ts"

const Hook = Schema.Struct({
  active: Schema.optional(Schema.Boolean),
  events: Schema.optional(Schema.NullOr(Schema.Array(Schema.String))),
  config: Schema.optional(Schema.NullOr(Schema.Record(Schema.String, Schema.String)))
})

export const giteaWebhooks = (rest: Rest): ForgeClient["webhooks"] =>
  Effect.fnUntraced(function* (repo) {
    const hooks = yield* rest.pages({ path: "/repos/{owner}/{repo}/hooks", params: ownerAndName(repo) }, Hook, pages)
    return hooks.map(({ active, config, events }) => ({
      url: config?.["url"] ?? "",
      isActive: active !== false,
      events: events ?? [],
      deliveries: []
    }))
  })
