/**
 * The sweeper: an entry that lost too many workers is dead with a reason, and only entries that may expire are closed for waiting too long.
 */
import { assert, layer } from "@effect/vitest"
import { Clock, Effect, Layer, Metric } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { inEnglish } from "../../../src/text/en.ts"
import * as Publisher from "../../../actors/publishing/ChangePublisher.ts"
import * as Housekeeping from "../../../actors/upkeep/Housekeeping.ts"
import * as Scheduler from "../../../actors/scheduling/WorkspaceScheduler.ts"
import { LeaseToken } from "../../../src/domain/FencingToken.ts"
import { ConfigStore } from "../../../src/config/ConfigStore.ts"
import { makeStaticStore } from "../../../src/config/snapshots/FileConfigStore.ts"
import { targetKey } from "../../../src/domain/Change.ts"
import type { Change } from "../../../src/domain/Change.ts"
import { maxLosses, Priority } from "../../../src/domain/Entry.ts"
import type { Entry } from "../../../src/domain/Entry.ts"
import { pendingVerdict } from "../../../src/domain/HeadVerdict.ts"
import { newId } from "../../../src/domain/Ids.ts"
import { DeliveryKey } from "../../../src/domain/Keys.ts"
import { OperationId } from "../../../src/domain/Keys.ts"
import { ReservationId } from "../../../src/domain/Keys.ts"
import { Usd } from "../../../src/domain/Money.ts"
import { LiveNodes } from "../../../src/domain/LiveNodes.ts"
import { NodeIdentity } from "../../../src/domain/NodeIdentity.ts"
import { verbatimReason } from "../../../src/domain/Reason.ts"
import { Forges } from "../../../src/forge/Forges.ts"
import { Outputs } from "../../../src/outputs/Outputs.ts"
import { Queue } from "../../../src/queue/Queue.ts"
import { QueueControl } from "../../../src/queue/operator/QueueControl.ts"
import { Ledger } from "../../../src/store/Ledger.ts"
import { Objects } from "../../../src/store/Objects.ts"
import { Outbox } from "../../../src/store/Outbox.ts"
import { Receipts } from "../../../src/store/Receipts.ts"
import type { StoredEvent } from "../../../src/store/Receipts.ts"
import { Runs } from "../../../src/store/Runs.ts"
import { actorStores, testForges, testSnapshotWith } from "../../harness/ActorParts.ts"
import { testCluster } from "../../harness/TestCluster.ts"
import { channel } from "../../outputs/Fixtures.ts"
import { analysis, publication } from "../../store/Fixtures.ts"

/** Reviews go to the host, and to a chat group. */
const tellingChat = (store: ConfigStore["Service"]): ConfigStore["Service"] => {
  const snapshot = store.current()
  const workspaces = [...snapshot.workspaces].map(([id, workspace]) => {
    const channels = [
      channel({ name: "group", kind: "feishu_bot" }),
      channel({ name: "host", kind: "gitea_pr_review" })
    ]
    const routes = { default: { summary: ["group", "host"], line_comments: ["host"] }, rules: [] }
    return [id, { ...workspace, outputs: { ...workspace.outputs, channels, routes } }] as const
  })
  const telling = { ...snapshot, workspaces: new Map(workspaces) }
  return makeStaticStore(telling)
}

const alone = LiveNodes.layerAlone.pipe(Layer.provideMerge(NodeIdentity.layer("node")))

const worldWith = (
  stores: ReturnType<typeof actorStores>,
  config = tellingChat(testSnapshotWith("w", "t")),
  nodes: Layer.Layer<LiveNodes | NodeIdentity> = alone,
  status: Outputs["Service"]["status"] = () => []
) =>
  Housekeeping.layer.pipe(
    Layer.provideMerge(Layer.mergeAll(Publisher.layer, Scheduler.layer)),
    Layer.provideMerge(
      Layer.mergeAll(
        stores,
        nodes,
        Layer.mock(Objects, { list: () => Effect.succeed([]) }),
        Layer.mock(Outputs, {
          anyFor: () => true,
          plan: () => [],
          status,
          issueCode: () => Effect.succeed([]),
          send: (_workspace, _change, row) => Effect.succeed({ hostId: row.operationId, url: undefined, next: [] })
        }),
        Layer.succeed(Forges, testForges(Effect.die("no pull request is asked for"))),
        Layer.succeed(ConfigStore, config)
      )
    ),
    Layer.provideMerge(testCluster)
  )

