/** Cancels or retries several entries for an administrator, or lists what would be changed. Each entry is changed by itself. */
import { Effect } from "effect"
import type { EntryStatus } from "../../domain/Entry.ts"
import { verbatimReason } from "../../domain/Reason.ts"
import type { Reason } from "../../domain/Reason.ts"
import { Operations } from "../../queue/operator/Operations.ts"
import { maxBulk } from "../api/QueueGroup.ts"
import type { Bulk } from "../api/QueueGroup.ts"
import { CurrentUser } from "../api/Rules.ts"

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

const select = Effect.fnUntraced(function* ({ action, ids, status, workspace }: BulkRequest) {
  if (ids !== undefined) {
    const items = yield* Effect.forEach(new Set(ids), (id) =>
      Effect.map(statusOf(id), (found) => ({ id, status: found }))
    )
    return { items: items satisfies ReadonlyArray<Selected>, more: false }
  }
  const selection = status ?? defaultStatus[action]
  const statuses = selection === "current" ? currentStatuses : [selection]
  const page = yield* (yield* Operations).list({ workspace, statuses, limit: maxBulk })
  const items = page.items.map(({ entry }): Selected => ({ id: entry.id, status: entry.status }))
  return { items, more: page.next !== undefined }
})

/** Returns the reason of what a person cancels, with the words of that person. */
export const cancelledBy = (name: string, words: string | undefined): Reason => ({
  _tag: "CancelledBy",
  name,
  ...(words === undefined ? {} : { reason: verbatimReason(words) })
})

export const changeQueue = Effect.fnUntraced(function* (request: BulkRequest) {
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
