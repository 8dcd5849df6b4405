/** Reads the events of the changes that a report of a hook, or a person, named. */
import { Effect } from "effect"
import { Receipts } from "./Receipts.ts"
import type { StoredEvent } from "./Receipts.ts"

/** Returns them, oldest first: they have the time of receipt of the report, and name it. */
export const listReported = Effect.fnUntraced(function* (
  { id, provider, receivedAt, routing }: StoredEvent,
  limit: number
) {
  if (routing === undefined) return []
  const times = { since: receivedAt, until: receivedAt + 1 }
  const found = yield* (yield* Receipts).list({ provider, ...times, limit })
  return found.filter(({ rule }) => rule?._tag === "ReportedBy" && rule.event === id).toReversed()
})
