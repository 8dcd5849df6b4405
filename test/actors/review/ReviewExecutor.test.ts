/** The slots of a node: a cancelled review ends immediately with everything it started, and a drained node takes no ticket. */
import { assert, layer } from "@effect/vitest"
import { Clock, Context, Effect, Fiber, Layer, Ref } from "effect"
import { TestClock } from "effect/testing"
import { verbatimReason } from "../../../src/domain/Reason.ts"
import { ConfigStore } from "../../../src/config/ConfigStore.ts"
import { targetKey } from "../../../src/domain/Change.ts"
import type { Change } from "../../../src/domain/Change.ts"
import { Priority } from "../../../src/domain/Entry.ts"
import { ForgeError } from "../../../src/forge/ForgeError.ts"
import { Forges } from "../../../src/forge/Forges.ts"
import type { TriggerProfile } from "../../../src/config/Snapshot.ts"
import { Outputs } from "../../../src/outputs/Outputs.ts"
import { Queue } from "../../../src/queue/Queue.ts"
import { QueueControl } from "../../../src/queue/operator/QueueControl.ts"
import { Batches } from "../../../src/store/Batches.ts"
import { Receipts } from "../../../src/store/Receipts.ts"
import { Runs } from "../../../src/store/Runs.ts"
import { testForges, testSnapshotWith } from "../../harness/ActorParts.ts"
import { executorWorld } from "../../harness/ExecutorWorld.ts"
import { until } from "../../harness/UntilOnTestClock.ts"
import { inEnglish } from "../../../src/text/en.ts"
import { begunAre, Checkouts, endlessReviews, endlessVcs, scheduler, statusIs } from "../EndlessReviews.ts"

/** A host that fails a given number of times before the first checkout. */
class Host extends Context.Service<Host, { readonly failure: Ref.Ref<ForgeError | undefined> }>()("test/Host") {
  static readonly layer = Layer.effect(
    Host,
    Effect.map(Ref.make<ForgeError | undefined>(undefined), (failure) => ({ failure }))
  )
}
const noForge = testForges(Effect.die("no pull request is asked for"))
const forges = Layer.effect(
  Forges,
  Effect.map(Host, ({ failure }) => ({
    ...noForge,
    client: (profile: TriggerProfile) => ({
      ...noForge.client(profile),
      newestCommit: () => Effect.succeed("m"),
      gitAuthorization: () =>
        Effect.flatMap(Ref.get(failure), (error) =>
          error === undefined ? Effect.succeed(undefined) : Effect.fail(error)
        )
    })
  }))
)
const worldWith = (config: ConfigStore["Service"]) =>
  executorWorld(
    Layer.mergeAll(
      endlessVcs,
      Layer.mock(Outputs, {
        issueCode: () => Effect.succeed([]),
        anyFor: (_workspace, { target }) => target.branch !== "branch-9",
        plan: () => [],
        status: () => []
      }),
      forges,
      Layer.succeed(ConfigStore, config)
    ),
    Layer.merge(Checkouts.layer, Host.layer)
  )
const world = worldWith(testSnapshotWith("w", "t"))
const expiringSoon = worldWith(testSnapshotWith("w", "t", { review: { auto_commit: { queued_timeout_hours: 2 } } }))

const change = (number: number): Change => ({
  provider: "gitea",
  // The configuration has no trigger of the other name.
  trigger: number === 8 ? "gone" : "t",
  workspace: "w",
  repo: { fullName: "team/app" },
  target: { kind: "push", branch: `branch-${number % 100}` },
  head: `h${number}`,
  base: "b"
})

const { accept, running, end } = endlessReviews(change)

const each = (name: string, test: () => Effect.Effect<void, unknown, Layer.Success<typeof world>>) =>
  layer(world)((it) => it.effect(name, test))

each(
  "a cancelled review ends immediately and is cleaned up; entry, run and receipt record it, and its slot is free",
  () =>
    Effect.gen(function* () {
      const { cleaned } = yield* Checkouts
      const entryId = yield* running(1)
      const waiting = yield* accept(2)
      yield* (yield* scheduler).Cancel({ targetKey: targetKey(change(1)), reason: verbatimReason("closed") })
      const took = yield* until("the entry has ended", statusIs(entryId, "cancelled"))
      // The lease is renewed after 100 seconds only.
      assert.isBelow(took, 5000)
      assert.strictEqual(yield* Ref.get(cleaned), 1)
      const event = yield* Effect.flatMap(Receipts, (receipts) => receipts.get("event-1"))
      assert.deepStrictEqual([event?.outcome, event?.outcomeReason], ["cancelled", verbatimReason("closed")])
      const [run] = yield* Effect.flatMap(Runs, (runs) => runs.list({ targetKey: targetKey(change(1)), limit: 5 }))
      assert.deepInclude(run, { status: "cancelled", reason: verbatimReason("closed") })
      yield* until("the next one runs", statusIs(waiting, "running"))
      yield* end(2, waiting)
    })
)

