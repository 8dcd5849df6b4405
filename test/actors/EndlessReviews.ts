/** Reviews of pushes that only end when they are cancelled: how they begin, and how often they were cleaned up. */
import { Context, Effect, Layer, Ref } from "effect"
import * as Scheduler from "../../actors/scheduling/WorkspaceScheduler.ts"
import { targetKey } from "../../src/domain/Change.ts"
import type { Change } from "../../src/domain/Change.ts"
import { Priority } from "../../src/domain/Entry.ts"
import { DeliveryKey } from "../../src/domain/Keys.ts"
import { verbatimReason } from "../../src/domain/Reason.ts"
import { enqueue } from "../../src/queue/Enqueue.ts"
import { Queue } from "../../src/queue/Queue.ts"
import { Receipts } from "../../src/store/Receipts.ts"
import { Vcs } from "../../src/vcs/Checkout.ts"
import { until } from "../harness/UntilOnTestClock.ts"

/** Checkouts that never complete. */
export class Checkouts extends Context.Service<
  Checkouts,
  { readonly begun: Ref.Ref<number>; readonly cleaned: Ref.Ref<number> }
>()("test/Checkouts") {
  static readonly layer = Layer.effect(Checkouts, Effect.all({ begun: Ref.make(0), cleaned: Ref.make(0) }))
}

export const endlessVcs = Layer.effect(
  Vcs,
  Effect.gen(function* () {
    const { begun, cleaned } = yield* Checkouts
    return Vcs.of({
      isAncestor: () => Effect.succeed(true),
      checkout: () =>
        Effect.gen(function* () {
          // Cleaning up takes its time; the entry must not end before.
          yield* Effect.addFinalizer(() =>
            Effect.andThen(
              Effect.callback<void>((done) => {
                setImmediate(() => done(Effect.void))
              }),
              Ref.update(cleaned, (count) => count + 1)
            )
          )
          yield* Ref.update(begun, (count) => count + 1)
          return yield* Effect.never
        })
    })
  })
)

export const scheduler = Effect.map(Scheduler.WorkspaceScheduler.client, (schedulerOf) => schedulerOf("w"))

export const begunAre = (count: number) =>
  Effect.flatMap(Checkouts, ({ begun }) => Effect.map(Ref.get(begun), (found) => found === count))
export const statusIs = (entryId: string, status: string) =>
  Effect.flatMap(Queue, (queue) => Effect.map(queue.get(entryId), (entry) => entry?.status === status))

/** Reviews of numbered changes, each a push of its own. */
export const endlessReviews = (change: (number: number) => Change) => {
  /** Stores a receipt and queues its entry. */
  const accept = Effect.fnUntraced(function* (
    number: number,
    priority: number = Priority.pullRequest,
    configHash = "test"
  ) {
    const receipts = yield* Receipts
    const eventId = `event-${number}`
    const work = { change: change(number), configHash, priority, dueAt: 0 }
    yield* receipts.store({
      id: eventId,
      deliveryKey: DeliveryKey.make(`gitea:${number}`),
      provider: "gitea",
      event: "push",
      action: undefined,
      trigger: "t",
      workspace: "w",
      targetKind: "push",
      targetKey: targetKey(change(number)),
      repo: "team/app",
      facts: {},
      decision: "queued",
      reason: undefined,
      work,
      receivedAt: 0
    })
    const [admitted] = yield* enqueue([{ eventId, ...work, admittedAt: 0 }])
    return admitted?.entryId ?? ""
  })
  const running = Effect.fnUntraced(function* (number: number) {
    const { begun } = yield* Checkouts
    const before = yield* Ref.get(begun)
    const entryId = yield* accept(number)
    yield* Effect.forkChild(Effect.flatMap(scheduler, (one) => one.Wake()))
    yield* until("the review runs", begunAre(before + 1))
    return entryId
  })
  /** Ends an entry. No review may run when the test ends, because stopping waits for it on a clock that does not advance. */
  const end = Effect.fnUntraced(function* (number: number, entryId: string) {
    yield* (yield* scheduler).Cancel({ targetKey: targetKey(change(number)), reason: verbatimReason("closed") })
    yield* until("the entry has ended", statusIs(entryId, "cancelled"))
  })
  return { accept, running, end }
}
