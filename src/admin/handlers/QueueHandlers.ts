/** Handles requests about the queue: lists what waits and runs, cancels, retries, pauses, resumes and drains. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { ConfigStore } from "../../config/ConfigStore.ts"
import { EntryStatus } from "../../domain/Entry.ts"
import { searchTerms } from "../../domain/SearchText.ts"
import { verbatimReason } from "../../domain/Reason.ts"
import type { Reason } from "../../domain/Reason.ts"
import { Operations } from "../../queue/operator/Operations.ts"
import type { EntryView } from "../../queue/operator/Operations.ts"
import type { Pause } from "../../queue/operator/QueueControl.ts"
import { Queue } from "../../queue/Queue.ts"
import { AdminHttpApi } from "../api/AdminHttpApi.ts"
import { pageSize, selected } from "../api/Parameters.ts"
import { because, conflict, notFound, NotFound } from "../api/Problems.ts"
import { CurrentUser } from "../api/Rules.ts"
import { orUnavailable } from "./Available.ts"
import { parseSort, parseTime } from "./Paging.ts"
import { countCauses, selectCaused } from "./QueueCauses.ts"
import { pause as pauseRecord } from "../api/QueueRecords.ts"
import { batchView, entryView, toTime } from "../views/Views.ts"
import { maxBulk } from "../api/QueueGroup.ts"
import type { Bulk } from "../api/QueueGroup.ts"

/** Cancels or retries several entries for an administrator, or lists what would be changed. Each entry is changed by itself. */

type BulkRequest = typeof Bulk.Type

interface Selected {
  readonly id: string
  readonly status: string
}

const statusOf = Effect.fnUntraced(function* (id: string) {
  const match = yield* (yield* Operations).show(id)
  return match === undefined ? "unknown" : match._tag === "Entry" ? match.entry.status : match.batch.status
})

/** Statuses of entries that have not ended. */
const currentStatuses: ReadonlyArray<EntryStatus> = ["waiting", "ready", "running"]
const defaultStatus = { cancel: "waiting", retry: "dead" } as const

const select = Effect.fnUntraced(function* ({ action, cause, ids, status, workspace }: BulkRequest) {
  if (ids !== undefined) {
    const items = yield* Effect.forEach(new Set(ids), (id) =>
      Effect.map(statusOf(id), (found) => ({ id, status: found }))
    )
    return { items: items satisfies ReadonlyArray<Selected>, more: false }
  }
  const selection = status ?? defaultStatus[action]
  const statuses = selection === "current" ? currentStatuses : [selection]
  const toSelected = ({ entry }: EntryView): Selected => ({ id: entry.id, status: entry.status })
  if (cause !== undefined) {
    const { items, more } = yield* selectCaused({ workspace, statuses }, cause, maxBulk)
    return { items: items.map(toSelected), more }
  }
  const page = yield* (yield* Operations).list({ workspace, statuses, limit: maxBulk })
  return { items: page.items.map(toSelected), more: page.next !== undefined }
})

/** Returns the reason of what a person cancels, with the words of that person. */
const cancelledBy = (name: string, words: string | undefined): Reason => ({
  _tag: "CancelledBy",
  name,
  ...(words === undefined ? {} : { reason: verbatimReason(words) })
})

const changeQueue = Effect.fnUntraced(function* (request: BulkRequest) {
  const { action, preview, reason } = request
  const { items, more } = yield* select(request)
  const common = { preview, matched: items.length, more }
  if (preview) return { ...common, items: items.map(({ id, status }) => ({ id, result: status })) }
  const operations = yield* Operations
  const { username } = yield* CurrentUser
  const why = cancelledBy(username, reason)
  const change = (id: string) =>
    action === "cancel"
      ? Effect.map(operations.cancel(id, why), (result) => (result === "over" ? "already_ended" : result))
      : operations.retry(id)
  const changed = yield* Effect.forEach(items, ({ id }) => Effect.map(change(id), (result) => ({ id, result })))
  yield* Effect.logInfo("queue changed by an administrator", {
    action: `bulk ${action}`,
    username,
    entries: items.length
  })
  return { ...common, items: changed }
})

const active: ReadonlyArray<EntryStatus> = ["waiting", "ready", "running"]
/** Maximum number of workspaces that an error names. */
const maxNames = 20
/** Maximum number of batches in a response. */
const maxBatches = 10_000

interface ListQuery {
  readonly workspace?: string
  readonly q?: string
  readonly since?: string
  readonly until?: string
  readonly status?: string
  readonly cursor?: string
  readonly limit?: number
  readonly sort?: string
}

const list = Effect.fnUntraced(function* (query: ListQuery) {
  const { cursor, q, since, sort = "admitted", status, until, workspace } = query
  const { isDescending } = parseSort(sort)
  const statuses = status === undefined ? active : selected(EntryStatus, status)
  const operations = yield* Operations
  const { items, next } = yield* operations.list({
    workspace,
    statuses,
    since: parseTime(since),
    until: parseTime(until),
    terms: searchTerms(q ?? ""),
    after: cursor,
    newestFirst: isDescending,
    limit: pageSize(query)
  })
  const { byStatus, oldestWaiting } = yield* (yield* Queue).stats
  const hasBatches = cursor === undefined && statuses.includes("waiting")
  return {
    items: items.map(entryView),
    next_cursor: next ?? null,
    by_status: byStatus,
    oldest_waiting_at: oldestWaiting === undefined ? null : toTime(oldestWaiting),
    pauses: (yield* operations.pauses).map(pauseRecord.view),
    held_batches: hasBatches ? (yield* operations.heldBatches(workspace, maxBatches)).map(batchView) : []
  }
})

