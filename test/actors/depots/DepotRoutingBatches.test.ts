/** Changelists of Perforce are batched, wait for their windows and expire like pushes of git. */
import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Result } from "effect"
import { TestClock } from "effect/testing"
import { RoutingMemory, scan } from "../../../actors/depots/DepotRouting.ts"
import * as BatchKeeper from "../../../actors/scheduling/BatchKeeper.ts"
import * as Scheduler from "../../../actors/scheduling/WorkspaceScheduler.ts"
import { ConfigStore } from "../../../src/config/ConfigStore.ts"
import { layerStatic } from "../../../src/config/snapshots/FileConfigStore.ts"
import { toSnapshot } from "../../../src/config/LoadConfig.ts"
import { expiryCutoffs } from "../../../src/queue/ExpiryCutoffs.ts"
import { Queue } from "../../../src/queue/Queue.ts"
import { Batches } from "../../../src/store/Batches.ts"
import { Receipts } from "../../../src/store/Receipts.ts"
import { SubmittedChanges } from "../../../src/vcs/SubmittedChanges.ts"
import type { SubmittedChange } from "../../../src/vcs/SubmittedChanges.ts"
import { actorStores } from "../../harness/ActorParts.ts"
import { testCluster } from "../../harness/TestCluster.ts"
import { routingReceipt } from "../../store/Fixtures.ts"

const hour = 3_600_000
const document = {
  triggers: [{ name: "depot", kind: "perforce", port: "p4.test:1666", user: "reviewer", depot_path: "//depot/..." }],
  review: {
    auto_commit: {
      delay_seconds: 600,
      queued_timeout_hours: 30,
      schedule: {
        timezone: "UTC",
        rules: [{ days: ["mon", "tue", "wed", "thu", "fri", "sat", "sun"], windows: ["22:00-23:00"] }]
      }
    }
  },
  workspaces: { instances: { main: { source_repo: { trigger: "depot", repo: "//depot/main/..." } } } }
}
/** Author and previous changelist of each. */
const changes: Readonly<Record<string, readonly [author: string, previous: string]>> = {
  "5": ["ada", "3"],
  "6": ["ada", "5"],
  "8": ["ada", "6"],
  "9": ["bob", "8"],
  "10": ["bob", "9"],
  "11": ["ada", "10"]
}
const describeFake = (revision: string): SubmittedChange => {
  const [author, previous] = changes[revision] ?? ["nobody", "0"]
  const stream = { branch: "//depot/main", paths: ["a.c"], more: false, previous, removed: false, tag: false }
  const about = { client: "laptop", description: "Fix", repository: undefined }
  return { revision, state: "submitted", author, ...about, streams: [stream] }
}

const stores = Layer.mergeAll(
  actorStores(),
  Layer.unwrap(Effect.map(toSnapshot(document, {}), layerStatic)),
  Layer.mock(SubmittedChanges, {
    describe: ({ revisions }) =>
      Effect.succeed(new Map(revisions.map((one) => [one, Result.succeed(describeFake(one))])))
  })
)
const world = Scheduler.layer.pipe(Layer.provideMerge(stores), Layer.provideMerge(testCluster))

const report = Effect.fn(function* (revision: string) {
  yield* (yield* Receipts).store(routingReceipt({ vcs: "perforce", revision, files: [], path: "//depot/..." }))
})

const scanOnce = Effect.suspend(() =>
  Effect.scoped(Effect.flatMap(Effect.scope, (scope) => scan(new RoutingMemory(), scope)))
)

const listBatches = Effect.map(
  Effect.flatMap(Batches, (batches) => batches.list({ limit: 20 })),
  (found) => found.toReversed()
)

layer(world)("changelists", (t) => {
  t.effect(
    "are reviewed together while their author is the same, in the next window, and expire before it if it is late",
    () =>
      Effect.gen(function* () {
        const schedulerOf = yield* Scheduler.WorkspaceScheduler.client
        const woken = yield* Effect.forkChild(schedulerOf("main").Wake())
        while (woken.pollUnsafe() === undefined) yield* TestClock.adjust("1 seconds")
        // Reported out of order, and one of them twice.
        for (const revision of ["6", "5", "8", "8", "10", "9", "11"]) yield* report(revision)
        yield* scanOnce
        const found = yield* listBatches
        const ranges = found.map(({ change: { author, base, head } }) => [author?.username, base, head])
        assert.deepStrictEqual(
          ranges.toSorted((a, b) => Number(a[2]) - Number(b[2])),
          [
            ["ada", "3", "8"],
            ["bob", "8", "10"],
            ["ada", "10", "11"]
          ]
        )
        // The clock of the test begins at midnight.
        assert.deepStrictEqual([...new Set(found.map(({ dueAt }) => dueAt))], [22 * hour])

        const queue = yield* Queue
        yield* BatchKeeper.scan(true)
        const waiting = yield* queue.load("main")
        assert.strictEqual(waiting.length, 1)
        const { current } = yield* ConfigStore
        assert.deepStrictEqual(yield* queue.expire(expiryCutoffs(current(), 29 * hour), { _tag: "QueuedTimeout" }), [])
        const [expired] = yield* queue.expire(expiryCutoffs(current(), 31 * hour), { _tag: "QueuedTimeout" })
        assert.strictEqual(expired?.id, waiting[0]?.id)
        yield* BatchKeeper.scan(true)
        const [first] = yield* listBatches
        assert.deepInclude(first, { status: "expired", reason: { _tag: "QueuedTimeout" } })
      })
  )
})

const late = Layer.unwrap(
  Effect.map(
    toSnapshot({ ...document, review: { auto_commit: { delay_seconds: 10, schedule: { rules: [] } } } }, {}),
    layerStatic
  )
)

layer(Scheduler.layer.pipe(Layer.provideMerge(Layer.merge(stores, late)), Layer.provideMerge(testCluster)))(
  "late changelists",
  (t) => {
    t.effect("that are routed after the delay are reviewed together with their neighbours", () =>
      Effect.gen(function* () {
        yield* TestClock.setTime(hour)
        for (const revision of ["9", "8", "6", "10", "5"]) yield* report(revision)
        yield* scanOnce
        const ranges = (yield* listBatches).map(({ change: { author, base, head } }) => [author?.username, base, head])
        assert.deepStrictEqual(ranges, [
          ["ada", "3", "8"],
          ["bob", "8", "10"]
        ])
        // The batch may be under review already, which would not be repeated.
        yield* report("11")
        yield* scanOnce
        assert.strictEqual((yield* listBatches).length, 3)
      })
    )
  }
)
