/** Table of the administration's endpoints for authenticated users. */
import { Effect } from "effect"
import { BatchStatus } from "../domain/Batch.ts"
import { EventDecision } from "../domain/Decision.ts"
import { TargetKey } from "../domain/Keys.ts"
import { RunStatus } from "../domain/Run.ts"
import { RejectedSignatures } from "../observability/RejectedSignatures.ts"
import { Operations } from "../queue/operator/Operations.ts"
import { Queue } from "../queue/Queue.ts"
import { Batches } from "../store/Batches.ts"
import { Outbox } from "../store/Outbox.ts"
import { Receipts } from "../store/Receipts.ts"
import { Runs } from "../store/Runs.ts"
import { conflict, json, notFound, time } from "./Answers.ts"
import type { AuthenticatedRequest, Handler } from "./Handler.ts"
import { toPage, Query } from "./Input.ts"
import { Nodes } from "./Nodes.ts"
import { cancelEntry, drain, listQueue, pause, queueItem, resume, retryEntry } from "./QueueRoutes.ts"
import { readStory, storyView } from "./Story.ts"
import { batchView, eventDetails, eventView, memberView, nodeView, runDetails, runView } from "./Views.ts"

const batches: Handler = Effect.fnUntraced(function* (asked) {
  const query = yield* Query.of(asked, ["workspace", "status", "cursor", "limit"])
  const limit = yield* query.limit()
  const found = yield* (yield* Batches).list({
    workspace: query.text("workspace"),
    status: yield* query.oneOf("status", BatchStatus),
    before: query.text("cursor"),
    limit: limit + 1
  })
  return json(200, toPage(found, limit, batchView))
})

const batch: Handler = Effect.fnUntraced(function* ({ id }) {
  const records = yield* Batches
  const found = yield* records.get(id)
  if (found === undefined) return yield* notFound("No batch with this id exists.")
  return json(200, { ...batchView(found), members: (yield* records.members(id)).map(memberView) })
})

const cancelled = Effect.fnUntraced(function* (entryId: string, { id, username }: AuthenticatedRequest) {
  const answer = yield* (yield* Operations).cancel(entryId, `${username} cancelled it`)
  return answer === "cancelled" || answer === "stopping"
    ? json(202, { id, status: answer })
    : yield* conflict("already_ended", "It has ended already.")
})

const retryBatch: Handler = Effect.fnUntraced(function* ({ id }) {
  const answer = (yield* (yield* Batches).get(id)) === undefined ? "unknown" : yield* (yield* Operations).retry(id)
  switch (answer) {
    case "unknown":
      return yield* notFound("No batch with this id exists, or its queue entry was removed.")
    case "not_dead":
      return yield* conflict("not_dead", "Only a dead batch can be retried.")
    case "newer":
      return yield* conflict("newer", "A newer review of this branch is queued already and covers it.")
    case "retried":
      return json(202, { id, status: answer })
  }
})

const cancelBatch: Handler = Effect.fnUntraced(function* (asked) {
  if ((yield* (yield* Batches).get(asked.id)) === undefined) return yield* notFound("No batch with this id exists.")
  return yield* cancelled(asked.id, asked)
})

const events: Handler = Effect.fnUntraced(function* (asked) {
  const query = yield* Query.of(asked, [
    "workspace",
    "decision",
    "reason",
    "repo",
    "number",
    "since",
    "cursor",
    "limit"
  ])
  const limit = yield* query.limit()
  const found = yield* (yield* Receipts).list({
    workspace: query.text("workspace"),
    decision: yield* query.oneOf("decision", EventDecision),
    reason: query.text("reason"),
    repo: query.text("repo"),
    number: yield* query.number("number"),
    since: yield* query.time("since"),
    before: query.text("cursor"),
    limit: limit + 1
  })
  return json(200, toPage(found, limit, eventView))
})

/** Returns everything that happened to one pull request or issue. */
const story: Handler = Effect.fnUntraced(function* (asked) {
  const query = yield* Query.of(asked, ["repo", "number"])
  const repo = yield* query.required("repo", query.text("repo"))
  const number = yield* query.required("number", yield* query.number("number"))
  return json(200, storyView(yield* readStory(repo, number)))
})

const event: Handler = Effect.fnUntraced(function* ({ id }) {
  const found = yield* (yield* Receipts).get(id)
  return found === undefined ? yield* notFound("No event with this id exists.") : json(200, eventDetails(found))
})

const runs: Handler = Effect.fnUntraced(function* (asked) {
  const query = yield* Query.of(asked, ["workspace", "status", "target", "cursor", "limit"])
  const limit = yield* query.limit()
  const target = query.text("target")
  const found = yield* (yield* Runs).list({
    workspace: query.text("workspace"),
    status: yield* query.oneOf("status", RunStatus),
    targetKey: target === undefined ? undefined : TargetKey.make(target),
    before: query.text("cursor"),
    limit: limit + 1
  })
  return json(200, toPage(found, limit, runView))
})

const runOf = Effect.fnUntraced(function* (id: string) {
  const found = yield* (yield* Runs).get(id)
  return found ?? (yield* notFound("No run with this id exists."))
})

const run: Handler = Effect.fnUntraced(function* ({ id }) {
  const found = yield* runOf(id)
  const entry = yield* (yield* Queue).get(found.entryId)
  return json(200, { ...runDetails(found, yield* (yield* Outbox).ofRun(id)), event_ids: entry?.events ?? [] })
})

const cancelRun: Handler = Effect.fnUntraced(function* (asked) {
  return yield* cancelled((yield* runOf(asked.id)).entryId, asked)
})

const rereview: Handler = Effect.fnUntraced(function* ({ id, username }) {
  const again = yield* (yield* Operations).reviewAgain((yield* runOf(id)).change, username)
  if (again._tag === "Queued") return json(202, { id, event_id: again.eventId, status: again.status })
  return yield* again.why === "gone"
    ? conflict("workspace_gone", "Its workspace or its trigger is no longer configured.")
    : conflict("not_a_pull_request", "Only a pull request can be reviewed again; a push is reviewed with the next one.")
})

/** Returns the counts of the node that serves this request. */
const rejectedSignatures: Handler = Effect.fnUntraced(function* () {
  const rejected = yield* RejectedSignatures
  const items = rejected.list().map(({ lastAt, ...item }) => ({ ...item, last_at: time(lastAt) }))
  return json(200, { items })
})

const nodes: Handler = Effect.fnUntraced(function* () {
  return json(200, { items: (yield* (yield* Nodes).list).map(nodeView) })
})

/** Handlers by path, then by method. `:id` matches one segment. */
export const routes: Readonly<Record<string, Readonly<Partial<Record<"GET" | "POST", Handler>>>>> = {
  "/queue": { GET: listQueue },
  "/queue/pause": { POST: pause },
  "/queue/resume": { POST: resume },
  "/queue/drain": { POST: drain },
  "/queue/:id": { GET: queueItem },
  "/queue/:id/retry": { POST: retryEntry },
  "/queue/:id/cancel": { POST: cancelEntry },
  "/batches": { GET: batches },
  "/batches/:id": { GET: batch },
  "/batches/:id/retry": { POST: retryBatch },
  "/batches/:id/cancel": { POST: cancelBatch },
  "/story": { GET: story },
  "/events": { GET: events },
  "/events/:id": { GET: event },
  "/runs": { GET: runs },
  "/runs/:id": { GET: run },
  "/runs/:id/cancel": { POST: cancelRun },
  "/runs/:id/rereview": { POST: rereview },
  "/rejected-signatures": { GET: rejectedSignatures },
  "/nodes": { GET: nodes }
}
