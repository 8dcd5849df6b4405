/**
 * One per workspace. Decides what runs next and gives out tickets; the decision itself is `plan`, a pure function over the
 * queue's entries and the clock. Woken by ingress, by executors that finish, by the sweeper and by its own alarm; a wake that
 * is lost costs time, never work, because the queue holds the truth.
 *
 * Messages: `Wake` (look again), `Cancel` (what waits for a target is no longer wanted). Both may be repeated.
 */
import { Clock, Duration, Effect, FiberHandle, Schema, Semaphore } from "effect"
import { Entity } from "effect/cluster"
import { Rpc } from "effect/rpc"
import { ConfigStore } from "../src/config/ConfigStore.ts"
import { plan } from "../src/queue/Plan.ts"
import { Queue } from "../src/queue/Queue.ts"
import { Tickets } from "../src/queue/Tickets.ts"
import { Receipts } from "../src/store/Receipts.ts"

const Wake = Rpc.make("Wake")
const Cancel = Rpc.make("Cancel", { payload: { targetKey: Schema.String, reason: Schema.String } })

export const WorkspaceScheduler = Entity.make("WorkspaceScheduler", [Wake, Cancel])

/** A ticket nobody claimed for this long is offered again. */
const reofferAfter = Duration.toMillis("30 seconds")

export const layer = WorkspaceScheduler.toLayer(
  Effect.gen(function* () {
    const workspace = (yield* Entity.CurrentAddress).entityId
    const config = yield* ConfigStore
    const queue = yield* Queue
    const receipts = yield* Receipts
    const tickets = yield* Tickets
    const alarm = yield* FiberHandle.make()
    const turn = yield* Semaphore.make(1)
    const scope = yield* Effect.scope
    /** When each ready entry's ticket went out, as far as this activation knows. */
    const offeredAt = new Map<string, number>()

    const look: Effect.Effect<void> = Effect.gen(function* () {
      const now = yield* Clock.currentTimeMillis
      const entries = yield* queue.load(workspace)
      const { per_workspace_concurrency } = config.current().document.queue.workers
      const next = plan(entries, per_workspace_concurrency, now)
      const released = yield* queue.release(next.release, now)

      const ready = [...released, ...entries.filter((entry) => entry.status === "ready").map((entry) => entry.id)]
      for (const known of offeredAt.keys()) if (!ready.includes(known)) offeredAt.delete(known)
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
    const lookInTurn: Effect.Effect<void> = Effect.suspend(() => turn.withPermits(1)(look))

    return WorkspaceScheduler.of({
      Wake: () => lookInTurn,
      Cancel: ({ payload }) =>
        Effect.gen(function* () {
          const cancelled = yield* queue.cancel(payload.targetKey, payload.reason)
          const now = yield* Clock.currentTimeMillis
          for (const entry of cancelled) {
            yield* receipts.settle(entry.events, { outcome: "cancelled", reason: payload.reason }, now)
          }
          yield* lookInTurn
        }).pipe(
          Effect.catch((error) =>
            Effect.logError(
              `Waiting work for ${payload.targetKey} could not be cancelled: ${error.message}. It is reviewed instead.`
            )
          )
        )
    })
  }),
  { disableFatalDefects: true, mailboxCapacity: 1024, maxIdleTime: "30 minutes" }
)
