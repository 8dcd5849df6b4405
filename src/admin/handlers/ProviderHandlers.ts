/** Handles requests about model providers. */
import { Clock, Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { ConfigStore } from "../../config/ConfigStore.ts"
import { totalsJson } from "../../domain/StatisticsJson.ts"
import { ProviderStates } from "../../llm/ProviderStates.ts"
import type { ProviderState } from "../../llm/ProviderStates.ts"
import { maxSubjects, Statistics } from "../../store/Statistics.ts"
import { AdminHttpApi } from "../api/AdminHttpApi.ts"
import { because, notFound, Unavailable } from "../api/Problems.ts"
import { CurrentUser } from "../api/Rules.ts"
import { toTime } from "../views/Views.ts"
import { orUnavailable } from "./Available.ts"

const stateView = ({ countedSince, pause, errors, ...state }: ProviderState) => ({
  concurrency: state.concurrency,
  in_use: state.held,
  waiting: state.waiting,
  ...(pause === undefined ? {} : { paused_until: toTime(pause.until), pause_cause: pause.cause }),
  counted_since: toTime(countedSince),
  responses: state.responses,
  errors: Object.entries(errors)
    .map(([reason, count]) => ({ reason, count }))
    .toSorted((one, other) => other.count - one.count || (one.reason < other.reason ? -1 : 1)),
  tokens_per_minute: state.tokensPerMinute
})

/** Returns the known cost of today's calls by provider. */
const readCosts = Effect.gen(function* () {
  const since = Date.parse(toTime(yield* Clock.currentTimeMillis).slice(0, 10))
  const models = yield* (yield* Statistics).models({ since, limit: maxSubjects })
  const costs = new Map<string, number>()
  for (const { model, ...totals } of models) {
    const provider = model.slice(0, Math.max(0, model.indexOf("/")))
    const { cost_usd: cost } = totalsJson(totals)
    if (cost !== null) costs.set(provider, (costs.get(provider) ?? 0) + cost)
  }
  return costs
})

/** Limiters that are read at the same time. */
const concurrency = 16

const list = Effect.gen(function* () {
  const { llm, queue } = (yield* ConfigStore).current().document
  const { read } = yield* ProviderStates
  const costs = yield* readCosts
  return yield* Effect.forEach(
    llm.providers,
    ({ id, kind }) =>
      Effect.map(read(id), (state) => ({
        id,
        kind,
        rate_limit_rps: queue.rate_limit.per_provider_rps?.[id] ?? null,
        cost_today_usd: costs.get(id) ?? null,
        state: state === undefined ? null : stateView(state)
      })),
    { concurrency }
  )
})

const resume = Effect.fnUntraced(function* (id: string) {
  const { llm } = (yield* ConfigStore).current().document
  if (!llm.providers.some((provider) => provider.id === id)) return yield* notFound({ _tag: "ProviderUnknown" })
  if (!(yield* (yield* ProviderStates).resume(id)))
    return yield* new Unavailable({
      code: "unavailable",
      ...because({ _tag: "PartUnavailable", part: { _tag: "LimiterPart" } })
    })
  const { username } = yield* CurrentUser
  yield* Effect.logInfo("provider resumed by an administrator", { provider: id, username })
  return { id, status: "resumed" as const }
})

export const layer = HttpApiBuilder.group(AdminHttpApi, "providers", (handlers) =>
  handlers.handleAll({
    list: () => orUnavailable(Effect.map(list, (items) => ({ items }))),
    resume: ({ params }) => resume(params.id)
  })
)
