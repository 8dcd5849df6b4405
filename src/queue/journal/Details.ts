/** The queue with whole entries: its table has what decisions need, and the rest of an entry is read when an entry is returned. */
import { Context, Effect } from "effect"
import type { Change } from "../../domain/Change.ts"
import type { Entry } from "../../domain/Entry.ts"
import { fromRow } from "../core/ChangeRow.ts"
import { Queue } from "../Queue.ts"
import type { Cancelled, QueueError } from "../Queue.ts"
import { QueueControl } from "../operator/QueueControl.ts"
import { isQuarantined, quarantinedEntry, quarantineReason } from "../core/Quarantined.ts"
import { toQueueError } from "./Journal.ts"
import type { Journal } from "./Journal.ts"

/** `details` returns the texts of entries, in order. */
export const withDetails = (
  details: Journal["details"],
  context: Context.Context<Queue | QueueControl>
): Context.Context<Queue | QueueControl> => {
  const queue = Context.get(context, Queue)
  const control = Context.get(context, QueueControl)
  const whole = (entries: ReadonlyArray<Entry>): Effect.Effect<ReadonlyArray<Entry>, QueueError> =>
    Effect.mapBoth(details(entries.map(({ id }) => id)), {
      onSuccess: (texts) => entries.map((entry, index) => complete(entry, texts[index])),
      onFailure: toQueueError
    })
  const wholeOf = ({ ended, stopping }: Cancelled) => Effect.all({ ended: whole(ended), stopping: whole(stopping) })
  return Context.make(
    Queue,
    Queue.of({
      ...queue,
      load: (workspace) => Effect.flatMap(queue.load(workspace), whole),
      get: (entryId) =>
        Effect.flatMap(queue.get(entryId), (entry) =>
          entry === undefined ? Effect.succeed(undefined) : Effect.map(whole([entry]), ([found]) => found)
        ),
      claim: Effect.fnUntraced(function* (entryId, owner, now, ttlMillis) {
        const claimed = yield* queue.claim(entryId, owner, now, ttlMillis)
        if (claimed === undefined) return undefined
        const [entry = claimed.entry] = yield* whole([claimed.entry])
        if (entry.status === "running") return { lease: claimed.lease, entry }
        yield* queue.finish(claimed.lease, {
          _tag: "Dead",
          reason: entry.reason ?? quarantineReason("its details", "they are no row")
        })
        return undefined
      }),
      cancel: (target, reason) => Effect.flatMap(queue.cancel(target, reason), wholeOf),
      reclaim: (now, lost) => Effect.flatMap(queue.reclaim(now, lost), whole),
      expire: (before, reason) => Effect.flatMap(queue.expire(before, reason), whole)
    })
  ).pipe(
    Context.add(
      QueueControl,
      QueueControl.of({
        ...control,
        list: (filter) =>
          Effect.flatMap(control.list(filter), ({ entries, next }) =>
            Effect.map(whole(entries), (found) => ({ entries: found, next }))
          ),
        cancelEntry: (entryId, reason) => Effect.flatMap(control.cancelEntry(entryId, reason), wholeOf)
      })
    )
  )
}

/** One of which the details cannot be read is shown as quarantined. */
const complete = (entry: Entry, text: string | undefined): Entry => {
  try {
    const row: unknown = JSON.parse(text ?? "")
    if (!Array.isArray(row)) throw new Error("they are no row")
    return { ...entry, change: requestedBy(fromRow(row), entry.change.requestedBy) }
  } catch (cause) {
    if (text === undefined && isQuarantined(entry)) return entry
    const repo = entry.change.repo.fullName
    return quarantinedEntry({ ...entry, repo }, "its details", text === undefined ? "they are missing" : String(cause))
  }
}

const requestedBy = (change: Change, person: string | undefined): Change =>
  person === change.requestedBy ? change : { ...change, requestedBy: person }
