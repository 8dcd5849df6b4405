/** Handles requests about the set-up of triggers. */
import { Clock, Duration, Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { ConfigStore } from "../../config/ConfigStore.ts"
import type { Snapshot } from "../../config/Snapshot.ts"
import { Outbox } from "../../store/Outbox.ts"
import { Receipts } from "../../store/Receipts.ts"
import type { TriggerActivity } from "../../store/Receipts.ts"
import { RejectedSignatures } from "../../store/RejectedSignatures.ts"
import { AdminHttpApi } from "../api/AdminHttpApi.ts"
import { because, notFound, TooManyRequests } from "../api/Problems.ts"
import { orUnavailable } from "./Available.ts"
import { checkTrigger } from "./CheckTrigger.ts"
import { listSetups } from "./TriggerHealth.ts"
import { maybeTime } from "../views/Views.ts"
import { withoutUndefined } from "../views/WithoutUndefined.ts"

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

const prefixOf = ({ document: { server } }: Snapshot): string => normalisePrefix(server.path_prefix ?? "")

const list = Effect.gen(function* () {
  const snapshot = (yield* ConfigStore).current()
  const now = yield* Clock.currentTimeMillis
  const activity = yield* (yield* Receipts).activity({ since: now - week, recentSince: now - day })
  const byTrigger = new Map(activity.map((one) => [one.trigger, one]))
  const rejected = new Map<string, number>()
  for (const { counts, trigger } of yield* (yield* RejectedSignatures).list({ since: now - day, limit: maxRejected }))
    rejected.set(trigger, (rejected.get(trigger) ?? 0) + counts.loopback + counts.private + counts.public)
  const waiting = yield* (yield* Outbox).awaitingCredentials
  const items = listSetups(snapshot, prefixOf(snapshot))
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
        rejected_signatures_24h: rejected.get(setup.name) ?? 0,
        waiting_publications: waiting.get(setup.name) ?? 0
      })
    })
  }
})

/** Interval in milliseconds between two checks of a trigger, so that they do not use up the limits of its host. */
const checkEvery = 10_000

/** Returns a function that checks a trigger, unless it was checked a moment ago. */
const makeCheck = () => {
  const checkedAt = new Map<string, number>()
  return Effect.fnUntraced(function* (name: string) {
    const snapshot = (yield* ConfigStore).current()
    const setup = listSetups(snapshot, prefixOf(snapshot)).find((one) => one.name === name)
    if (setup === undefined) return yield* notFound({ _tag: "TriggerUnknown", trigger: JSON.stringify(name) })
    const now = yield* Clock.currentTimeMillis
    const wait = (checkedAt.get(name) ?? Number.NEGATIVE_INFINITY) + checkEvery - now
    if (wait > 0) {
      return yield* new TooManyRequests({
        code: "check_throttled",
        ...because({ _tag: "CheckedJustNow" }),
        retry_after: Math.ceil(wait / 1000)
      })
    }
    for (const [other, at] of checkedAt) if (at + checkEvery <= now) checkedAt.delete(other)
    checkedAt.set(name, now)
    return { items: yield* checkTrigger(snapshot, setup) }
  })
}

export const layer = HttpApiBuilder.group(AdminHttpApi, "triggers", (handlers) => {
  const check = makeCheck()
  return handlers.handleAll({ list: () => orUnavailable(list), check: ({ params }) => check(params.name) })
})
