/**
 * Schedules the queue of one workspace and offers tickets (QueueScan.ts). Its decisions are `plan` and `decideOffers`, pure functions of
 * the queue and the clock. Ingress, executors that finish, the sweeper and its own alarm (RepeatedScan.ts) wake it. A lost wake causes a
 * delay and never loses work, because the queue is the source of truth.
 *
 * Messages: `Wake` (scan again; all before a scan starts share it), `Cancel` (do not review a target any more); from operators
 * `CancelEntry`, `Retry` (give a dead entry another attempt), `Pause` and `Resume`. All may be repeated.
 */
import { Clock, Effect, Schema } from "effect"
import { ClusterSchema, Entity } from "effect/cluster"
import { Rpc } from "effect/rpc"
import type { ConfigStore } from "../../src/config/ConfigStore.ts"
import { TargetKey } from "../../src/domain/Keys.ts"
import { Reason } from "../../src/domain/Reason.ts"
import { Cancellations } from "../../src/queue/dispatch/Cancellations.ts"
import { nothingCancelled, Queue, QueueError } from "../../src/queue/Queue.ts"
import type { Cancelled } from "../../src/queue/Queue.ts"
import { QueueControl } from "../../src/queue/operator/QueueControl.ts"
import type { Tickets } from "../../src/queue/dispatch/Tickets.ts"
import { tryAgain } from "../../src/queue/operator/TryAgain.ts"
import type { Batches } from "../../src/store/Batches.ts"
import { Receipts } from "../../src/store/Receipts.ts"
import type { StoreError } from "../../src/database/StoreError.ts"
import { logFailure } from "../../src/observability/LimitedWarnings.ts"
import { countStart } from "../ActorStarts.ts"
import { everyOne } from "../Placement.ts"
import { scanQueue, ScanMemory } from "./QueueScan.ts"
import { repeatScan } from "./RepeatedScan.ts"

const Wake = Rpc.make("Wake")
const Cancel = Rpc.make("Cancel", { payload: { targetKey: TargetKey, reason: Reason } })
const CancelEntry = Rpc.make("CancelEntry", {
  payload: { entryId: Schema.String, reason: Reason },
  /** `stopping`: the entry runs, and its worker ends it. `over`: this workspace has no such entry, or the entry has ended. */
  success: Schema.Literals(["cancelled", "stopping", "over"]),
  error: QueueError
})
const Retry = Rpc.make("Retry", {
  payload: { entryId: Schema.String },
  success: Schema.Literals(["retried", "unknown", "not_dead", "newer"]),
  error: QueueError
})
const Pause = Rpc.make("Pause", { payload: { reason: Reason }, error: QueueError })
const Resume = Rpc.make("Resume", { error: QueueError })

export const WorkspaceScheduler = Entity.make("WorkspaceScheduler", [
  Wake,
  Cancel,
  CancelEntry,
  Retry,
  Pause,
  Resume
]).annotate(ClusterSchema.ShardGroup, everyOne("actors"))

type Services = Batches | Cancellations | ConfigStore | Queue | QueueControl | Receipts | Tickets

const asQueueError = <A, R>(effect: Effect.Effect<A, QueueError | StoreError, R>): Effect.Effect<A, QueueError, R> =>
  Effect.catchTag(effect, "StoreError", ({ why }) => Effect.fail(new QueueError({ reason: "unavailable", why })))

/** Scans the queue; after a failure scans again in 5 seconds. */
const scanOrRetry = (workspace: string, memory: ScanMemory) =>
  Effect.catch(scanQueue(workspace, memory), (error) =>
    Effect.as(
      logFailure(
        "workspace could not be scheduled, retry in 5 seconds",
        { workspace },
        { about: workspace, level: "Error" }
      )(error),
      5000
    )
  )

/** Settles the receipts of entries that ended and notifies the workers of running ones. */
const followUp = Effect.fnUntraced(function* ({ ended, stopping }: Cancelled, reason: Reason) {
  const now = yield* Clock.currentTimeMillis
  const cancellations = yield* Cancellations
  const receipts = yield* Receipts
  for (const entry of stopping) yield* cancellations.notify(entry.id, entry.cancelRequested ?? reason)
  for (const entry of ended) yield* receipts.settle(entry.events, { outcome: "cancelled", reason }, now)
})

const cancelTarget = Effect.fnUntraced(
  function* (targetKey: TargetKey, reason: Reason) {
    yield* followUp(yield* (yield* Queue).cancel(targetKey, reason), reason)
  },
  (effect, targetKey) =>
    Effect.catch(effect, (error) =>
      Effect.logError("entries not cancelled, their reviews continue").pipe(
        Effect.annotateLogs({ target: targetKey, error: error.message })
      )
    )
)

const cancelEntry = Effect.fnUntraced(function* (workspace: string, entryId: string, reason: Reason) {
  const isHere = (yield* (yield* Queue).get(entryId))?.workspace === workspace
  const cancelled = isHere ? yield* (yield* QueueControl).cancelEntry(entryId, reason) : nothingCancelled
  yield* followUp(cancelled, reason)
  return cancelled.ended.length > 0 ? "cancelled" : cancelled.stopping.length > 0 ? "stopping" : "over"
}, asQueueError)

const retryEntry = Effect.fnUntraced(function* (workspace: string, entryId: string) {
  const entry = yield* (yield* Queue).get(entryId)
  return entry?.workspace === workspace ? yield* tryAgain(entry, yield* Clock.currentTimeMillis) : "unknown"
}, asQueueError)

const pauseWorkspace = Effect.fnUntraced(function* (name: string, reason: Reason) {
  const since = yield* Clock.currentTimeMillis
  yield* (yield* QueueControl).pause({ scope: "workspace", name, reason, since })
})

export const layer = WorkspaceScheduler.toLayer(
  Effect.gen(function* () {
    yield* countStart("WorkspaceScheduler")
    const workspace = (yield* Entity.CurrentAddress).entityId
    const services = yield* Effect.context<Services>()
    const scan = yield* repeatScan(scanOrRetry(workspace, new ScanMemory()))
    const thenScan = <A, E>(effect: Effect.Effect<A, E, Services>): Effect.Effect<A, E> =>
      effect.pipe(
        Effect.tap(() => scan),
        Effect.provideContext(services)
      )
    return WorkspaceScheduler.of({
      Wake: () => Rpc.fork(scan),
      Cancel: ({ payload: { targetKey, reason } }) => thenScan(cancelTarget(targetKey, reason)),
      CancelEntry: ({ payload: { entryId, reason } }) => thenScan(cancelEntry(workspace, entryId, reason)),
      Retry: ({ payload: { entryId } }) => thenScan(retryEntry(workspace, entryId)),
      Pause: ({ payload: { reason } }) => thenScan(pauseWorkspace(workspace, reason)),
      Resume: () => thenScan(Effect.flatMap(QueueControl, (control) => control.resume("workspace", workspace)))
    })
  }),
  { disableFatalDefects: true, mailboxCapacity: 1024, maxIdleTime: "30 minutes" }
)
