/** Handlers of `/queue`: lists what waits and runs, and lets an administrator cancel, retry, pause, resume and drain. */
import { Effect } from "effect"
import { ConfigStore } from "../config/ConfigStore.ts"
import { EntryStatus } from "../domain/Entry.ts"
import { Operations } from "../queue/operator/Operations.ts"
import type { Pause } from "../queue/operator/QueueControl.ts"
import { Queue } from "../queue/Queue.ts"
import { conflict, json, notFound, time, AdminRefusal } from "./Answers.ts"
import type { AuthenticatedRequest, Handler } from "./Handler.ts"
import { invalid, parseKnownFields, Query, readOptionalText } from "./Input.ts"
import { batchView, entryView } from "./Views.ts"

const active: ReadonlyArray<EntryStatus> = ["waiting", "ready", "running"]
/** Maximum number of batches in a response. */
const maxBatches = 10_000

const pauseView = ({ name, reason, scope, since }: Pause) => ({ scope, name, reason, since: time(since) })

export const listQueue: Handler = Effect.fnUntraced(function* (asked) {
  const query = yield* Query.of(asked, ["workspace", "status", "cursor", "limit"])
  const statuses = (yield* query.someOf("status", EntryStatus)) ?? active
  const operations = yield* Operations
  const workspace = query.text("workspace")
  const after = query.text("cursor")
  const { items, next } = yield* operations.list({ workspace, statuses, after, limit: yield* query.limit() })
  const { byStatus, oldestWaiting } = yield* (yield* Queue).stats
  const hasBatches = after === undefined && statuses.includes("waiting")
  return json(200, {
    items: items.map(entryView),
    next_cursor: next ?? null,
    by_status: byStatus,
    oldest_waiting_at: time(oldestWaiting) ?? null,
    pauses: (yield* operations.pauses).map(pauseView),
    /** Batches of automatic commits that are not in the queue, because the previous one of their branch is. */
    held_batches: hasBatches ? (yield* operations.heldBack(workspace, maxBatches)).map(batchView) : []
  })
})

export const queueItem: Handler = Effect.fnUntraced(function* ({ id }) {
  const found = yield* (yield* Operations).show(id)
  if (found === undefined) return yield* notFound("No queue entry or batch with this id exists.")
  return json(
    200,
    found._tag === "Entry"
      ? { kind: "entry", ...entryView(found) }
      : { kind: "batch", ...batchView(found.batch), members: found.members }
  )
})

/** Logs what an administrator did to the queue. */
const logAction = (action: string, { username }: AuthenticatedRequest, fields: Readonly<Record<string, string>>) =>
  Effect.logInfo("queue changed by an administrator", { action, username, ...fields })

export const retryEntry: Handler = Effect.fnUntraced(function* (request) {
  const { id } = request
  const result = yield* (yield* Operations).retry(id)
  yield* logAction("retry", request, { entry_id: id, result })
  switch (result) {
    case "unknown":
      return yield* notFound("No queue entry with this id exists.")
    case "not_dead":
      return yield* conflict("not_dead", "Only a dead entry can be retried.")
    case "newer":
      return yield* conflict("newer", "A newer review of this target waits already and replaces it.")
    case "retried":
      return json(202, { id, status: result })
  }
})

export const cancelEntry: Handler = Effect.fnUntraced(function* (request) {
  const { id, username } = request
  const fields = yield* parseKnownFields(request, ["reason"])
  const reason = yield* readOptionalText(fields, "reason")
  const why = `cancelled by ${username}${reason === undefined ? "" : `: ${reason}`}`
  const result = yield* (yield* Operations).cancel(id, why)
  yield* logAction("cancel", request, { entry_id: id, result })
  switch (result) {
    case "unknown":
      return yield* notFound("No queue entry with this id exists.")
    case "over":
      return yield* conflict("already_ended", "It has ended already.")
    case "cancelled":
    case "stopping":
      return json(202, { id, status: result })
  }
})

interface PauseScope {
  readonly scope: Pause["scope"]
  readonly name: string
  readonly reason: string
}

/** Reads `{workspace}` or `{node}`, and `{reason}`. */
const readScope = Effect.fnUntraced(function* (
  request: AuthenticatedRequest
): Effect.fn.Return<PauseScope, AdminRefusal> {
  const fields = yield* parseKnownFields(request, ["workspace", "node", "reason"])
  const workspace = yield* readOptionalText(fields, "workspace")
  const node = yield* readOptionalText(fields, "node")
  const reason = (yield* readOptionalText(fields, "reason")) ?? `by ${request.username}`
  if (workspace !== undefined && node === undefined) return { scope: "workspace", name: workspace, reason }
  if (node !== undefined && workspace === undefined) return { scope: "node", name: node, reason }
  return yield* invalid("", "expected either workspace or node")
})

const pauseScope = Effect.fnUntraced(function* (request: AuthenticatedRequest, { name, reason, scope }: PauseScope) {
  if (scope === "workspace" && !(yield* ConfigStore).current().workspaces.has(name)) {
    const detail = `No workspace ${JSON.stringify(name)} is configured.`
    return yield* new AdminRefusal({ status: 404, code: "unknown_workspace", detail })
  }
  yield* (yield* Operations).pause(scope, name, reason)
  yield* logAction("pause", request, { scope, name, reason })
})

export const pause: Handler = Effect.fnUntraced(function* (request) {
  const scope = yield* readScope(request)
  yield* pauseScope(request, scope)
  return json(200, { scope: scope.scope, name: scope.name, status: "paused" })
})

export const resume: Handler = Effect.fnUntraced(function* (request) {
  const { name, scope } = yield* readScope(request)
  yield* (yield* Operations).resume(scope, name)
  yield* logAction("resume", request, { scope, name })
  return json(200, { scope, name, status: "resumed" })
})

/** Pauses a node and returns the number of reviews that it still runs. May be repeated until there are none. */
export const drain: Handler = Effect.fnUntraced(function* (request) {
  const scope = yield* readScope(request)
  if (scope.scope !== "node") return yield* invalid("workspace", "a workspace is paused; only a node is drained")
  const operations = yield* Operations
  const pauses = yield* operations.pauses
  if (!pauses.some((one) => one.scope === "node" && one.name === scope.name)) yield* pauseScope(request, scope)
  let running = 0
  let after: string | undefined
  do {
    const page = yield* operations.list({ statuses: ["running"], after, limit: 200 })
    running += page.items.filter(({ entry }) => entry.owner?.split("/")[0] === scope.name).length
    after = page.next
  } while (after !== undefined)
  return json(200, { scope: "node", name: scope.name, status: running === 0 ? "drained" : "draining", running })
})