each("the next batch of a branch starts when the review before it has ended, without a scan of the batches", () =>
  Effect.gen(function* () {
    const entryId = yield* running(1)
    assert.strictEqual(yield* accept(101), "", "it waits for the first one")
    yield* end(1, entryId)
    const took = yield* until("the next one runs", begunAre(2))
    assert.isBelow(took, 2000)
    const [next] = yield* Effect.flatMap(Batches, (batches) => batches.list({ limit: 1 }))
    yield* end(101, next?.entryId ?? "")
    const event = yield* Effect.flatMap(Receipts, (receipts) => receipts.get("event-101"))
    assert.deepStrictEqual([event?.outcome, event?.outcomeReason], ["cancelled", verbatimReason("closed")])
  })
)

each("a request that another node made is learnt with the next renewal", () =>
  Effect.gen(function* () {
    const entryId = yield* running(1)
    yield* Effect.flatMap(QueueControl, (control) => control.cancelEntry(entryId, verbatimReason("unwanted")))
    yield* TestClock.adjust("99 seconds")
    assert.isTrue(yield* statusIs(entryId, "running"))
    yield* until("the entry has ended", statusIs(entryId, "cancelled"))
  })
)

each("a review whose lease is lost ends, and leaves the entry to its new holder", () =>
  Effect.gen(function* () {
    const queue = yield* Queue
    const { cleaned } = yield* Checkouts
    const entryId = yield* running(1)
    yield* queue.reclaim(yield* Clock.currentTimeMillis, () => true)
    yield* queue.promote([entryId], yield* Clock.currentTimeMillis)
    const claimed = yield* queue.claim(entryId, "other/1", yield* Clock.currentTimeMillis, 10_000_000)
    assert.isDefined(claimed)
    yield* TestClock.adjust("100 seconds")
    yield* until(
      "it is cleaned up",
      Effect.map(Ref.get(cleaned), (count) => count === 1)
    )
    assert.deepInclude(yield* queue.get(entryId), { status: "running", owner: "other/1" })
  })
)

each("a drained node finishes what runs and takes nothing more until it is resumed", () =>
  Effect.gen(function* () {
    const control = yield* QueueControl
    const entryId = yield* running(1)
    yield* control.pause({ scope: "node", name: "node", reason: verbatimReason("upgrade"), since: 0 })
    yield* TestClock.adjust("3 seconds")
    const next = yield* accept(2)
    yield* end(1, entryId)
    yield* until("a ticket is out", statusIs(next, "ready"))
    yield* TestClock.adjust("2 minutes")
    assert.isTrue(yield* statusIs(next, "ready"))
    yield* control.resume("node", "node")
    yield* until("it runs", statusIs(next, "running"))
    yield* end(2, next)
  })
)

const down = new ForgeError({ reason: "unavailable", operation: "GET /x", why: verbatimReason("connect ECONNREFUSED") })
const runOf = (number: number) =>
  Effect.flatMap(Runs, (runs) =>
    Effect.map(runs.list({ targetKey: targetKey(change(number)), limit: 5 }), ([run]) => run)
  )

each(
  "a host that is unavailable for twelve hours costs no attempt; the run records what it waits for and until when",
  () =>
    Effect.gen(function* () {
      const { failure } = yield* Host
      const queue = yield* Queue
      yield* Ref.set(failure, down)
      const entryId = yield* accept(1)
      yield* Effect.forkChild(Effect.flatMap(scheduler, (one) => one.Wake()))
      yield* until(
        "the run waits",
        Effect.map(runOf(1), (run) => run?.waitingUntil !== undefined)
      )
      const begun = yield* Clock.currentTimeMillis
      while ((yield* Clock.currentTimeMillis) - begun < 12 * 3_600_000) {
        yield* TestClock.adjust("1 minute")
        yield* Effect.callback<void>((done) => {
          setImmediate(() => done(Effect.void))
        })
      }
      yield* until("it waits again", statusIs(entryId, "waiting"))
      const [entry, run] = [yield* queue.get(entryId), yield* runOf(1)]
      assert.deepInclude(entry, { attempts: 0, losses: 0 })
      const reason = { _tag: "HostRequestFailed", reason: verbatimReason("connect ECONNREFUSED") } as const
      assert.deepInclude(run, { status: "queued", reason })
      assert.strictEqual(entry?.dueAt, run?.waitingUntil)
      assert.isAbove(run?.waitingUntil ?? 0, yield* Clock.currentTimeMillis)
      // Fewer than one attempt in ten minutes, after the first ones.
      assert.isBelow(entry?.token ?? Infinity, 130)
      yield* Ref.set(failure, undefined)
      const { begun: checkouts } = yield* Checkouts
      while ((yield* Ref.get(checkouts)) === 0) {
        yield* TestClock.adjust("1 minute")
        yield* Effect.callback<void>((done) => {
          setImmediate(() => done(Effect.void))
        })
      }
      assert.strictEqual((yield* runOf(1))?.id, run?.id)
      yield* end(1, entryId)
    })
)

