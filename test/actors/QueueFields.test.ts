/** Effects of `queue.workers`, `queue.retry` and `queue.sqlite.lock_ttl_seconds` on waiting and running reviews. */
import { assert, it } from "@effect/vitest"
import { Clock, Effect, Layer, Ref, Stream } from "effect"
import { TestClock } from "effect/testing"
import * as Publisher from "../../actors/publishing/ChangePublisher.ts"
import * as Executor from "../../actors/review/ReviewExecutor.ts"
import * as Scheduler from "../../actors/scheduling/WorkspaceScheduler.ts"
import { verbatimReason } from "../../src/domain/Reason.ts"
import { Agent, AgentError } from "../../src/agent/Agent.ts"
import { ConfigStore } from "../../src/config/ConfigStore.ts"
import { makeStaticStore } from "../../src/config/snapshots/FileConfigStore.ts"
import { Priority } from "../../src/domain/Entry.ts"
import type { Entry } from "../../src/domain/Entry.ts"
import { NodeIdentity } from "../../src/domain/NodeIdentity.ts"
import { Forges } from "../../src/forge/Forges.ts"
import { Catalog } from "../../src/llm/Catalog.ts"
import { Gateway } from "../../src/llm/Gateway.ts"
import { Outputs } from "../../src/outputs/Outputs.ts"
import { Queue } from "../../src/queue/Queue.ts"
import { Objects } from "../../src/store/Objects.ts"
import { Vcs } from "../../src/vcs/Checkout.ts"
import type { Checkout } from "../../src/vcs/Checkout.ts"
import { ContextRepositories } from "../../src/vcs/ContextRepositories.ts"
import { actorStores, testForges, testSnapshotWith } from "../harness/ActorParts.ts"
import { testCluster } from "../harness/TestCluster.ts"
import { testSnapshot } from "../harness/TestSnapshot.ts"
import { admission } from "../queue/Admissions.ts"
import { noSearch } from "../harness/NoSearch.ts"

const patch = `diff --git a/a.ts b/a.ts
index 1111111..2222222 100644
--- a/a.ts
+++ b/a.ts
@@ -1 +1 @@
-one
+two
`
const checkout: Checkout = {
  directory: Effect.succeed("/nowhere"),
  head: "a",
  from: "b",
  changes: () => Effect.succeed([{ path: "a.ts", status: "modified", oldMode: "100644", newMode: "100644" }]),
  sizes: () => Effect.succeed([4]),
  diff: () => Stream.succeed(Buffer.from(patch)),
  file: () => Effect.succeed(undefined),
  list: () => Effect.succeed([]),
  blame: () => Effect.succeed([]),
  search: noSearch
}

const noForge = testForges(Effect.die("no pull request is read"))
const forges: Forges["Service"] = {
  ...noForge,
  client: (profile) => ({
    ...noForge.client(profile),
    newestCommit: () => Effect.succeed("m"),
    conversations: {
      read: () => Effect.never,
      reply: () => Effect.die("nothing is written"),
      findReply: () => Effect.undefined,
      react: undefined,
      isPrivate: () => Effect.undefined
    },
    gitAuthorization: () => Effect.succeed(undefined)
  })
}

/** Reviews that never end, or whose model is always overloaded; `failedAt` records the times. */
const worldWith = (
  queue: object,
  failedAt?: Ref.Ref<ReadonlyArray<number>>,
  waitsFor: "model" | "checkout" = "checkout"
) => {
  const { document } = testSnapshot({ queue })
  const analyse = () =>
    failedAt === undefined
      ? Effect.never
      : Clock.currentTimeMillis.pipe(
          Effect.flatMap((now) => Ref.update(failedAt, (times) => [...times, now])),
          Effect.andThen(Effect.fail(new AgentError({ reason: "retryable", why: verbatimReason("overloaded") })))
        )
  return Executor.layer.pipe(
    Layer.provideMerge(Layer.mergeAll(Publisher.layer, Scheduler.layer)),
    Layer.provideMerge(
      Layer.mergeAll(
        actorStores(),
        NodeIdentity.layer("node"),
        Layer.succeed(
          Vcs,
          Vcs.of({
            isAncestor: () => Effect.succeed(true),
            checkout: () =>
              failedAt === undefined && waitsFor === "checkout" ? Effect.never : Effect.succeed(checkout)
          })
        ),
        Layer.succeed(ContextRepositories, ContextRepositories.of({ mount: () => Effect.never })),
        Layer.mock(Objects, { get: () => Effect.undefined, put: () => Effect.void }),
        Layer.mock(Agent, { analyse }),
        Layer.mock(Gateway, {}),
        Layer.mock(Catalog, {}),
        Layer.mock(Outputs, {
          anyFor: () => true,
          plan: () => [],
          status: () => [],
          issueCode: () => Effect.succeed([])
        }),
        Layer.succeed(Forges, forges),
        Layer.succeed(ConfigStore, makeStaticStore({ ...testSnapshotWith("app", "main").current(), document }))
      )
    ),
    Layer.provideMerge(testCluster)
  )
}

