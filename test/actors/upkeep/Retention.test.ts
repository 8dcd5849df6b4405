/** Removal of records by age and by number (`storage.retention`). Three of each kind, received 5, 3 and 1 months ago. */
import { assert, it } from "@effect/vitest"
import { Clock, DateTime, Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import * as BatchKeeper from "../../../actors/scheduling/BatchKeeper.ts"
import { prune } from "../../../actors/upkeep/Retention.ts"
import { LeaseToken } from "../../../src/domain/FencingToken.ts"
import { layerStatic } from "../../../src/config/snapshots/FileConfigStore.ts"
import { toSnapshot } from "../../../src/config/LoadConfig.ts"
import { NodeIdentity } from "../../../src/domain/NodeIdentity.ts"
import { LiveNodes } from "../../../src/domain/LiveNodes.ts"
import { verbatimReason } from "../../../src/domain/Reason.ts"
import { layerMemory } from "../../../src/queue/journal/MemoryQueue.ts"
import { Queue } from "../../../src/queue/Queue.ts"
import { QueueControl } from "../../../src/queue/operator/QueueControl.ts"
import { Batches } from "../../../src/store/Batches.ts"
import { Payloads } from "../../../src/store/Payloads.ts"
import type { DeliveryPayload } from "../../../src/store/Payloads.ts"
import { PullBases } from "../../../src/store/PullBases.ts"
import { Receipts } from "../../../src/store/Receipts.ts"
import { RejectedSignatures } from "../../../src/store/RejectedSignatures.ts"
import { Runs } from "../../../src/store/Runs.ts"
import { hasStatement, keepKey, keepStatement, listKeys, statementKey } from "../../../src/store/Statements.ts"
import { Statistics } from "../../../src/store/Statistics.ts"
import * as Store from "../../../src/store/StoreLayer.ts"
import { memoryObjects } from "../../harness/MemoryObjects.ts"
import { admission, toTarget } from "../../queue/Admissions.ts"
import { ignored } from "../../store/Fixtures.ts"

const now = Date.UTC(2026, 10, 15)
const receivedAt = [5, 3, 1].map((months) =>
  DateTime.toEpochMillis(DateTime.subtract(DateTime.makeUnsafe(now), { months }))
)

/** Stores an ended entry, run and batch, and an event, each received at this time. */
const populate = Effect.fnUntraced(function* (at: number, number: number) {
  yield* (yield* Receipts).store(ignored({ receivedAt: at }))
  yield* (yield* PullBases).store([{ triggers: ["t"], repo: "team/app", number, baseRef: "main", seenAt: at }])

  const rejected = { trigger: "t", provider: "gitea", counts: { loopback: 0, private: 0, public: 1 }, lastAt: at }
  yield* (yield* RejectedSignatures).add([{ ...rejected, hour: at }])

  const item = admission({ number, head: `h${number}`, admittedAt: at, dueAt: at })
  const queue = yield* Queue
  yield* queue.admit([item])
  yield* queue.cancel(toTarget(number), verbatimReason("closed"))

  const { change, configHash } = item
  const runs = yield* Runs
  const review = { entryId: `e${number}`, workspace: "app", targetKey: toTarget(number), change, configHash }
  const run = yield* runs.begin({ ...review, head: `h${number}`, base: undefined }, LeaseToken.make(1), at)
  assert.isTrue(yield* runs.move(run?.id ?? "", LeaseToken.make(1), "failed", at))

  const batches = yield* Batches
  const push = { ...change, target: { kind: "push", branch: "main" }, base: `h${number - 1}`, commits: 1 } as const
  const [joined] = yield* batches.join([{ ...item, change: push }])
  assert.isTrue(yield* batches.follow(joined?.batch.id ?? "", { status: "succeeded" }, at))
})

const isKnown = Effect.fnUntraced(function* (number: number) {
  const bases = yield* PullBases
  return (yield* bases.find({ triggers: ["t"], repo: "team/app", number })).size > 0
})

const limit = 10
const counts = Effect.gen(function* () {
  return {
    events: (yield* (yield* Receipts).list({ limit })).length,
    bases: (yield* Effect.forEach([0, 1, 2], isKnown)).filter(Boolean).length,
    rejected: (yield* (yield* RejectedSignatures).list({ since: 0, limit })).length,
    runs: (yield* (yield* Runs).list({ limit })).length,
    batches: (yield* (yield* Batches).list({ limit })).length,
    entries: (yield* (yield* QueueControl).list({ limit })).entries.length
  }
})
const all = { events: 3, bases: 3, rejected: 3, runs: 3, batches: 3, entries: 3 }

/** Configures the project of the runs. */
const configured = {
  triggers: [{ name: "main", kind: "gitea", base_url: "https://git.test", webhook_secret_env: "SECRET" }],
  workspaces: { instances: { app: { source_repo: { trigger: "main", repo: "team/app" } } } }
}

const parts = (retention: object, more: object = {}) =>
  Layer.mergeAll(
    Layer.unwrap(Effect.map(toSnapshot({ storage: { retention }, ...more }, { SECRET: "s" }), layerStatic)),
    Layer.fresh(Store.layerMemory),
    Layer.fresh(layerMemory({ perWorkspace: 100, total: 100 })),
    LiveNodes.layerAlone.pipe(Layer.provideMerge(NodeIdentity.layer("node"))),
    Layer.fresh(memoryObjects)
  )

it.effect.each([
  ["events.max_age_months", { events: { max_age_months: 4 } }, { events: 2, bases: 2, rejected: 2 }],
  ["events.max_count", { events: { max_count: 1 } }, { events: 1, bases: 1 }],
  ["recent_runs.max_age_months", { recent_runs: { max_age_months: 4 } }, { runs: 2 }],
  ["recent_runs.max_count", { recent_runs: { max_count: 1 } }, { runs: 1 }],
  ["queue.max_age_months", { queue: { max_age_months: 4 } }, { batches: 2, entries: 2 }],
  ["queue.max_count", { queue: { max_count: 1 } }, { batches: 1, entries: 1 }],
  ["nothing", {}, {}]
] satisfies ReadonlyArray<readonly [string, object, Partial<typeof all>]>)(
  "%s decides what goes",
  ([, retention, fewer]) =>
    Effect.gen(function* () {
      yield* TestClock.setTime(now)
      yield* Effect.forEach(receivedAt, populate)
      assert.deepStrictEqual(yield* counts, all)
      yield* prune(yield* Clock.currentTimeMillis)
      yield* BatchKeeper.prune
      assert.deepStrictEqual(yield* counts, { ...all, ...fewer })
    }).pipe(Effect.provide(parts(retention)))
)

it.effect("payloads.max_age_days decides which bodies of deliveries are removed", () =>
  Effect.gen(function* () {
    yield* TestClock.setTime(now)
    const payloads = yield* Payloads
    const ages = [9, 11]
    const kept = ages.map((days): DeliveryPayload => ({
      eventId: `${days} days`,
      receivedAt: now - days * 86_400_000,
      path: "gitea",
      headers: {},
      body: "{}",
      bytes: 2,
      cut: false,
      admits: { _tag: "Triggers", names: ["main"] },
      replayOf: undefined
    }))
    yield* payloads.store(kept, 10)
    yield* prune(now)
    const left = yield* Effect.forEach(ages, (days) => payloads.get(`${days} days`))
    assert.deepStrictEqual(
      left.map((one) => one?.eventId),
      ["9 days", undefined]
    )
  }).pipe(Effect.provide(parts({ payloads: { max_age_days: 10 } })))
)

it.effect("statistics remain when runs are removed", () =>
  Effect.gen(function* () {
    yield* TestClock.setTime(now)
    yield* Effect.forEach(receivedAt, populate)
    yield* prune(now)
    const windows = yield* Statistics.use((statistics) => statistics.windows(now))
    assert.strictEqual((yield* counts).runs, 1)
    assert.strictEqual(windows.all.counts.runs_failed, 3)
  }).pipe(Effect.provide(parts({ recent_runs: { max_count: 1 } })))
)

it.effect.each([
  [
    "a project of a workspace that is not configured remains until deleted_project_grace_days have passed",
    10,
    { after: 9, left: 1 }
  ],
  [
    "a project of a workspace that is not configured is removed once deleted_project_grace_days have passed",
    10,
    { after: 10, left: 0 }
  ],
  ["a grace period of no days removes it immediately", 0, { after: 0, left: 0 }]
] as const)("%s", ([, days, { after, left }]) =>
  Effect.gen(function* () {
    const { projects } = yield* Statistics
    const count = Effect.map(projects({ limit: 10 }), (found) => found.length)
    yield* TestClock.setTime(now)
    yield* populate(now, 0)
    assert.strictEqual(yield* count, 1)
    yield* prune(now)
    yield* prune(now + after * 86_400_000)
    assert.strictEqual(yield* count, left)
  }).pipe(Effect.provide(parts({ deleted_project_grace_days: days })))
)

it.effect(
  "statements.max_age_months decides which months of statements go, whole and independently of their runs",
  () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(now)
      yield* keepKey({ keyid: "k", public_key: "pem" }, now)
      for (const [index, at] of receivedAt.entries())
        yield* keepStatement(statementKey(`h${index}`, at, "id"), "envelope")
      yield* prune(now)
      const kept = yield* Effect.forEach(receivedAt, (at, index) => hasStatement(statementKey(`h${index}`, at, "id")))
      assert.deepStrictEqual(kept, [false, true, true])
      assert.strictEqual((yield* listKeys).length, 1)
    }).pipe(Effect.provide(parts({ statements: { max_age_months: 3 } })))
)

it.effect("a project that is configured remains", () =>
  Effect.gen(function* () {
    const { projects } = yield* Statistics
    yield* TestClock.setTime(now)
    yield* populate(now, 0)
    yield* prune(now)
    yield* prune(now + 86_400_000)
    const [found] = yield* projects({ limit: 10 })
    assert.deepInclude(found?.project, { workspace: "app", deletedAt: undefined })
  }).pipe(Effect.provide(parts({ deleted_project_grace_days: 0 }, configured)))
)
