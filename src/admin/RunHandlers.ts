/** Handles requests about runs. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { TargetKey } from "../domain/Keys.ts"
import { Operations } from "../queue/operator/Operations.ts"
import { Outbox } from "../store/Outbox.ts"
import { Runs } from "../store/Runs.ts"
import { AdminHttpApi } from "./api/AdminHttpApi.ts"
import { conflict, notFound } from "./api/Problems.ts"
import { CurrentUser } from "./api/Rules.ts"
import { orUnavailable } from "./Available.ts"
import { cancelReview } from "./CancelReview.ts"
import { liveEvents } from "./LiveRuns.ts"
import { pageFilter, toPage } from "./Paging.ts"
import { withEvents } from "./RunEvents.ts"
import { listedRunView, runDetails } from "./RunViews.ts"

const unknownRun = notFound("No run with this id exists.")

const load = Effect.fnUntraced(function* (id: string) {
  return (yield* (yield* Runs).get(id)) ?? (yield* unknownRun)
})

const get = Effect.fnUntraced(function* (id: string) {
  const publications = yield* (yield* Outbox).ofRun(id)
  const [found] = yield* withEvents([yield* load(id)])
  return found === undefined ? yield* unknownRun : runDetails(found, publications)
})

const rereview = Effect.fnUntraced(function* (id: string) {
  const { username } = yield* CurrentUser
  const result = yield* (yield* Operations).reviewAgain((yield* load(id)).change, username)
  if (result._tag === "Queued") return { id, event_id: result.eventId, status: result.status }
  return yield* result.why === "gone"
    ? conflict("workspace_gone", "Its workspace or its trigger is no longer configured.")
    : conflict("not_a_pull_request", "Only a pull request can be reviewed again; a push is reviewed with the next one.")
})

export const layer = HttpApiBuilder.group(AdminHttpApi, "runs", (handlers) =>
  handlers.handleAll({
    list: ({ query }) => {
      const { status, target, workspace } = query
      const targetKey = target === undefined ? undefined : TargetKey.make(target)
      return Runs.use((runs) => runs.list({ workspace, status, targetKey, ...pageFilter(query) })).pipe(
        Effect.flatMap(withEvents),
        Effect.map((found) => toPage(found, query, listedRunView)),
        orUnavailable
      )
    },
    live: () => liveEvents,
    get: ({ params }) => orUnavailable(get(params.id)),
    cancel: ({ params: { id } }) => orUnavailable(Effect.flatMap(load(id), ({ entryId }) => cancelReview(entryId, id))),
    rereview: ({ params }) => orUnavailable(rereview(params.id))
  })
)