const accept = Effect.fnUntraced(function* (count: number) {
  const now = yield* Clock.currentTimeMillis
  const items = Array.from({ length: count }, (_, number) => {
    const item = admission({ admittedAt: now, dueAt: now, head: "a" })
    return { ...item, change: { ...item.change, target: { kind: "push", branch: `b${number}` } as const, base: "b" } }
  })
  const admitted = yield* (yield* Queue).admit(items)
  const schedulerOf = yield* Scheduler.WorkspaceScheduler.client
  yield* Effect.forkChild(schedulerOf("app").Wake())
  return admitted.map(({ entryId }) => entryId)
})

const settle = (millis: number) =>
  Effect.gen(function* () {
    for (let passed = 0; passed < millis; passed += 100) {
      yield* TestClock.adjust("100 millis")
      yield* Effect.callback<void>((done) => {
        // One more review takes some milliseconds to get that far.
        setTimeout(() => done(Effect.void), 20)
      })
    }
  })

/** Waits for a condition. Stores take real time, so the test clock only advances while nothing else happens. */
const eventually = <A, E, R>(what: string, read: Effect.Effect<A | undefined, E, R>) =>
  Effect.gen(function* () {
    const began = performance.now()
    for (let turn = 1; performance.now() - began < 30_000; turn++) {
      const found = yield* read
      if (found !== undefined) return found
      yield* Effect.callback<void>((done) => {
        setTimeout(() => done(Effect.void), 2)
      })
      if (turn % 20 === 0) yield* TestClock.adjust("100 millis")
    }
    return yield* Effect.die(new Error(`not so: ${what}`))
  })

const until = (entryId: string, is: (entry: Entry) => boolean) =>
  eventually(
    is.toString(),
    Effect.flatMap(Queue, (queue) =>
      Effect.map(queue.get(entryId), (entry) => (entry !== undefined && is(entry) ? entry : undefined))
    )
  )

const running = Effect.flatMap(Queue, (queue) => Effect.map(queue.stats, ({ byStatus }) => byStatus.running))

/** Cancels all reviews, because none may run when the test ends. */
const cancelAll = Effect.gen(function* () {
  const schedulerOf = yield* Scheduler.WorkspaceScheduler.client
  for (const { targetKey } of yield* (yield* Queue).load("app")) {
    yield* schedulerOf("app").Cancel({ targetKey, reason: verbatimReason("over") })
  }
  yield* settle(2000)
})

const runsAtOnce = (name: string, workers: object, expected: number, waitsFor: "model" | "checkout" = "checkout") =>
  it.effect(
    name,
    () =>
      Effect.gen(function* () {
        yield* accept(6)
        yield* eventually(
          `${expected} run`,
          Effect.map(running, (count) => (count >= expected ? count : undefined))
        )
        yield* settle(3000)
        const count = yield* running
        yield* cancelAll
        assert.strictEqual(count, expected)
      }).pipe(Effect.provide(worldWith({ workers }, undefined, waitsFor))),
    60_000
  )

