/** Handles requests about deliveries. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { RejectedSignatures } from "../observability/RejectedSignatures.ts"
import { Receipts } from "../store/Receipts.ts"
import { AdminHttpApi } from "./api/AdminHttpApi.ts"
import { notFound } from "./api/Problems.ts"
import { orUnavailable } from "./Available.ts"
import { pageFilter, toPage } from "./Paging.ts"
import { readStory, storyView } from "./Story.ts"
import { eventDetails, eventView, rejectedView } from "./Views.ts"

const get = Effect.fnUntraced(function* (id: string) {
  return eventDetails((yield* (yield* Receipts).get(id)) ?? (yield* notFound("No event with this id exists.")))
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
    // Counts of the node that serves this request.
    rejectedSignatures: () => Effect.map(RejectedSignatures, (counts) => ({ items: counts.list().map(rejectedView) }))
  })
)
