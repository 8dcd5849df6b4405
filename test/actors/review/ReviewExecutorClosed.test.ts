/**
 * A pull request that is closed during its review: the review ends with everything it started, and so does the status of its commit at the
 * host.
 */
import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer, Ref } from "effect"
import { verbatimReason } from "../../../src/domain/Reason.ts"
import * as Scheduler from "../../../actors/scheduling/WorkspaceScheduler.ts"
import { ConfigStore } from "../../../src/config/ConfigStore.ts"
import { targetKey } from "../../../src/domain/Change.ts"
import type { Change } from "../../../src/domain/Change.ts"
import { OperationId } from "../../../src/domain/Keys.ts"
import { Forges } from "../../../src/forge/Forges.ts"
import { Outputs } from "../../../src/outputs/Outputs.ts"
import { Queue } from "../../../src/queue/Queue.ts"
import { Runs } from "../../../src/store/Runs.ts"
import { Vcs } from "../../../src/vcs/Checkout.ts"
import { reviewedForges, testSnapshotWith } from "../../harness/ActorParts.ts"
import { executorWorld } from "../../harness/ExecutorWorld.ts"
import { until } from "../../harness/UntilOnTestClock.ts"
import { quietOutputs } from "../publishing/QuietOutputs.ts"

/** A review that never completes: how often it began, and was ended. */
class Waiting extends Context.Service<Waiting, { readonly begun: Ref.Ref<number>; readonly ended: Ref.Ref<number> }>()(
  "test/Waiting"
) {
  static readonly layer = Layer.effect(Waiting, Effect.all({ begun: Ref.make(0), ended: Ref.make(0) }))
}
const vcs = Layer.effect(
  Vcs,
  Effect.map(Waiting, ({ begun, ended }) =>
    Vcs.of({
      isAncestor: () => Effect.die("no history is read"),
      checkout: () =>
        Effect.andThen(
          Ref.update(begun, (count) => count + 1),
          Effect.onInterrupt(Effect.never, () => Ref.update(ended, (count) => count + 1))
        )
    })
  )
)

/** The pull request at its host, and the statuses of its head there, newest last. */
class Host extends Context.Service<
  Host,
  { readonly state: Ref.Ref<"open" | "closed">; readonly statuses: Ref.Ref<ReadonlyArray<string>> }
>()("test/Host") {
  static readonly layer = Layer.effect(
    Host,
    Effect.gen(function* () {
      return {
        state: yield* Ref.make<"open" | "closed">("open"),
        statuses: yield* Ref.make<ReadonlyArray<string>>([])
      }
    })
  )
}
const forges = Layer.effect(
  Forges,
  Effect.map(Host, ({ state }) => reviewedForges(Effect.map(Ref.get(state), (now) => ({ head: "h", state: now }))))
)
const outputs = Layer.effect(
  Outputs,
  Effect.map(Host, ({ statuses }) =>
    Outputs.of({
      ...quietOutputs,
      status: ({ runId, targetKey: key, head }, state, description) => [
        {
          id: `${runId}:${state}`,
          operationId: OperationId.make(`${runId}:${state}`),
          runId,
          targetKey: key,
          channel: "commit_status",
          operation: { _tag: "Status", head, state, description },
          status: "pending",
          position: 0,
          attempts: 0
        }
      ],
      send: (_workspace, _change, { operation }) =>
        Effect.as(
          Ref.update(statuses, (sent) => [...sent, operation._tag === "Status" ? operation.state : operation._tag]),
          { hostId: "1", url: undefined, next: [] }
        ),
      find: () => Effect.succeed(undefined)
    })
  )
)
const world = executorWorld(
  Layer.mergeAll(vcs, outputs, forges, Layer.succeed(ConfigStore, testSnapshotWith("w", "t"))),
  Layer.merge(Waiting.layer, Host.layer)
)

const change: Change = {
  provider: "gitea",
  trigger: "t",
  workspace: "w",
  repo: { fullName: "team/app" },
  target: { kind: "pull_request", number: 7 },
  head: "h",
  base: "b"
}
const target = targetKey(change)

layer(world)((it) => {
  it.effect("a pull request that is closed ends its review and the status of its commit", () =>
    Effect.gen(function* () {
      const queue = yield* Queue
      const { begun, ended } = yield* Waiting
      const { state, statuses } = yield* Host
      const [admitted] = yield* queue.admit([
        { eventId: "opened", change, configHash: "c", priority: 10, dueAt: 0, admittedAt: 0 }
      ])
      const entryId = admitted?.entryId ?? ""
      const schedulerOf = yield* Scheduler.WorkspaceScheduler.client
      yield* Effect.forkChild(schedulerOf("w").Wake())
      yield* until(
        "the review runs",
        Effect.map(Ref.get(begun), (count) => count === 1)
      )
      yield* until(
        "its commit says so",
        Effect.map(Ref.get(statuses), (sent) => sent.join() === "pending")
      )
      yield* Ref.set(state, "closed")
      yield* schedulerOf("w").Cancel({ targetKey: target, reason: verbatimReason("closed") })
      yield* until(
        "the entry has ended",
        Effect.map(queue.get(entryId), (entry) => entry?.status === "cancelled")
      )
      assert.strictEqual(yield* Ref.get(ended), 1)
      const [run] = yield* (yield* Runs).list({ targetKey: target, limit: 5 })
      assert.deepInclude(run, { status: "cancelled", reason: verbatimReason("closed") })
      yield* until(
        "the status has ended",
        Effect.map(Ref.get(statuses), (sent) => sent.join() === "pending,failure")
      )
    })
  )
})