const world = worldWith(actorStores())

/** Processes that have ended, and calls of the queue that look for what they held. `failures`: how many of the next ones fail. */
const ended = { gone: new Set<string>(), reclaims: 0, failures: 0 }
const goneBeyond = (count: number): Effect.Effect<void> =>
  Effect.suspend(() =>
    ended.gone.size > count ? Effect.void : Effect.andThen(Effect.sleep("100 millis"), goneBeyond(count))
  )
const endedNodes = Layer.merge(
  NodeIdentity.layer("node"),
  Layer.succeed(LiveNodes, {
    gone: Effect.sync(() => new Set(ended.gone)),
    goneBeyond,
    lost: Effect.sync(() => (owner: string) => ended.gone.has(owner))
  })
)
const countedQueue = Layer.effect(
  Queue,
  Effect.map(Queue, (queue) => ({
    ...queue,
    reclaim: (...input: Parameters<typeof queue.reclaim>) =>
      Effect.suspend(() => {
        ended.reclaims++
        return ended.failures-- > 0 ? Effect.die(new Error("the queue is unavailable")) : queue.reclaim(...input)
      })
  }))
).pipe(Layer.provideMerge(actorStores()))

/** A queue that fails to reclaim entries of lost workers, and to admit the entry of one event. */
const faulty = (eventId: string) =>
  Layer.effect(
    Queue,
    Effect.map(Queue, (queue) => ({
      ...queue,
      reclaim: () => Effect.die(new Error("an entry that cannot be processed")),
      admit: (items: Parameters<typeof queue.admit>[0]) =>
        items.some((item) => item.eventId === eventId)
          ? Effect.die(new Error("an entry that cannot be admitted"))
          : queue.admit(items)
    }))
  ).pipe(Layer.provideMerge(actorStores()))

const change = (number: number): Change => ({
  provider: "gitea",
  trigger: "t",
  workspace: "w",
  repo: { fullName: "team/app" },
  target: { kind: "pull_request", number },
  head: `h${number}`
})

/** Stores a receipt without an outcome. */
const receive = Effect.fnUntraced(function* (
  number: number,
  work: Omit<NonNullable<StoredEvent["work"]>, "change">,
  own: Partial<Change> = {}
) {
  const receipts = yield* Receipts
  yield* receipts.store({
    id: `event-${number}`,
    deliveryKey: DeliveryKey.make(`gitea:${number}`),
    provider: "gitea",
    event: "pull_request",
    action: "opened",
    trigger: "t",
    workspace: "w",
    targetKind: "pull_request",
    targetKey: targetKey({ ...change(number), ...own }),
    repo: "team/app",
    facts: {},
    decision: "queued",
    reason: undefined,
    work: { ...work, change: { ...change(number), ...own } },
    receivedAt: 0
  })
})

/** Stores a receipt and queues its entry. */
const accept = Effect.fnUntraced(function* (number: number, priority: number, admittedAt: number, dueAt: number) {
  const queue = yield* Queue
  const eventId = `event-${number}`
  const work = { change: change(number), configHash: "test", priority, dueAt }
  yield* receive(number, work)
  const [admitted] = yield* queue.admit([{ eventId, ...work, admittedAt }])
  return admitted?.entryId ?? ""
})

/** Advances time until a sweep has met the condition, by two minutes at most. */
const swept = <E, R>(what: string, condition: Effect.Effect<boolean, E, R>) =>
  Effect.gen(function* () {
    for (let seconds = 0; seconds < 120; seconds++) {
      if (yield* condition) return
      yield* TestClock.adjust("1 seconds")
      yield* Effect.callback<void>((done) => {
        setImmediate(() => done(Effect.void))
      })
    }
    return yield* Effect.die(new Error(`no sweep made it so: ${what}`))
  })
const entryIs = (entryId: string, what: string, is: (entry: Entry) => boolean) =>
  swept(
    what,
    Effect.flatMap(Queue, (queue) => Effect.map(queue.get(entryId), (entry) => entry !== undefined && is(entry)))
  )
const settled = (number: number) =>
  swept(
    "its receipt has an outcome",
    Effect.map(outcomeOf(number), ([outcome]) => outcome !== undefined)
  )
