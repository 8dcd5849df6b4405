/** A pull request whose base changes is reviewed again although its head is the same. */
import { assert, layer } from "@effect/vitest"
import { Clock, Context, Effect, Layer, Ref } from "effect"
import { TestClock } from "effect/testing"
import * as Scheduler from "../../../actors/scheduling/WorkspaceScheduler.ts"
import { LeaseToken } from "../../../src/domain/FencingToken.ts"
import { ConfigStore } from "../../../src/config/ConfigStore.ts"
import { targetKey } from "../../../src/domain/Change.ts"
import type { Change } from "../../../src/domain/Change.ts"
import { verbatimReason } from "../../../src/domain/Reason.ts"
import { Forges } from "../../../src/forge/Forges.ts"
import { Outputs } from "../../../src/outputs/Outputs.ts"
import { Queue } from "../../../src/queue/Queue.ts"
import { Runs } from "../../../src/store/Runs.ts"
import { Vcs } from "../../../src/vcs/Checkout.ts"
import { analysis } from "../../store/Fixtures.ts"
import { reviewedForges, testSnapshotWith } from "../../harness/ActorParts.ts"
import { executorWorld } from "../../harness/ExecutorWorld.ts"
import { until } from "../../harness/UntilOnTestClock.ts"

/** Bases of the started checkouts, which never complete. */
class Checkouts extends Context.Service<Checkouts, { readonly bases: Ref.Ref<ReadonlyArray<string>> }>()(
  "test/Checkouts"
) {
  static readonly layer = Layer.effect(
    Checkouts,
    Effect.map(Ref.make<ReadonlyArray<string>>([]), (bases) => ({ bases }))
  )
}
const vcs = Layer.effect(
  Vcs,
  Effect.map(Checkouts, ({ bases }) =>
    Vcs.of({
      isAncestor: () => Effect.die("no history is read"),
      checkout: (request) =>
        Effect.andThen(
          Ref.update(bases, (begun) => [...begun, ("baseRef" in request ? request.baseRef : undefined) ?? ""]),
          Effect.never
        )
    })
  )
)

/** Target branch of the pull request at its host. */
class Host extends Context.Service<Host, { readonly base: Ref.Ref<string> }>()("test/Host") {
  static readonly layer = Layer.effect(
    Host,
    Effect.map(Ref.make("main"), (base) => ({ base }))
  )
}
const forges = Layer.effect(
  Forges,
  Effect.map(Host, ({ base }) =>
    reviewedForges(Effect.map(Ref.get(base), (baseRef) => ({ head: "h", state: "open" as const, baseRef, labels: [] })))
  )
)
/** One flag per status: whether the publications of its review need other ids than those of an earlier review. */
const repeated: Array<boolean | undefined> = []
const world = executorWorld(
  Layer.mergeAll(
    vcs,
    Layer.mock(Outputs, {
      issueCode: () => Effect.succeed([]),
      anyFor: () => true,
      plan: () => [],
      status: ({ isRepeated }) => {
        repeated.push(isRepeated)
        return []
      }
    }),
    forges,
    Layer.succeed(ConfigStore, testSnapshotWith("w", "t"))
  ),
  Layer.merge(Checkouts.layer, Host.layer)
)

const change = (baseRef: string): Change => ({
  provider: "gitea",
  trigger: "t",
  workspace: "w",
  repo: { fullName: "team/app" },
  target: { kind: "pull_request", number: 7 },
  head: "h",
  base: "b",
  baseRef
})
const target = targetKey(change("main"))

const admit = Effect.fnUntraced(function* (eventId: string, reviewed: Change) {
  const [admitted] = yield* (yield* Queue).admit([
    { eventId, change: reviewed, configHash: "c", priority: 10, dueAt: 0, admittedAt: 0 }
  ])
  return admitted?.entryId ?? ""
})

const wake = Effect.gen(function* () {
  const schedulerOf = yield* Scheduler.WorkspaceScheduler.client
  yield* Effect.forkChild(schedulerOf("w").Wake())
})

/** Handles a delivery of the host with a new base of the pull request. */
const deliver = Effect.fnUntraced(function* (eventId: string, baseRef: string) {
  yield* Ref.set((yield* Host).base, baseRef)
  const entry = yield* admit(eventId, change(baseRef))
  yield* wake
  return entry
})

