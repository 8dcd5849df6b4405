/** The sweeper: what lost too many workers is dead and says so, and only what may expire is closed for waiting too long. */
import { assert, layer } from "@effect/vitest"
import { Clock, Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import * as Publisher from "../../actors/ChangePublisher.ts"
import * as Housekeeping from "../../actors/Housekeeping.ts"
import * as Scheduler from "../../actors/WorkspaceScheduler.ts"
import { ConfigStore } from "../../src/config/ConfigStore.ts"
import { storeOf } from "../../src/config/FileConfigStore.ts"
import { targetKey } from "../../src/domain/Change.ts"
import type { Change } from "../../src/domain/Change.ts"
import { maxLosses, Priority } from "../../src/domain/Entry.ts"
import type { Entry } from "../../src/domain/Entry.ts"
import { LiveNodes } from "../../src/domain/LiveNodes.ts"
import { NodeIdentity } from "../../src/domain/NodeIdentity.ts"
import { Forges } from "../../src/forge/Forges.ts"
import { Outputs } from "../../src/outputs/Outputs.ts"
import { Queue } from "../../src/queue/Queue.ts"
import { QueueControl } from "../../src/queue/QueueControl.ts"
import { Objects } from "../../src/store/Objects.ts"
import { Outbox } from "../../src/store/Outbox.ts"
import { Receipts } from "../../src/store/Receipts.ts"
import { Runs } from "../../src/store/Runs.ts"
import { actorStores, testForges, testSnapshotWith } from "../harness/ActorParts.ts"
import { testCluster } from "../harness/TestCluster.ts"
import { channel } from "../outputs/Fixtures.ts"

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
  return storeOf(telling)
}

const world = Housekeeping.layer.pipe(
  Layer.provideMerge(Layer.mergeAll(Publisher.layer, Scheduler.layer)),
  Layer.provideMerge(
    Layer.mergeAll(
      actorStores(),
      LiveNodes.layerAlone.pipe(Layer.provideMerge(NodeIdentity.layer("node"))),
      Layer.mock(Objects, { list: () => Effect.succeed([]) }),
      Layer.mock(Outputs, {
        anyFor: () => true,
        plan: () => [],
        status: () => [],
        send: (_workspace, _change, row) => Effect.succeed({ hostId: row.operationId, url: undefined, next: [] })
      }),
      Layer.succeed(Forges, testForges(Effect.die("no pull request is asked for"))),
      Layer.succeed(ConfigStore, tellingChat(testSnapshotWith("w", "t")))
    )
  ),
  Layer.provideMerge(testCluster)
)

const change = (number: number): Change => ({
  provider: "gitea",
  trigger: "t",
  workspace: "w",
  repo: { fullName: "team/app" },
  target: { kind: "pull_request", number },
  head: `h${number}`
})

/** Its receipt and its entry. */
const accept = Effect.fnUntraced(function* (number: number, priority: number, admittedAt: number, dueAt: number) {
  const receipts = yield* Receipts
  const queue = yield* Queue
  const eventId = `event-${number}`
  const work = { change: change(number), configHash: "c", priority, dueAt }
  yield* receipts.store({
    id: eventId,
    deliveryKey: `gitea:${number}`,
    provider: "gitea",
    event: "pull_request",
    action: "opened",
    trigger: "t",
    workspace: "w",
    targetKind: "pull_request",
    targetKey: targetKey(change(number)),
    repo: "team/app",
    decision: "queued",
    reason: undefined,
    work,
    receivedAt: admittedAt
  })
  const [admitted] = yield* queue.admit([{ eventId, ...work, admittedAt }])
  return admitted?.entryId ?? ""
})

/** Lets time pass until a sweep has made it so; at most two minutes of it. */
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
  yield* queue.release([entryId], now)
  assert.isDefined(yield* queue.claim(entryId, owner, now, 10_000_000))
})

const each = (name: string, test: () => Effect.Effect<void, unknown, Layer.Success<typeof world>>) =>
  layer(world)((it) => it.effect(name, test))

each("an entry whose workers keep dying is dead in the end, and its receipt says why", () =>
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
    assert.deepStrictEqual(yield* outcomeOf(1), ["failed", `its worker was lost, ${maxLosses} times`])
  })
)

each("what was to be cancelled when its worker died is cancelled, and its receipt says so", () =>
  Effect.gen(function* () {
    const entryId = yield* accept(1, Priority.pullRequest, 0, 0)
    yield* claim(entryId, "node/earlier")
    yield* Effect.flatMap(QueueControl, (control) => control.cancelEntry(entryId, "closed"))
    yield* entryIs(entryId, "cancelled", (entry) => entry.status === "cancelled")
    yield* settled(1)
    assert.deepStrictEqual(yield* outcomeOf(1), ["cancelled", "closed"])
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
      assert.deepStrictEqual(yield* outcomeOf(1), ["expired", "queued_timeout"])
      for (const entryId of others) assert.strictEqual((yield* queue.get(entryId))?.status, "waiting")
      // One message, by a run that says why nothing was reviewed.
      const [run, ...more] = yield* (yield* Runs).list({ targetKey: targetKey(change(1)), limit: 9 })
      assert.deepStrictEqual(more, [])
      assert.deepInclude(run, { entryId: automatic, status: "skipped", reason: "queued_timeout" })
      const rows = yield* (yield* Outbox).ofRun(run?.id ?? "")
      assert.deepStrictEqual(
        rows.map((row) => [row.channel, row.operation._tag]),
        [["group", "Chat"]]
      )
      const { operation } = rows[0] ?? {}
      assert.isTrue(operation?._tag === "Chat" && operation.body.includes("72") && operation.body.includes("#1 @ h1"))
      // The process died before the receipt had its outcome: it gets it, and nobody hears of it twice.
      yield* (yield* Receipts).reopen(["event-1"])
      yield* settled(1)
      assert.strictEqual((yield* (yield* Runs).list({ targetKey: targetKey(change(1)), limit: 9 })).length, 1)
      assert.strictEqual((yield* (yield* Outbox).ofRun(run?.id ?? "")).length, 1)
    })
)
