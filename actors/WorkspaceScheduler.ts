/**
 * One per workspace. Decides what runs next and gives out tickets; the decision itself is `plan`, a pure function over what the
 * queue surveys and the clock. Woken by ingress, by executors that finish, by the sweeper and by its own alarm; a wake that
 * is lost costs time, never work, because the queue holds the truth.
 *
 * Messages: `Wake` (look again; all that come before a look begins are one), `Cancel` (a target is no longer to be reviewed); from
 * operators `CancelEntry`, `Retry` (a dead entry gets another try), `Pause` and `Resume`. All may be repeated.
 */
import { Clock, Deferred, Duration, Effect, FiberHandle, Schema, Semaphore } from "effect"
import { ClusterSchema, Entity } from "effect/cluster"
import { Rpc } from "effect/rpc"
import { ConfigStore } from "../src/config/ConfigStore.ts"
import { Cancellations } from "../src/queue/Cancellations.ts"
import { plan } from "../src/queue/Plan.ts"
import type { Scheduled } from "../src/queue/Plan.ts"
import { nothingCancelled, Queue, QueueError } from "../src/queue/Queue.ts"
import type { Cancelled } from "../src/queue/Queue.ts"
import { QueueControl } from "../src/queue/QueueControl.ts"
import { Tickets } from "../src/queue/Tickets.ts"
import { tryAgain } from "../src/queue/TryAgain.ts"
import type { Batches } from "../src/store/Batches.ts"
import { Receipts } from "../src/store/Receipts.ts"
import type { StoreError } from "../src/store/StoreError.ts"
import { everyOne } from "./Placement.ts"

const Wake = Rpc.make("Wake")
const Cancel = Rpc.make("Cancel", { payload: { targetKey: Schema.String, reason: Schema.String } })
const CancelEntry = Rpc.make("CancelEntry", {
  payload: { entryId: Schema.String, reason: Schema.String },
  /** `stopping`: it runs, and its worker ends it. `over`: there is no such entry here, or it has ended. */
  success: Schema.Literals(["cancelled", "stopping", "over"]),
  error: QueueError
})
const Retry = Rpc.make("Retry", {
  payload: { entryId: Schema.String },
  success: Schema.Literals(["retried", "unknown", "not_dead", "newer"]),
  error: QueueError
})
const Pause = Rpc.make("Pause", { payload: { reason: Schema.String }, error: QueueError })
const Resume = Rpc.make("Resume", { error: QueueError })

export const WorkspaceScheduler = Entity.make("WorkspaceScheduler", [
  Wake,
  Cancel,
  CancelEntry,
  Retry,
  Pause,
  Resume
]).annotate(ClusterSchema.ShardGroup, everyOne("actors"))

/** A ticket nobody claimed for this long is offered again. */
const reofferAfter = Duration.toMillis("30 seconds")

/** A survey that took longer says nothing about now. */
const surveyHolds = 3000