const reviewed = (...expected: ReadonlyArray<string>) =>
  until(
    `reviewed into ${expected.join(", ")}`,
    Effect.flatMap(Checkouts, ({ bases }) => Effect.map(Ref.get(bases), (begun) => begun.join() === expected.join()))
  )
const ended = (entryId: string, status: string) =>
  until(
    `${entryId} is ${status}`,
    Effect.flatMap(Queue, (queue) => Effect.map(queue.get(entryId), (entry) => entry?.status === status))
  )
const cancel = Effect.gen(function* () {
  const schedulerOf = yield* Scheduler.WorkspaceScheduler.client
  yield* schedulerOf("w").Cancel({ targetKey: target, reason: verbatimReason("closed") })
})

/** Stores a review of the head into this branch, published or about to be. */
const earlier = Effect.fnUntraced(function* (baseRef: string, status: "publishing" | "succeeded", entryId = "earlier") {
  const runs = yield* Runs
  const begun = { entryId, workspace: "w", targetKey: target, head: "h", base: "b", configHash: "c" }
  const run = yield* runs.begin({ ...begun, change: change(baseRef) }, LeaseToken.make(1), 0)
  if (run === undefined) throw new Error("nothing holds the entry")
  yield* runs.move(run.id, LeaseToken.make(1), "analyzing", 0)
  assert.isTrue(yield* runs.complete(run.id, LeaseToken.make(1), analysis, [], 0))
  if (status === "succeeded") yield* runs.settle(run.id, "succeeded", { partial: false, reason: undefined }, 0)
})

const each = (name: string, test: () => Effect.Effect<void, unknown, Layer.Success<typeof world>>) =>
  layer(world)((it) => it.effect(name, test))

each("a change of base while a review of the same head runs is reviewed after it", () =>
  Effect.gen(function* () {
    const queue = yield* Queue
    const first = yield* deliver("opened", "main")
    yield* reviewed("main")
    assert.strictEqual(yield* deliver("again", "main"), first)
    const second = yield* deliver("edited", "next")
    assert.notStrictEqual(second, first)
    assert.deepInclude(yield* queue.get(second), { status: "waiting", events: ["edited"] })
    const [running] = yield* (yield* Runs).list({ targetKey: target, limit: 5 })
    // The first one is analysed and not published yet when the second one begins.
    assert.isTrue(yield* (yield* Runs).complete(running?.id ?? "", LeaseToken.make(1), analysis, [], 0))
    yield* Effect.flatMap(Queue, ({ reclaim }) =>
      Effect.flatMap(Clock.currentTimeMillis, (now) => reclaim(now, () => true))
    )
    yield* Effect.forkChild(Effect.flatMap(Scheduler.WorkspaceScheduler.client, (of) => of("w").Wake()))
    yield* TestClock.adjust("100 seconds")
    yield* reviewed("main", "next")
    yield* cancel
    yield* ended(second, "cancelled")
  })
)

for (const status of ["succeeded", "publishing"] as const) {
  each(`a change of base is reviewed although a review of the head is ${status}`, () =>
    Effect.gen(function* () {
      repeated.length = 0
      yield* earlier("main", status)
      const entry = yield* deliver("edited", "next")
      yield* reviewed("next")
      yield* until(
        "its head has a status",
        Effect.sync(() => repeated.length > 0)
      )
      assert.isTrue(repeated.every((again) => again === true))
      yield* cancel
      yield* ended(entry, "cancelled")
    })
  )

  each(`the same head and base is not reviewed again while a review of it is ${status}`, () =>
    Effect.gen(function* () {
      yield* earlier("main", status)
      const entry = yield* deliver("synchronized", "main")
      yield* ended(entry, "done")
      yield* reviewed()
    })
  )
}

each("a requested review that was published is not repeated when its process ended before its entry", () =>
  Effect.gen(function* () {
    const requested = { ...change("main"), requestedBy: "ada" }
    const entry = yield* admit("requested", requested)
    yield* earlier("main", "succeeded", entry)
    yield* wake
    yield* ended(entry, "done")
    yield* reviewed()
    const again = yield* admit("requested again", requested)
    yield* wake
    yield* reviewed("main")
    yield* cancel
    yield* ended(again, "cancelled")
  })
)
