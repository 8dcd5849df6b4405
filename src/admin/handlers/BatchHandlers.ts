/** Handles requests about batches of automatic commits. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Operations } from "../../queue/operator/Operations.ts"
import { Batches } from "../../store/Batches.ts"
import { AdminHttpApi } from "../api/AdminHttpApi.ts"
import { conflict, notFound } from "../api/Problems.ts"
import { member } from "../api/QueueRecords.ts"
import { orUnavailable } from "./Available.ts"
import { cancelReview } from "./CancelReview.ts"
import { pageFilter, toPage } from "./Paging.ts"
import { batchView } from "../views/Views.ts"

const load = Effect.fnUntraced(function* (id: string) {
  return (yield* (yield* Batches).get(id)) ?? (yield* notFound({ _tag: "BatchUnknown" }))
})

const get = Effect.fnUntraced(function* (id: string) {
  const found = yield* load(id)
  return { ...batchView(found), members: (yield* (yield* Batches).members(id)).map(member.view) }
})

const retry = Effect.fnUntraced(function* (id: string) {
  yield* load(id)
  const result = yield* (yield* Operations).retry(id)
  switch (result) {
    case "unknown":
      return yield* notFound({ _tag: "BatchEntryRemoved" })
    case "not_dead":
      return yield* conflict("not_dead", { _tag: "BatchNotDead" })
    case "newer":
      return yield* conflict("newer", { _tag: "BatchCovered" })
    case "retried":
      return { id, status: result }
  }
})

export const layer = HttpApiBuilder.group(AdminHttpApi, "batches", (handlers) =>
  handlers.handleAll({
    list: ({ query }) =>
      Batches.use((batches) =>
        batches.list({ workspace: query.workspace, status: query.status, ...pageFilter(query) })
      ).pipe(
        Effect.map((found) => toPage(found, query, batchView)),
        orUnavailable
      ),
    get: ({ params }) => orUnavailable(get(params.id)),
    retry: ({ params }) => orUnavailable(retry(params.id)),
    cancel: ({ params: { id } }) => orUnavailable(Effect.andThen(load(id), cancelReview(id, id)))
  })
)
