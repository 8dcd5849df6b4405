/** Handles requests about deliveries. */
import { Clock, Duration, Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { TargetKey } from "../../domain/Keys.ts"
import { searchTerms } from "../../domain/SearchText.ts"
import { Payloads } from "../../store/Payloads.ts"
import { Receipts } from "../../store/Receipts.ts"
import { RejectedSignatures } from "../../store/RejectedSignatures.ts"
import { AdminHttpApi } from "../api/AdminHttpApi.ts"
import { deliveryPayload } from "../api/EventRecords.ts"
import { because, conflict, notFound, Unavailable } from "../api/Problems.ts"
import { orUnavailable } from "./Available.ts"
import { DeliveryReplay } from "../DeliveryReplay.ts"
import { continued, pageFilter, parseTime, toPage } from "./Paging.ts"
import { readEventStory, readStory, storyParts } from "../views/Story.ts"
import { decisionCount, eventView } from "../api/EventRecords.ts"
import { eventDetails, rejectedView } from "../views/Views.ts"
import { withoutUndefined } from "../views/WithoutUndefined.ts"
import type { Reason } from "../../domain/Reason.ts"

/** Maximum number of replays in the details of a delivery. */
const maxReplays = 50

const get = Effect.fnUntraced(function* (id: string) {
  const receipts = yield* Receipts
  const event = (yield* receipts.get(id)) ?? (yield* notFound({ _tag: "EventUnknown" }))
  return eventDetails(event, yield* receipts.replays(id, maxReplays))
})

const notKept: Reason = { _tag: "PayloadNotKept" }

const payload = Effect.fnUntraced(function* (id: string) {
  const kept = (yield* (yield* Payloads).get(id)) ?? (yield* notFound(notKept))
  return deliveryPayload.view(kept)
})

const replay = Effect.fnUntraced(function* (id: string) {
  const kept = yield* (yield* Payloads).get(id)
  if (kept === undefined) {
    const event = yield* (yield* Receipts).get(id)
    return yield* event === undefined ? notFound({ _tag: "EventUnknown" }) : conflict("not_replayable", notKept)
  }
  const result = yield* (yield* DeliveryReplay).replay(kept)
  switch (result._tag) {
    case "NotReplayable":
      return yield* conflict("not_replayable", result.why)
    case "Refused":
      return yield* new Unavailable({
        code: "unavailable",
        ...because({ _tag: "DeliveryNotStored" })
      })
    case "Decided": {
      const { decision, eventId, reason } = result
      return withoutUndefined({ id, event_id: eventId, decision, reason })
    }
  }
})

const eventStory = Effect.fnUntraced(function* (id: string) {
  const event = (yield* (yield* Receipts).get(id)) ?? (yield* notFound({ _tag: "EventUnknown" }))
  return storyParts(yield* readEventStory(event))
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
  return { items: counts.map(decisionCount.view) }
})

export const layer = HttpApiBuilder.group(AdminHttpApi, "events", (handlers) =>
  handlers.handleAll({
    list: ({ query }) => {
      const { cursor: _, limit: __, q, sort: ___, since, target, until, ...filter } = query
      const targetKey = target === undefined ? undefined : TargetKey.make(target)
      const times = { since: parseTime(since), until: parseTime(until) }
      const selection = { ...filter, ...times, targetKey, ...pageFilter(query) }
      const terms = searchTerms(q ?? "")
      return Receipts.use((receipts) =>
        terms.length === 0
          ? Effect.map(receipts.list(selection), (events) => ({ events, searchedTo: undefined }))
          : receipts.search({ ...selection, terms })
      ).pipe(
        Effect.map(({ events, searchedTo }) => continued(toPage(events, query, eventView), searchedTo)),
        orUnavailable
      )
    },
    reasons: ({ query }) => orUnavailable(reasons(query)),
    get: ({ params }) => orUnavailable(get(params.id)),
    payload: ({ params }) => orUnavailable(payload(params.id)),
    replay: ({ params }) => orUnavailable(replay(params.id)),
    eventStory: ({ params }) => orUnavailable(eventStory(params.id)),
    story: ({ query: { number, repo } }) =>
      orUnavailable(Effect.map(readStory(repo, number), (story) => ({ repo, number, ...storyParts(story) }))),
    rejectedSignatures: ({ query }) => orUnavailable(countRejected(query.since))
  })
)