const outcomeOf = (number: number) =>
  Effect.flatMap(Receipts, (receipts) =>
    Effect.map(receipts.get(`event-${number}`), (event) => [event?.outcome, event?.outcomeReason])
  )
const claim = Effect.fnUntraced(function* (entryId: string, owner: string) {
  const queue = yield* Queue
  const now = yield* Clock.currentTimeMillis
  yield* queue.promote([entryId], now)
  assert.isDefined(yield* queue.claim(entryId, owner, now, 10_000_000))
})

const each = (name: string, test: () => Effect.Effect<void, unknown, Layer.Success<typeof world>>) =>
  layer(world)((it) => it.effect(name, test))

layer(worldWith(faulty("event-1")))((it) =>
  it.effect("what cannot be processed stops neither the steps of a sweep nor the things after it", () =>
    Effect.gen(function* () {
      const receipts = yield* Receipts
      const sql = yield* SqlClient.SqlClient
      const now = yield* Clock.currentTimeMillis
      const old = now - 73 * 3_600_000
      const stored = (number: number, priority: number) =>
        receipts.store({
          id: `event-${number}`,
          deliveryKey: DeliveryKey.make(`gitea:${number}`),
          provider: "gitea",
          event: "pull_request",
          action: "opened",
          trigger: "t",
          workspace: "w",
          targetKind: "pull_request",
          targetKey: targetKey(change(number)),
          repo: "team/app",
          facts: {},
          decision: "queued",
          reason: undefined,
          work: { change: change(number), configHash: "c", priority, dueAt: now + 3_600_000 },
          receivedAt: old
        })
      for (const number of [1, 2, 3]) yield* stored(number, Priority.automatic)
      yield* sql`UPDATE events SET work = '{}' WHERE id = 'event-2'`
      // The event after the broken ones is queued, and the step after that closes what waits for too long.
      yield* settled(3)
      assert.deepStrictEqual(yield* outcomeOf(3), ["expired", { _tag: "QueuedTimeout" }])
      const [row] = yield* sql<{ outcome: string; outcome_reason: string }>`
        SELECT outcome, outcome_reason FROM events WHERE id = 'event-2'`
      assert.strictEqual(row?.outcome, "failed")
      assert.match(row?.outcome_reason ?? "", /^\{"_tag":"EventQuarantined"/)
    })
  )
)

each(
  "a head that waits for its first review into a base branch has a pending verdict, which fails when it expires",
  () =>
    Effect.gen(function* () {
      const runs = yield* Runs
      const queue = yield* Queue
      const now = yield* Clock.currentTimeMillis
      const subject = { ...change(9), baseRef: "side" }
      const verdict = { state: "success", description: verbatimReason("clean"), isShown: true, isClean: true } as const
      const begun = {
        entryId: newId(),
        workspace: "w",
        change: subject,
        head: "h9",
        base: "b",
        configHash: "c",
        verdict
      }
      const run = yield* runs.begin({ ...begun, targetKey: targetKey(subject) }, LeaseToken.make(1), now)
      assert(run !== undefined)
      assert.isTrue(yield* runs.complete(run.id, LeaseToken.make(1), analysis, [], now, verdict))
      assert.isTrue(yield* runs.settle(run.id, "succeeded", { partial: false }, now))
      const work = { configHash: "c", priority: Priority.automatic, dueAt: now + 3_600_000 }
      yield* receive(9, work, { baseRef: "main" })
      const states = Effect.map(runs.headVerdicts("h9", "team/app"), (verdicts) =>
        verdicts.map((one) => `${one.baseRef} ${one.verdict.state}`).toSorted()
      )
      yield* swept(
        "it is pending",
        Effect.map(states, (all) => all.includes("main pending"))
      )
      assert.deepStrictEqual(yield* states, ["main pending", "side success"])
      yield* queue.expire({ others: now + 1, workspaces: new Map() }, verbatimReason("queued_timeout"))
      yield* swept(
        "it is a failure",
        Effect.map(states, (all) => all.includes("main failure"))
      )
    })
)

each("an entry whose workers keep dying is dead in the end, and its receipt contains the reason", () =>
  Effect.gen(function* () {
    const queue = yield* Queue
    const entryId = yield* accept(1, Priority.pullRequest, 0, 0)
    for (let losses = 1; losses <= maxLosses; losses++) {
      // An owner of this node's name that is not this process.
      yield* claim(entryId, `node/incarnation-${losses}`)
      yield* entryIs(entryId, `${losses} lost`, (entry) => entry.losses === losses)
    }
    assert.strictEqual((yield* queue.get(entryId))?.status, "dead")
    yield* settled(1)
    assert.deepStrictEqual(yield* outcomeOf(1), ["failed", { _tag: "WorkerLost", count: maxLosses }])
  })
)

layer(worldWith(countedQueue, undefined, endedNodes))("a process that has ended", (it) => {
  const elapse = (millis: number) =>
    Effect.andThen(
      TestClock.adjust(millis),
      Effect.promise(() => new Promise((done) => setImmediate(done)))
    )
  /** A review of a process of another node, which has reserved money. */
  const review = Effect.fnUntraced(function* (number: number, owner: string) {
    const entryId = yield* accept(number, Priority.pullRequest, 0, 0)
    yield* claim(entryId, owner)
    const id = ReservationId.make(`reserved-${number}`)
    const account = { runId: `run-${number}`, day: "2026-01-01", repository: "t:team/app", owner }
    const caps = { runCapUsd: undefined, dayCapUsd: undefined }
    // Later than the age at which any reservation is closed.
    const now = yield* Clock.currentTimeMillis
    yield* (yield* Ledger).reserve({ id, ...account, ...caps, usd: Usd.make(1) }, now)
    return entryId
  })

  it.effect("releases its reviews and reservations within a second, before the next sweep, once", () =>
    Effect.gen(function* () {
      const queue = yield* Queue
      // A sweep has just ended.
      yield* elapse(15_000)
      const entryId = yield* review(1, "other/1")
      yield* elapse(2000)
      assert.strictEqual((yield* queue.get(entryId))?.status, "running")
      const before = ended.reclaims
      ended.gone.add("other/1")
      yield* elapse(500)
      yield* elapse(500)
      // Its scheduler was woken and has offered it.
      assert.deepInclude(yield* queue.get(entryId), { status: "ready", losses: 1 })
      assert.strictEqual(yield* (yield* Ledger).closeLost(() => true, 0, 0), 0)
      yield* elapse(2000)
      yield* elapse(2000)
      assert.strictEqual(ended.reclaims, before + 1)
    })
  )

  it.effect("is released at the next attempt if the queue fails, not only by the next sweep", () =>
    Effect.gen(function* () {
      const queue = yield* Queue
      yield* elapse(15_000)
      const entryId = yield* review(2, "other/2")
      ended.failures = 2
      ended.gone.add("other/2")
      for (let attempt = 0; attempt < 4; attempt++) yield* elapse(500)
      assert.deepInclude(yield* queue.get(entryId), { losses: 1 })
    })
  )

  it.effect("is left to the sweeps if the queue keeps failing", () =>
    Effect.gen(function* () {
      yield* elapse(15_000)
      ended.failures = 1e9
      ended.gone.add("other/3")
      for (let half = 0; half < 40; half++) yield* elapse(500)
      const before = ended.reclaims
      for (let half = 0; half < 10; half++) yield* elapse(500)
      assert.isAtMost(ended.reclaims, before + 1)
      ended.failures = 0
    })
  )
})

each("an entry with a pending cancellation whose worker died is cancelled, and its receipt records it", () =>
  Effect.gen(function* () {
    const entryId = yield* accept(1, Priority.pullRequest, 0, 0)
    yield* claim(entryId, "node/earlier")
    yield* Effect.flatMap(QueueControl, (control) => control.cancelEntry(entryId, verbatimReason("closed")))
    yield* entryIs(entryId, "cancelled", (entry) => entry.status === "cancelled")
    yield* settled(1)
    assert.deepStrictEqual(yield* outcomeOf(1), ["cancelled", verbatimReason("closed")])
  })
)

each(
  "automatic work that waits for longer than queued_timeout_hours is closed; pull requests and commands wait on",
  () =>
    Effect.gen(function* () {
      const queue = yield* Queue
      const hour = 3_600_000
      const now = yield* Clock.currentTimeMillis
      const [old, later] = [now - 73 * hour, now + hour]
      const automatic = yield* accept(1, Priority.automatic, old, later)
      const others = [
        yield* accept(2, Priority.pullRequest, old, later),
        yield* accept(3, Priority.command, old, later),
        yield* accept(4, Priority.automatic, now, later)
      ]
      yield* entryIs(automatic, "expired", (entry) => entry.status === "expired")
      yield* settled(1)
      assert.deepStrictEqual(yield* outcomeOf(1), ["expired", { _tag: "QueuedTimeout" }])
      for (const entryId of others) assert.strictEqual((yield* queue.get(entryId))?.status, "waiting")
      // One message, from a run with the reason for not reviewing.
      const [run, ...more] = yield* (yield* Runs).list({ targetKey: targetKey(change(1)), limit: 9 })
      assert.deepStrictEqual(more, [])
      assert.deepInclude(run, { entryId: automatic, status: "skipped", reason: { _tag: "QueuedTimeout" } })
      const rows = yield* (yield* Outbox).ofRun(run?.id ?? "")
      assert.deepStrictEqual(
        rows.map((row) => [row.channel, row.operation._tag]),
        [["group", "Chat"]]
      )
      const { operation } = rows[0] ?? {}
      assert.isTrue(operation?._tag === "Chat" && operation.body.includes("72") && operation.body.includes("1 @ h1"))
      // The process died before the receipt had its outcome: it gets it, and chat groups are not notified twice.
      yield* (yield* Receipts).reopen(["event-1"])
      yield* settled(1)
      assert.strictEqual((yield* (yield* Runs).list({ targetKey: targetKey(change(1)), limit: 9 })).length, 1)
      assert.strictEqual((yield* (yield* Outbox).ofRun(run?.id ?? "")).length, 1)
    })
)

/** A configuration whose workspace has this limit, until it is changed. */
const limits = { hours: 2 }
const withOwnLimit = (): ConfigStore["Service"] => {
  const current = () =>
    tellingChat(
      testSnapshotWith("w", "t", { review: { auto_commit: { queued_timeout_hours: limits.hours } } })
    ).current()
  return { ...makeStaticStore(current()), current }
}

layer(worldWith(actorStores(), withOwnLimit()))((it) =>
  it.effect("a workspace's own queued_timeout_hours counts, as the configuration in force has it; 0 is never", () =>
    Effect.gen(function* () {
      const hour = 3_600_000
      const now = yield* Clock.currentTimeMillis
      const status = (entryId: string) =>
        Effect.flatMap(Queue, (queue) => Effect.map(queue.get(entryId), (entry) => entry?.status))
      const old = yield* accept(1, Priority.automatic, now - 3 * hour, now + hour)
      const young = yield* accept(2, Priority.automatic, now - hour, now + hour)
      yield* entryIs(old, "expired", (entry) => entry.status === "expired")
      yield* settled(1)
      const [run] = yield* (yield* Runs).list({ targetKey: targetKey(change(1)), limit: 1 })
      const [row] = yield* (yield* Outbox).ofRun(run?.id ?? "")
      assert.isTrue(row?.operation._tag === "Chat" && row.operation.body.includes(" 2 "))

      limits.hours = 0
      const ancient = yield* accept(3, Priority.automatic, now - 100 * hour, now + hour)
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual([yield* status(young), yield* status(ancient)], ["waiting", "waiting"])
      limits.hours = 99
      yield* entryIs(ancient, "expired", (entry) => entry.status === "expired")
      assert.strictEqual(yield* status(young), "waiting")
    })
  )
)

layer(world)("a receipt of a workspace that this node does not have", (it) => {
  it.effect("is cancelled if its own configuration lacks the workspace, else left to other nodes", () =>
    Effect.gen(function* () {
      const work = { priority: 0, dueAt: 0 }
      yield* receive(1, { ...work, configHash: "unknown" }, { workspace: "gone" })
      yield* receive(2, { ...work, configHash: "test" }, { workspace: "gone" })
      yield* settled(2)
      assert.deepStrictEqual(yield* outcomeOf(2), ["cancelled", { _tag: "WorkspaceUnconfigured", workspace: "gone" }])
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(yield* outcomeOf(1), [undefined, undefined])
    })
  )
})

layer(world)("a review that began and ended without a result", (it) => {
  it.effect("ends the status of its commit with the reason; a head that is reviewed again keeps its status", () =>
    Effect.gen(function* () {
      const runs = yield* Runs
      const outbox = yield* Outbox
      const queue = yield* Queue
      const begin = Effect.fnUntraced(function* (number: number, head: string, entryId: string) {
        const target = targetKey(change(number))
        const of = { ...change(number), head }
        const begun = { entryId, workspace: "w", targetKey: target, change: of, head, base: "b", configHash: "c" }
        const run = yield* runs.begin(begun, LeaseToken.make(1), 1)
        assert(run !== undefined)
        const operation = {
          _tag: "Status",
          head,
          state: "pending",
          description: verbatimReason("Review in progress")
        } as const
        const row = {
          id: newId(),
          operationId: OperationId.make(newId()),
          runId: run.id,
          targetKey: target,
          channel: "commit_status"
        }
        yield* outbox.add([{ ...row, operation, status: "pending", position: 0, attempts: 0 }], 1)
        return run
      })
      const lost = yield* begin(21, "h21", "entry-is-gone")
      const replaced = yield* begin(22, "h22", yield* accept(22, Priority.pullRequest, 0, 9e12))
      yield* begin(22, "h22-new", yield* accept(26, Priority.pullRequest, 0, 9e12))
      yield* queue.cancel(targetKey(change(22)), verbatimReason("replaced"))
      const again = yield* begin(23, "h23", yield* accept(23, Priority.pullRequest, 0, 9e12))
      yield* begin(23, "h23", yield* accept(25, Priority.pullRequest, 0, 9e12))
      yield* queue.cancel(targetKey(change(23)), verbatimReason("cancelled by dana"))
      const waiting = yield* accept(24, Priority.pullRequest, 0, 9e12)
      const cancelled = yield* begin(24, "h24", waiting)
      yield* queue.cancel(targetKey(change(24)), verbatimReason("cancelled by dana"))

      const statuses = (runId: string) =>
        Effect.map(outbox.ofRun(runId), (rows) =>
          rows.flatMap(({ operation }) => (operation._tag === "Status" ? [inEnglish(operation.description)] : []))
        )
      yield* swept(
        "the cancelled one ends",
        Effect.map(statuses(cancelled.id), (all) => all.length === 2)
      )
      yield* swept("another sweep", Effect.as(TestClock.adjust("1 minute"), true))
      assert.deepStrictEqual(yield* statuses(lost.id), ["Review in progress", "The review failed"])
      assert.deepStrictEqual(yield* statuses(replaced.id), ["Review in progress", "Superseded by h22-new"])
      assert.deepStrictEqual(yield* statuses(again.id), ["Review in progress"])
      assert.deepStrictEqual(yield* statuses(cancelled.id), ["Review in progress", "The review was cancelled"])
    })
  )
})

layer(worldWith(actorStores(), testSnapshotWith("w", "t", { review: { verdict_timeout: 90 } })))((it) =>
  it.effect(
    "a status that is pending for longer than verdict_timeout is a failure with the reason, until the review ends",
    () =>
      Effect.gen(function* () {
        const [runs, outbox] = [yield* Runs, yield* Outbox]
        const of = { ...change(41), head: "h41" }
        const entryId = yield* accept(41, Priority.pullRequest, 0, 9e12)
        const start = yield* Clock.currentTimeMillis
        const verdict = pendingVerdict(verbatimReason("Review in progress"))
        const begun = {
          entryId,
          workspace: "w",
          targetKey: targetKey(of),
          change: of,
          head: "h41",
          base: "b",
          configHash: "c"
        }
        const run = yield* runs.begin({ ...begun, verdict }, LeaseToken.make(1), start)
        assert(run !== undefined)
        const { description, state } = verdict
        const operation = { _tag: "Status", head: "h41", state, description } as const
        yield* outbox.add(
          [publication({ runId: run.id, targetKey: run.targetKey, channel: "commit_status", operation })],
          start
        )
        const texts = Effect.map(outbox.ofRun(run.id), (rows) =>
          rows.flatMap((row) =>
            row.operation._tag === "Status" ? [`${row.operation.state}: ${inEnglish(row.operation.description)}`] : []
          )
        )
        yield* TestClock.adjust("89 minutes")
        assert.deepStrictEqual(yield* texts, ["pending: Review in progress"])
        const late = Effect.map(
          Metric.snapshot,
          (all) => all.find(({ id }) => id === "aicr_late_verdicts_total")?.state
        )
        const before = Object(yield* late).count ?? 0
        yield* swept(
          "the late one is named",
          Effect.map(texts, (all) => all.length === 2)
        )
        assert.strictEqual(Object(yield* late).count, before + 1)
        yield* TestClock.adjust("10 minutes")
        const text = "failure: No verdict within 90 minutes: the review follows"
        assert.deepStrictEqual(yield* texts, ["pending: Review in progress", text])
        assert.strictEqual((yield* runs.get(run.id))?.verdict?.state, "failure")
        yield* runs.move(run.id, LeaseToken.make(1), "analyzing", start)
        const end = { ...verdict, state: "success" as const, isClean: true }
        assert.isTrue(yield* runs.complete(run.id, LeaseToken.make(1), analysis, [], start, end))
        assert.strictEqual((yield* runs.get(run.id))?.verdict?.state, "success")
      })
  )
)

const statusRow: Outputs["Service"]["status"] = ({ head, runId, targetKey: target }, state, description) => [
  publication({
    runId,
    targetKey: target,
    channel: "commit_status",
    operation: { _tag: "Status", head, state, description }
  })
]

const mergeGroup = { kind: "merge_group", number: 42, branch: "gh-readonly-queue/main/pr-42-b" } as const
for (const [name, over] of [
  ["pull request", {}],
  ["merge group", { target: mergeGroup }]
] as const)
  layer(worldWith(actorStores(), testSnapshotWith("w", "t", { review: { verdict_timeout: 90 } }), alone, statusRow))(
    (it) =>
      it.effect(`a ${name} that waits for longer than verdict_timeout gets a status, which is a failure`, () =>
        Effect.gen(function* () {
          const [runs, outbox] = [yield* Runs, yield* Outbox]
          const now = yield* Clock.currentTimeMillis
          const work = { configHash: "c", priority: Priority.pullRequest, dueAt: now + 86_400_000 }
          yield* receive(42, work, { baseRef: "main", ...over })
          const states = Effect.map(runs.headVerdicts("h42", "team/app"), (all) =>
            all.map(({ verdict }) => verdict.state)
          )
          yield* TestClock.adjust("89 minutes")
          assert.deepStrictEqual(yield* states, [])
          yield* swept(
            "it is late",
            Effect.map(states, (all) => all.includes("failure"))
          )
          const [run] = yield* runs.list({ limit: 1 })
          const rows = run === undefined ? [] : yield* outbox.ofRun(run.id)
          const texts = rows.flatMap(({ operation }) =>
            operation._tag === "Status" ? [`${operation.state}: ${inEnglish(operation.description)}`] : []
          )
          assert.deepStrictEqual(texts, [
            "pending: Waits for a review",
            "failure: No verdict within 90 minutes: the review follows"
          ])
        })
      )
  )

each("a run whose process died ends as superseded if the next attempt of its entry reviewed another head", () =>
  Effect.gen(function* () {
    const runs = yield* Runs
    const queue = yield* Queue
    const begin = (entryId: string, number: number, head: string) => {
      const of = { ...change(number), head }
      const begun = { entryId, workspace: "w", targetKey: targetKey(of), change: of, head, base: "b", configHash: "c" }
      return runs.begin(begun, LeaseToken.make(1), 1)
    }
    const lostThenDone = Effect.fnUntraced(function* (number: number, next?: string) {
      const entryId = yield* accept(number, Priority.pullRequest, 0, 0)
      const lost = yield* begin(entryId, number, `h${number}`)
      if (next !== undefined) yield* begin(entryId, number, next)
      // Another entry is the newest of the target.
      yield* begin(`another-${number}`, number, "newest")
      yield* queue.promote([entryId], 1)
      const claimed = yield* queue.claim(entryId, "node", 1, 10_000_000)
      assert(claimed !== undefined)
      yield* queue.finish(claimed.lease, { _tag: "Done" })
      return lost?.id ?? ""
    })
    const replaced = yield* lostThenDone(31, "pushed")
    const lost = yield* lostThenDone(32)
    const ends = Effect.map(Effect.all([runs.get(replaced), runs.get(lost)]), (all) =>
      all.map((run) => [run?.status, run?.reason?._tag])
    )
    yield* swept(
      "both ended",
      Effect.map(ends, (all) => all.every(([, reason]) => reason !== undefined))
    )
    assert.deepStrictEqual(yield* ends, [
      ["skipped", "SupersededRun"],
      ["failed", "ProcessLost"]
    ])
  })
)
