/** Reads the deliveries of runs from their queue entries. */
import { Effect } from "effect"
import { Queue } from "../../queue/Queue.ts"
import type { Run } from "../../store/Runs.ts"
import type { RunWithEvents } from "./RunViews.ts"

/** Returns each run with the ids of its deliveries, of which there are none once its queue entry is removed. */
export const withEvents = Effect.fnUntraced(function* (runs: ReadonlyArray<Run>) {
  const queue = yield* Queue
  const ids = [...new Set(runs.map(({ entryId }) => entryId))]
  const entries = yield* Effect.forEach(ids, (id) => queue.get(id), { concurrency: "unbounded" })
  const events = new Map(ids.map((id, at) => [id, entries[at]?.events ?? []]))
  return runs.map((run): RunWithEvents => ({ ...run, eventIds: events.get(run.entryId) ?? [] }))
})