const get = Effect.fnUntraced(function* (id: string) {
  const found = yield* (yield* Operations).show(id)
  if (found === undefined) return yield* notFound({ _tag: "EntryOrBatchUnknown" })
  return found._tag === "Entry"
    ? { kind: "entry" as const, ...entryView(found) }
    : { kind: "batch" as const, ...batchView(found.batch), members: found.members }
})

/** Logs what an administrator did to the queue. */
const logAction = Effect.fnUntraced(function* (action: string, fields: Readonly<Record<string, string | Reason>>) {
  const { username } = yield* CurrentUser
  yield* Effect.logInfo("queue changed by an administrator", { action, username, ...fields })
})

const retry = Effect.fnUntraced(function* (id: string) {
  const result = yield* (yield* Operations).retry(id)
  yield* logAction("retry", { entry_id: id, result })
  switch (result) {
    case "unknown":
      return yield* notFound({ _tag: "EntryUnknown" })
    case "not_dead":
      return yield* conflict("not_dead", { _tag: "EntryNotDead" })
    case "newer":
      return yield* conflict("newer", { _tag: "TargetCovered" })
    case "retried":
      return { id, status: result }
  }
})

const cancel = Effect.fnUntraced(function* (id: string, words: string | undefined) {
  const { username } = yield* CurrentUser
  const why = cancelledBy(username, words)
  const result = yield* (yield* Operations).cancel(id, why)
  yield* logAction("cancel", { entry_id: id, result })
  switch (result) {
    case "unknown":
      return yield* notFound({ _tag: "EntryUnknown" })
    case "over":
      return yield* conflict("already_ended", { _tag: "EndedAlready" })
    case "cancelled":
    case "stopping":
      return { id, status: result }
  }
})

interface ScopeBody {
  readonly workspace?: string
  readonly node?: string
}

/** Returns what a body names; the definition ensures that it names either. */
const scopeOf = ({ node, workspace }: ScopeBody): Pick<Pause, "scope" | "name"> =>
  workspace === undefined ? { scope: "node", name: node ?? "" } : { scope: "workspace", name: workspace }

const pauseScope = Effect.fnUntraced(function* ({ name, scope }: Pick<Pause, "scope" | "name">, words?: string) {
  const { username } = yield* CurrentUser
  const reason: Reason = words === undefined ? { _tag: "PausedBy", name: username } : verbatimReason(words)
  const { workspaces } = (yield* ConfigStore).current()
  if (scope === "workspace" && !workspaces.has(name)) {
    const [first = "none", ...others] = [...workspaces.keys()].slice(0, maxNames)
    const expected = [first, ...others, ...(workspaces.size > maxNames ? ["…"] : [])].join(", ")
    const unknown = { _tag: "WorkspaceUnknown", workspace: JSON.stringify(name), workspaces: expected } as const
    return yield* new NotFound({ code: "unknown_workspace", ...because(unknown) })
  }
  yield* (yield* Operations).pause(scope, name, reason)
  yield* logAction("pause", { scope, name, reason })
})

const pause = Effect.fnUntraced(function* (body: ScopeBody, reason: string | undefined) {
  const scope = scopeOf(body)
  yield* pauseScope(scope, reason)
  return { ...scope, status: "paused" as const }
})

const resume = Effect.fnUntraced(function* (body: ScopeBody) {
  const { name, scope } = scopeOf(body)
  yield* (yield* Operations).resume(scope, name)
  yield* logAction("resume", { scope, name })
  return { scope, name, status: "resumed" as const }
})

/** Pauses a node and returns the number of reviews that it still runs. May be repeated until there are none. */
const drain = Effect.fnUntraced(function* (node: string, reason: string | undefined) {
  const operations = yield* Operations
  const pauses = yield* operations.pauses
  const scope = { scope: "node", name: node } as const
  if (!pauses.some((one) => one.scope === "node" && one.name === node)) yield* pauseScope(scope, reason)
  let running = 0
  let after: string | undefined
  do {
    const page = yield* operations.list({ statuses: ["running"], after, limit: 200 })
    running += page.items.filter(({ entry }) => entry.owner?.split("/")[0] === node).length
    after = page.next
  } while (after !== undefined)
  return { ...scope, status: running === 0 ? ("drained" as const) : ("draining" as const), running }
})

export const layer = HttpApiBuilder.group(AdminHttpApi, "queue", (handlers) =>
  handlers.handleAll({
    list: ({ query }) => orUnavailable(list(query)),
    causes: ({ query }) => orUnavailable(countCauses(query.workspace)),
    bulk: ({ payload }) => orUnavailable(changeQueue(payload)),
    get: ({ params }) => orUnavailable(get(params.id)),
    retry: ({ params }) => orUnavailable(retry(params.id)),
    cancel: ({ params, payload }) => orUnavailable(cancel(params.id, payload.reason)),
    pause: ({ payload }) => orUnavailable(pause(payload, payload.reason)),
    resume: ({ payload }) => orUnavailable(resume(payload)),
    drain: ({ payload }) => orUnavailable(drain(payload.node, payload.reason))
  })
)
