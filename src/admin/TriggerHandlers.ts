/** Handles requests about the set-up of triggers. */
import { Clock, Duration, Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { ConfigStore } from "../config/ConfigStore.ts"
import { Receipts } from "../store/Receipts.ts"
import type { TriggerActivity } from "../store/Receipts.ts"
import { RejectedSignatures } from "../store/RejectedSignatures.ts"
import { AdminHttpApi } from "./api/AdminHttpApi.ts"
import { orUnavailable } from "./Available.ts"
import { listSetups } from "./TriggerHealth.ts"
import { maybeTime } from "./Views.ts"
import { withoutUndefined } from "./WithoutUndefined.ts"

const week = Duration.toMillis("7 days")
const day = Duration.toMillis("1 day")
const maxRejected = 1000

const noActivity: Omit<TriggerActivity, "trigger"> = {
  lastAt: undefined,
  lastAcceptedAt: undefined,
  recent: 0,
  recentIgnored: 0
}

const normalisePrefix = (prefix: string): string => {
  const parts = prefix.split("/").filter((part) => part !== "")
  return parts.map((part) => `/${part}`).join("")
}

const list = Effect.gen(function* () {
  const snapshot = (yield* ConfigStore).current()
  const now = yield* Clock.currentTimeMillis
  const activity = yield* (yield* Receipts).activity({ since: now - week, recentSince: now - day })
  const byTrigger = new Map(activity.map((one) => [one.trigger, one]))
  const rejected = new Map<string, number>()
  for (const { counts, trigger } of yield* (yield* RejectedSignatures).list({ since: now - day, limit: maxRejected }))
    rejected.set(trigger, (rejected.get(trigger) ?? 0) + counts.loopback + counts.private + counts.public)
  const items = listSetups(snapshot, normalisePrefix(snapshot.document.server.path_prefix ?? ""))
  return {
    items: items.map(({ baseUrl, ...setup }) => {
      const { lastAcceptedAt, lastAt, recent, recentIgnored } = byTrigger.get(setup.name) ?? noActivity
      return withoutUndefined({
        ...setup,
        base_url: baseUrl,
        last_delivery_at: maybeTime(lastAt),
        last_accepted_at: maybeTime(lastAcceptedAt),
        deliveries_24h: recent,
        ignored_24h: recentIgnored,
        rejected_signatures_24h: rejected.get(setup.name) ?? 0
      })
    })
  }
})

export const layer = HttpApiBuilder.group(AdminHttpApi, "triggers", (handlers) =>
  handlers.handle("list", () => orUnavailable(list))
)
