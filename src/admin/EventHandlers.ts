/** Handles requests about deliveries. */
import { Clock, Duration, Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { TargetKey } from "../domain/Keys.ts"
import { Receipts } from "../store/Receipts.ts"
import { RejectedSignatures } from "../store/RejectedSignatures.ts"
import { AdminHttpApi } from "./api/AdminHttpApi.ts"
import { notFound } from "./api/Problems.ts"
import { orUnavailable } from "./Available.ts"
import { pageFilter, toPage } from "./Paging.ts"
import { readStory, storyView } from "./Story.ts"
import { decisionCountView, eventDetails, eventView, rejectedView } from "./Views.ts"

const parseTime = (text: string | undefined): number | undefined => (text === undefined ? undefined : Date.parse(text))

const get = Effect.fnUntraced(function* (id: string) {
  return eventDetails((yield* (yield* Receipts).get(id)) ?? (yield* notFound("No event with this id exists.")))
})

/** Period of counts, and number of items of the response about rejected signatures. */
const countedMillis = Duration.toMillis("7 days")
const maxCounted = 1000

const countRejected = Effect.fnUntraced(function* (since: string | undefined) {
  const from = parseTime(since) ?? (yield* Clock.currentTimeMillis) - countedMillis
  const items = yield* (yield* RejectedSignatures).list({ since: from, limit: maxCounted })
  return { items: items.map(rejectedView) }
})

interface ReasonQuery {
  readonly workspace?: string
  readonly trigger?: string
  readonly since?: string
}

const reasons = Effect.fnUntraced(function* ({ since, ...filter }: ReasonQuery) {
  const from = parseTime(since) ?? (yield* Clock.currentTimeMillis) - countedMillis
  const counts = yield* (yield* Receipts).countDecisions({ ...filter, since: from })
  return { items: counts.map(decisionCountView) }
})

export const layer = HttpApiBuilder.group(AdminHttpApi, "events", (handlers) =>
  handlers.handleAll({
    list: ({ query }) => {
      const { cursor: _, limit: __, since, target, until, ...filter } = query
      const targetKey = target === undefined ? undefined : TargetKey.make(target)
      const times = { since: parseTime(since), until: parseTime(until) }
      return Receipts.use((receipts) => receipts.list({ ...filter, ...times, targetKey, ...pageFilter(query) })).pipe(
        Effect.map((found) => toPage(found, query, eventView)),
        orUnavailable
      )
    },
    reasons: ({ query }) => orUnavailable(reasons(query)),
    get: ({ params }) => orUnavailable(get(params.id)),
    story: ({ query }) => orUnavailable(Effect.map(readStory(query.repo, query.number), storyView)),
    rejectedSignatures: ({ query }) => orUnavailable(countRejected(query.since))
  })
)