runsAtOnce("a node runs no more than queue.workers.concurrency", { concurrency: 2, per_workspace_concurrency: 6 }, 2)
runsAtOnce("a workspace runs as many as queue.workers.per_workspace_concurrency", { per_workspace_concurrency: 3 }, 3)
runsAtOnce(
  "as many more wait for their models as queue.workers.max_waiting_for_model says",
  { concurrency: 1, per_workspace_concurrency: 6, max_waiting_for_model: 1 },
  2,
  "model"
)
runsAtOnce(
  "a workspace has half of the reviews that wait for their models",
  { per_workspace_concurrency: 1, max_waiting_for_model: 2 },
  2,
  "model"
)
runsAtOnce(
  "a limit that is set holds strictly: reviews that wait for their models count like others",
  { per_workspace_concurrency: 2 },
  2,
  "model"
)
runsAtOnce(
  "reviews that wait for their models count like others where queue.workers.max_waiting_for_model is 0",
  { per_workspace_concurrency: 2, max_waiting_for_model: 0 },
  2,
  "model"
)

it.effect(
  "a node replies to no more than queue.workers.replies, while reviews take all their slots",
  () =>
    Effect.gen(function* () {
      yield* accept(3)
      yield* eventually(
        "the review runs",
        Effect.map(running, (count) => (count === 1 ? count : undefined))
      )
      const now = yield* Clock.currentTimeMillis
      const replies = Array.from({ length: 5 }, (_, number) => {
        const item = admission({ admittedAt: now, dueAt: now, priority: Priority.reply })
        const comment = { id: `c${number}`, on: "pull_request", kind: "general" } as const
        return { ...item, change: { ...item.change, target: { kind: "comment", number: 1, comment } as const } }
      })
      yield* (yield* Queue).admit(replies)
      const schedulerOf = yield* Scheduler.WorkspaceScheduler.client
      yield* Effect.forkChild(schedulerOf("app").Wake())
      yield* eventually(
        "replies run",
        Effect.map(running, (count) => (count >= 3 ? count : undefined))
      )
      yield* settle(3000)
      const count = yield* running
      yield* cancelAll
      assert.strictEqual(count, 3)
    }).pipe(Effect.provide(worldWith({ workers: { concurrency: 1, per_workspace_concurrency: 1, replies: 2 } }))),
  60_000
)

it.effect("a lease lasts for queue.sqlite.lock_ttl_seconds", () =>
  Effect.gen(function* () {
    const [first = ""] = yield* accept(1)
    const { leaseUntil = 0 } = yield* until(first, ({ status }) => status === "running")
    assert.approximately(leaseUntil - (yield* Clock.currentTimeMillis), 40_000, 1000)
    yield* cancelAll
  }).pipe(Effect.provide(worldWith({ sqlite: { lock_ttl_seconds: 40 } })))
)

const waits = (name: string, retry: object, expected: ReadonlyArray<number>) =>
  it.effect(
    name,
    () =>
      Effect.gen(function* () {
        const failedAt = yield* Ref.make<ReadonlyArray<number>>([])
        yield* Effect.gen(function* () {
          const [first = ""] = yield* accept(1)
          for (const [index, wait] of expected.entries()) {
            const attempt = index + 1
            const { dueAt } = yield* until(
              first,
              ({ attempts, status }) => status === "waiting" && attempts === attempt
            )
            // The attempt ends after its failure and before it is seen here; the clock may advance in between.
            const now = yield* Clock.currentTimeMillis
            assert.isAtLeast(dueAt - wait, (yield* Ref.get(failedAt)).at(-1) ?? Number.NaN)
            assert.isAtMost(dueAt - wait, now)
            yield* TestClock.adjust(Math.max(0, dueAt - now))
          }
          const { attempts } = yield* until(first, ({ status }) => status === "dead")
          assert.strictEqual(attempts, expected.length + 1)
        }).pipe(Effect.provide(worldWith({ retry }, failedAt)))
      }),
    60_000
  )

waits(
  "a review waits between its attempts as queue.retry.backoff says, without jitter",
  { backoff: { kind: "linear", base_ms: 3000, jitter: false }, attempts: 4 },
  [3000, 6000, 9000]
)
waits(
  "no wait is longer than queue.retry.backoff.max_ms",
  { backoff: { base_ms: 3000, max_ms: 4000, jitter: false } },
  [3000, 4000]
)
