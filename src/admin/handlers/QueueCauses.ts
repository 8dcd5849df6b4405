/** Groups entries of the queue by the cause of their wait or failure, and selects those of one cause. */
import { Effect } from "effect"
import type { EntryStatus } from "../../domain/Entry.ts"
import type { Reason } from "../../domain/Reason.ts"
import { causeName, rootCause } from "../../domain/RootCause.ts"
import { Operations } from "../../queue/operator/Operations.ts"
import type { EntryView } from "../../queue/operator/Operations.ts"
import { toTime } from "../views/Views.ts"

/** Entries that are read at a time, and the largest number of them. */
const pageSize = 500
const maxScanned = 10_000

const causedBy = ({ position }: EntryView): Reason => rootCause(position.why)

interface Scanned {
  readonly workspace: string | undefined
  readonly statuses: ReadonlyArray<EntryStatus>
}

/** Passes the oldest entries on until `visit` returns false. Returns whether there are more entries. */
const scan = Effect.fnUntraced(function* (scanned: Scanned, visit: (view: EntryView) => boolean) {
  const operations = yield* Operations
  let after: string | undefined
  for (let read = 0; read < maxScanned; read += pageSize) {
    const { items, next } = yield* operations.list({ ...scanned, after, limit: pageSize })
    for (const view of items) if (!visit(view)) return true
    if (next === undefined) return false
    after = next
  }
  return true
})

/** Returns at most `limit` entries whose wait or failure has this cause. */
export const selectCaused = Effect.fnUntraced(function* (scanned: Scanned, cause: string, limit: number) {
  const found: Array<EntryView> = []
  const more = yield* scan(scanned, (view) => {
    if (causeName(causedBy(view)) !== cause) return true
    if (found.length === limit) return false
    found.push(view)
    return true
  })
  return { items: found, more: more && found.length === limit }
})

/** Counts waiting and failed entries by their causes, the most frequent first. */
export const countCauses = Effect.fnUntraced(function* (workspace: string | undefined) {
  const views: Array<EntryView> = []
  const more = yield* scan({ workspace, statuses: ["waiting", "dead"] }, (view) => views.push(view) > 0)
  const groups = Map.groupBy(views, (view) => `${view.entry.status} ${causeName(causedBy(view))}`)
  const items = [...groups.values()].flatMap((group) => {
    const [first] = group
    if (first === undefined) return []
    const why = causedBy(first)
    return {
      status: first.entry.status,
      cause: causeName(why),
      why,
      count: group.length,
      workspaces: new Set(group.map(({ entry }) => entry.workspace)).size,
      oldest_at: toTime(Math.min(...group.map(({ entry }) => entry.admittedAt)))
    }
  })
  return { items: items.toSorted((one, other) => other.count - one.count), more }
})
