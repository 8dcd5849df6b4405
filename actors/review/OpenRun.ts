/** Opens the run of a claimed entry, and ends one that cannot be executed or was cancelled. */
import { Clock, Deferred, Effect, Option, Random } from "effect"
import { ConfigStore } from "../../src/config/ConfigStore.ts"
import type { Entry } from "../../src/domain/Entry.ts"
import { addPastSpan } from "../../src/domain/EventTrace.ts"
import type { Reason } from "../../src/domain/Reason.ts"
import type { Lease } from "../../src/queue/Queue.ts"
import { Runs } from "../../src/store/Runs.ts"
import type { Run } from "../../src/store/Runs.ts"
import { cancelRun } from "./EndRun.ts"
import type { MissingWork, ReviewWork } from "./ReviewWork.ts"
import { failed } from "./RunOutcome.ts"
import type { RunOutcome } from "./RunOutcome.ts"

/** Adds the time in the queue to the trace, since the admission or since the attempt before. */
const traceWait = ({ admittedAt, attempts, dueAt, events, workspace }: Entry, run: string, until: number) =>
  Effect.forEach(
    events.slice(0, 1),
    (eventId) =>
      addPastSpan({
        eventId,
        name: "queue wait",
        from: attempts === 0 ? admittedAt : dueAt,
        to: until,
        attributes: { workspace, attempts, run }
      }),
    { discard: true }
  )

/** Returns the unfinished run of the entry, or a new one that shows what the entry waits for; undefined if a newer worker has it. */
export const openRun = Effect.fnUntraced(function* (entry: Entry, lease: Lease) {
  const { id: entryId, change, targetKey, workspace } = entry
  const snapshot = yield* (yield* ConfigStore).pinned(entry.configHash)
  const { base, head = "" } = change
  const team = snapshot.workspaces.get(workspace)?.instance.team
  const begun = { entryId, workspace, team, targetKey, change, head, base, configHash: snapshot.hash }
  const now = yield* Clock.currentTimeMillis
  const run = yield* (yield* Runs).open(begun, lease.token, now)
  if (run !== undefined) yield* traceWait(entry, run.id, now)
  return run
})

/** Time for which an entry whose configuration is missing on this node is left to other nodes, or to a restored archive. */
const unknownConfigurationMillis = 24 * 3_600_000
const unknownConfigurationPause = 15_000

/**
 * Fails the run because its workspace or trigger is no longer in the configuration. If that is not the configuration under which the entry
 * was admitted, the entry is left to other nodes, which may have it, for a day.
 */
export const endWithoutWork = Effect.fnUntraced(function* (
  entry: Entry,
  lease: Lease,
  { isPinned, reason }: MissingWork
) {
  const now = yield* Clock.currentTimeMillis
  if (!isPinned && now - entry.admittedAt < unknownConfigurationMillis) {
    const until = now + Math.round(unknownConfigurationPause * (0.5 + (yield* Random.next)))
    return { _tag: "Waiting", reason: { _tag: "UnconfiguredHere", reason }, until } as const satisfies RunOutcome
  }
  const run = yield* openRun(entry, lease)
  if (run === undefined) return failed(reason, false)
  yield* (yield* Runs).move(run.id, lease.token, "failed", yield* Clock.currentTimeMillis, reason)
  return failed(reason, false, undefined, run.id)
})

/** Ends the run if it was cancelled. Interrupted for another reason, it continues in a later attempt. */
export const endCancelled = Effect.fnUntraced(function* (
  run: Run,
  work: ReviewWork,
  cancelled: Deferred.Deferred<Reason>
) {
  const reason = yield* Deferred.poll(cancelled)
  if (Option.isSome(reason)) yield* cancelRun(run, work, yield* reason.value)
})
