/** Handles requests about deliveries. */
import { Clock, Duration, Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Receipts } from "../store/Receipts.ts"
import { RejectedSignatures } from "../store/RejectedSignatures.ts"
import { AdminHttpApi } from "./api/AdminHttpApi.ts"
import { notFound } from "./api/Problems.ts"
import { orUnavailable } from "./Available.ts"
import { pageFilter, toPage } from "./Paging.ts"
import { readStory, storyView } from "./Story.ts"
import { eventDetails, eventView, rejectedView } from "./Views.ts"

const get = Effect.fnUntraced(function* (id: string) {
  return eventDetails((yield* (yield* Receipts).get(id)) ?? (yield* notFound("No event with this id exists.")))
})

/** Period and number of items of the response about rejected signatures. */
const countedMillis = Duration.toMillis("7 days")
const maxCounted = 1000

const countRejected = Effect.fnUntraced(function* (since: string | undefined) {
  const from = since === undefined ? (yield* Clock.currentTimeMillis) - countedMillis : Date.parse(since)
  const items = yield* (yield* RejectedSignatures).list({ since: from, limit: maxCounted })
  return { items: items.map(rejectedView) }
})

export const layer = HttpApiBuilder.group(AdminHttpApi, "events", (handlers) =>
  handlers.handleAll({
    list: ({ query }) => {
      const { cursor: _, limit: __, since, ...filter } = query
      const from = since === undefined ? undefined : Date.parse(since)
      return Receipts.use((receipts) => receipts.list({ ...filter, since: from, ...pageFilter(query) })).pipe(
        Effect.map((found) => toPage(found, query, eventView)),
        orUnavailable
      )
    },
    get: ({ params }) => orUnavailable(get(params.id)),
    story: ({ query }) => orUnavailable(Effect.map(readStory(query.repo, query.number), storyView)),
    rejectedSignatures: ({ query }) => orUnavailable(countRejected(query.since))
  })
)