export const layer = WorkspaceScheduler.toLayer(
  Effect.gen(function* () {
    const workspace = (yield* Entity.CurrentAddress).entityId
    const config = yield* ConfigStore
    const records = yield* Effect.context<Batches | QueueControl | Receipts>()
    const queue = yield* Queue
    const control = yield* QueueControl
    const receipts = yield* Receipts
    const tickets = yield* Tickets
    const cancellations = yield* Cancellations
    const alarm = yield* FiberHandle.make()
    const oneAtATime = yield* Semaphore.make(1)
    const scope = yield* Effect.scope
    /** When each ready entry's ticket went out, as far as this activation knows. */
    const offeredAt = new Map<string, number>()
    const turns = new Turns()

    const look: Effect.Effect<void> = Effect.gen(function* () {
      const lookedAt = performance.now()
      const now = yield* Clock.currentTimeMillis
      const { per_workspace_concurrency } = config.current().document.queue.workers
      const survey = yield* queue.survey(workspace, now, per_workspace_concurrency)
      const next = plan(survey, per_workspace_concurrency, turns.last)
      // A node that was frozen meanwhile: another one may have decided since.
      if (performance.now() - lookedAt > surveyHolds) return yield* setAlarm(surveyHolds)
      if (next.withdraw.length > 0) yield* queue.withdraw(idsOf(next.withdraw))
      const released = next.release.length === 0 ? [] : yield* queue.release(idsOf(next.release), now)
      turns.served(next.release)

      const standing = survey.out.filter((entry) => entry.status === "ready" && !next.withdraw.includes(entry))
      const ready = new Set([...released, ...idsOf(standing)])
      for (const known of offeredAt.keys()) if (!ready.has(known)) offeredAt.delete(known)
      for (const entryId of ready) {
        if ((offeredAt.get(entryId) ?? -Infinity) + reofferAfter > now) continue
        offeredAt.set(entryId, now)
        yield* tickets.offer({ entryId, workspace })
      }

      const alarms = [next.nextAt, ...[...offeredAt.values()].map((at) => at + reofferAfter)].filter(
        (at) => at !== undefined
      )
      if (alarms.length === 0) yield* FiberHandle.clear(alarm)
      else yield* setAlarm(Math.max(0, Math.min(...alarms) - now))
    }).pipe(
      Effect.catch((error) =>
        Effect.logError(
          `Workspace ${workspace} could not be scheduled: ${error.message}. It is tried again in 5 seconds.`
        ).pipe(Effect.andThen(setAlarm(5000)))
      )
    )
    // The look itself runs outside the alarm's fiber: setting the next alarm ends that fiber.
    const setAlarm = (millis: number): Effect.Effect<void> =>
      Effect.sleep(millis).pipe(
        Effect.andThen(Effect.forkIn(lookInTurn, scope)),
        (ring) => FiberHandle.run(alarm, ring),
        Effect.asVoid
      )
    /** Succeeds when the look has ended that was to begin next when this was asked for. */
    let coming: Deferred.Deferred<void> | undefined
    const lookInTurn: Effect.Effect<void> = Effect.suspend(() => {
      if (coming !== undefined) return Deferred.await(coming)
      const looked = Deferred.makeUnsafe<void>()
      coming = looked
      const begun = Effect.sync(() => {
        coming = undefined
      })
      // Reviews that end together wake together: what comes in the same turn of the event loop is seen by the same look.
      return Effect.yieldNow.pipe(
        Effect.andThen(oneAtATime.withPermits(1)(Effect.andThen(begun, look))),
        Effect.andThen(Deferred.succeed(looked, undefined)),
        Effect.forkIn(scope),
        Effect.andThen(Deferred.await(looked))
      )
    })

    /** What ended gets its outcome, what runs is told. */
    const follow = Effect.fnUntraced(function* ({ ended, stopping }: Cancelled, reason: string) {
      const now = yield* Clock.currentTimeMillis
      for (const entry of stopping) yield* cancellations.tell(entry.id, entry.cancelRequested ?? reason)
      for (const entry of ended) yield* receipts.settle(entry.events, { outcome: "cancelled", reason }, now)
      yield* lookInTurn
    })
    const asQueueError = <A>(effect: Effect.Effect<A, QueueError | StoreError>): Effect.Effect<A, QueueError> =>
      Effect.catchTag(effect, "StoreError", ({ message }) =>
        Effect.fail(new QueueError({ reason: "unavailable", message }))
      )

    return WorkspaceScheduler.of({
      Wake: () => Rpc.fork(lookInTurn),
      Cancel: ({ payload: { targetKey, reason } }) =>
        Effect.flatMap(queue.cancel(targetKey, reason), (cancelled) => follow(cancelled, reason)).pipe(
          Effect.catch((error) =>
            Effect.logError(
              `Work for ${targetKey} could not be cancelled: ${error.message}. What is not cancelled is reviewed.`
            )
          )
        ),
      CancelEntry: ({ payload: { entryId, reason } }) =>
        Effect.gen(function* () {
          const here = (yield* queue.get(entryId))?.workspace === workspace
          const cancelled = here ? yield* control.cancelEntry(entryId, reason) : nothingCancelled
          yield* follow(cancelled, reason)
          return cancelled.ended.length > 0 ? "cancelled" : cancelled.stopping.length > 0 ? "stopping" : "over"
        }).pipe(asQueueError),
      Retry: ({ payload: { entryId } }) =>
        Effect.gen(function* () {
          const entry = yield* queue.get(entryId)
          if (entry?.workspace !== workspace) return "unknown"
          const retried = yield* tryAgain(entry, yield* Clock.currentTimeMillis)
          yield* lookInTurn
          return retried
        }).pipe(Effect.provide(records), asQueueError),
      Pause: ({ payload: { reason } }) =>
        Effect.gen(function* () {
          const since = yield* Clock.currentTimeMillis
          yield* control.pause({ scope: "workspace", name: workspace, reason, since })
          yield* lookInTurn
        }),
      Resume: () => Effect.andThen(control.resume("workspace", workspace), lookInTurn)
    })
  }),
  { disableFatalDefects: true, mailboxCapacity: 1024, maxIdleTime: "30 minutes" }
)

const idsOf = (entries: ReadonlyArray<Scheduled>) => entries.map(({ id }) => id)

/** Repositories remembered; a longer memory would make nothing fairer. */
const maxRepositories = 1000

/** In which turn each repository was last served. A scheduler that starts anew has forgotten it: then the oldest entry is first. */
class Turns {
  readonly #last = new Map<string, number>()
  #turn = 0

  get last(): ReadonlyMap<string, number> {
    return this.#last
  }

  served(entries: ReadonlyArray<Scheduled>): void {
    for (const { repo } of entries) {
      this.#last.delete(repo)
      this.#last.set(repo, this.#turn++)
    }
    for (const repo of this.#last.keys()) {
      if (this.#last.size <= maxRepositories) return
      this.#last.delete(repo)
    }
  }
}