each("after a day of outage the review is dead with its reason, and an operator can try it again", () =>
  Effect.gen(function* () {
    const { failure } = yield* Host
    yield* Ref.set(failure, down)
    const entryId = yield* accept(1)
    yield* Effect.forkChild(Effect.flatMap(scheduler, (one) => one.Wake()))
    const begun = yield* Clock.currentTimeMillis
    while (!(yield* statusIs(entryId, "dead"))) {
      assert.isBelow((yield* Clock.currentTimeMillis) - begun, 25 * 3_600_000)
      yield* TestClock.adjust("10 minutes")
      yield* Effect.callback<void>((done) => {
        setImmediate(() => done(Effect.void))
      })
    }
    assert.isAtLeast((yield* Clock.currentTimeMillis) - begun, 24 * 3_600_000)
    const run = yield* runOf(1)
    assert.strictEqual(run?.status, "failed")
    assert.deepInclude(run?.reason, { _tag: "GivenUp", hours: 24 })
    yield* Ref.set(failure, undefined)
    const retried = yield* Effect.forkChild(Effect.flatMap(scheduler, (one) => one.Retry({ entryId })))
    yield* until("the review runs", begunAre(1))
    assert.strictEqual(yield* Fiber.join(retried), "retried")
    yield* end(1, entryId)
  })
)

layer(expiringSoon)((it) =>
  it.effect("automatic work waits no longer for its host than its workspace allows", () =>
    Effect.gen(function* () {
      yield* Ref.set((yield* Host).failure, down)
      const [pull, push] = [yield* accept(1), yield* accept(2, Priority.automatic)]
      yield* Effect.forkChild(Effect.flatMap(scheduler, (one) => one.Wake()))
      const begun = yield* Clock.currentTimeMillis
      while (!(yield* statusIs(push, "dead"))) {
        assert.isBelow((yield* Clock.currentTimeMillis) - begun, 3 * 3_600_000)
        yield* TestClock.adjust("1 minute")
        yield* Effect.callback<void>((done) => {
          setImmediate(() => done(Effect.void))
        })
      }
      assert.isAtLeast((yield* Clock.currentTimeMillis) - begun, 2 * 3_600_000)
      assert.deepInclude((yield* runOf(2))?.reason, { _tag: "GivenUp", hours: 2 })
      assert.isFalse(yield* statusIs(pull, "dead"))
    })
  )
)

each("a review whose trigger or workspace is not configured ends with a run that contains the reason", () =>
  Effect.gen(function* () {
    const [gone, unrouted] = [yield* accept(8), yield* accept(9)]
    yield* Effect.forkChild(Effect.flatMap(scheduler, (one) => one.Wake()))
    yield* until("the entry without a trigger is dead", statusIs(gone, "dead"))
    yield* until("the entry without a channel is done", statusIs(unrouted, "done"))
    assert.deepInclude(yield* runOf(8), {
      status: "failed",
      reason: { _tag: "TriggerUnconfigured", trigger: "gone" }
    })
    assert.deepInclude(yield* runOf(9), { status: "skipped", reason: { _tag: "NoChannel", kind: "push" } })
  })
)

each("a review whose configuration is missing on this node is left to other nodes, and costs no attempt", () =>
  Effect.gen(function* () {
    const entryId = yield* accept(8, undefined, "of another node")
    yield* Effect.forkChild(Effect.flatMap(scheduler, (one) => one.Wake()))
    const queue = yield* Queue
    yield* until(
      "the entry waits",
      Effect.map(
        queue.get(entryId),
        (entry) =>
          entry?.status === "waiting" && entry.reason !== undefined && inEnglish(entry.reason).includes("on this node")
      )
    )
    assert.strictEqual((yield* queue.get(entryId))?.attempts, 0)
  })
)
