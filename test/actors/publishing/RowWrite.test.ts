/** Publishers of several pull requests write the status of one commit: the last one written is the worst on record. */
import { assert, describe, layer } from "@effect/vitest"
import { Context, Deferred, Effect, Layer, Ref } from "effect"
import { TestClock } from "effect/testing"
import { inEnglish } from "../../../src/text/en.ts"
import { verbatimReason } from "../../../src/domain/Reason.ts"
import * as Publisher from "../../../actors/publishing/ChangePublisher.ts"
import * as Scheduler from "../../../actors/scheduling/WorkspaceScheduler.ts"
import { ConfigStore } from "../../../src/config/ConfigStore.ts"
import type { Analysis } from "../../../src/domain/Analysis.ts"
import { targetKey } from "../../../src/domain/Change.ts"
import type { Change } from "../../../src/domain/Change.ts"
import { LeaseToken } from "../../../src/domain/FencingToken.ts"
import { pendingVerdict } from "../../../src/domain/HeadVerdict.ts"
import { newId } from "../../../src/domain/Ids.ts"
import { OperationId } from "../../../src/domain/Keys.ts"
import type { Operation, StatusState } from "../../../src/domain/Publication.ts"
import { WriteOwner } from "../../../src/forge/WriteOwner.ts"
import { Forges } from "../../../src/forge/Forges.ts"
import { Outputs } from "../../../src/outputs/Outputs.ts"
import { Queue } from "../../../src/queue/Queue.ts"
import { Outbox } from "../../../src/store/Outbox.ts"
import { Runs } from "../../../src/store/Runs.ts"
import { actorStores, testForges, testSnapshotWith } from "../../harness/ActorParts.ts"
import { testCluster } from "../../harness/TestCluster.ts"
import { publication } from "../../store/Fixtures.ts"
import { quietOutputs } from "./QuietOutputs.ts"

class Host extends Context.Service<
  Host,
  {
    /** `<number> <operation or description>`, in the order of writing. */
    readonly written: Ref.Ref<ReadonlyArray<string>>
    /** Runs right before a write of a pull request, after all checks. */
    readonly before: Ref.Ref<ReadonlyMap<number, Effect.Effect<void>>>
  }
>()("test/Host") {
  static readonly layer = Layer.effect(
    Host,
    Effect.gen(function* () {
      return {
        written: yield* Ref.make<ReadonlyArray<string>>([]),
        before: yield* Ref.make<ReadonlyMap<number, Effect.Effect<void>>>(new Map())
      }
    })
  )
}

const outputs = Layer.effect(
  Outputs,
  Effect.map(Host, (host) =>
    Outputs.of({
      ...quietOutputs,
      status: () => [],
      find: () => Effect.undefined,
      send: (_workspace, { target: { number = 0 } }, { operation }) =>
        Effect.gen(function* () {
          const owner = yield* WriteOwner
          if (operation._tag !== "Status") yield* owner.guard
          yield* owner.fence
          yield* (yield* Ref.get(host.before)).get(number) ?? Effect.void
          const text = operation._tag === "Status" ? inEnglish(operation.description) : operation._tag
          yield* Ref.update(host.written, (all) => [...all, `${number} ${text}`])
          return { hostId: "1", url: undefined, next: [] }
        })
    })
  )
)

const parts = Layer.mergeAll(
  actorStores(),
  outputs,
  Layer.succeed(Forges, testForges(Effect.succeed({ head: "h", state: "open" }))),
  Layer.succeed(ConfigStore, testSnapshotWith("w", "t"))
).pipe(Layer.provideMerge(Host.layer))
const world = Layer.mergeAll(Publisher.layer, Scheduler.layer).pipe(
  Layer.provideMerge(parts),
  Layer.provideMerge(testCluster)
)

const pull = (number: number, baseRef: string): Change => ({
  provider: "gitea",
  trigger: "t",
  workspace: "w",
  repo: { fullName: "team/app" },
  target: { kind: "pull_request", number },
  head: "h",
  baseRef
})

const analysis: Analysis = {
  findings: [],
  summary: "",
  coverage: { reviewed: [], skipped: [], lines: 0 },
  models: [],
  usage: { requests: 0, inputTokens: 0, outputTokens: 0, cachedTokens: 0 },
  notices: []
}

const begin = Effect.fnUntraced(function* (number: number, baseRef: string) {
  const change = pull(number, baseRef)
  const begun = { entryId: newId(), workspace: "w", targetKey: targetKey(change), change, head: "h", base: "b" }
  const verdict = pendingVerdict(verbatimReason("Review in progress"))
  const run = yield* (yield* Runs).begin({ ...begun, configHash: "c", verdict }, LeaseToken.make(1), 0)
  assert(run !== undefined)
  return run.id
})

const descriptions = { success: verbatimReason("clean"), failure: verbatimReason("problems") }

/** Stores the result of a review, with its status, or with another operation. */
const complete = Effect.fnUntraced(function* (
  runId: string,
  number: number,
  state: keyof typeof descriptions,
  operation?: Operation
) {
  const runs = yield* Runs
  const status: Operation = { _tag: "Status", head: "h", state, description: descriptions[state] }
  const row = publication({
    operationId: OperationId.make(newId()),
    runId,
    targetKey: targetKey(pull(number, "")),
    operation: operation ?? status
  })
  yield* runs.move(runId, LeaseToken.make(1), "analyzing", 1)
  const verdict = { state: state satisfies StatusState, description: descriptions[state], isShown: true }
  assert.isTrue(
    yield* runs.complete(runId, LeaseToken.make(1), analysis, [row], 2, { ...verdict, isClean: state === "success" })
  )
  return row
})

const review = Effect.fnUntraced(function* (number: number, baseRef: string, state: keyof typeof descriptions) {
  return yield* complete(yield* begin(number, baseRef), number, state)
})

/** Publishes until nothing is open. Pauses use the test clock. */
const publish = Effect.fnUntraced(function* (...numbers: ReadonlyArray<number>) {
  const publisherOf = yield* Publisher.publishers
  for (const number of numbers) {
    const done = yield* Effect.forkChild(publisherOf(targetKey(pull(number, ""))).Publish())
    while (done.pollUnsafe() === undefined) yield* TestClock.adjust("1 second")
  }
})

/** Starts a publisher whose write waits for the returned effect. */
const holdWrite = Effect.fnUntraced(function* (number: number) {
  const host = yield* Host
  const reached = yield* Deferred.make<void>()
  const released = yield* Deferred.make<void>()
  const wait = Effect.andThen(Deferred.succeed(reached, undefined), Deferred.await(released))
  yield* Ref.set(host.before, new Map([[number, wait]]))
  const publisherOf = yield* Publisher.publishers
  yield* Effect.forkChild(publisherOf(targetKey(pull(number, ""))).Publish(), { startImmediately: true })
  while (!(yield* Deferred.isDone(reached))) yield* TestClock.adjust("1 second")
  return Effect.andThen(Ref.set(host.before, new Map()), Deferred.succeed(released, undefined))
})

const written = Effect.flatMap(Host, (host) => Ref.get(host.written))
const statusesOf = (runId: string) =>
  Effect.flatMap(Outbox, (outbox) => Effect.map(outbox.ofRun(runId), (rows) => rows.map(({ status }) => status)))

describe("RowWrite", () => {
  const each = (name: string, test: () => Effect.Effect<void, unknown, Layer.Success<typeof world>>) =>
    layer(world)((it) => it.effect(name, test))

  for (const order of [
    [1, 2],
    [2, 1]
  ]) {
    each(`the worst verdict of a head is written, whichever publisher is the last (${order.join(", ")})`, () =>
      Effect.gen(function* () {
        yield* review(1, "main", "failure")
        yield* review(2, "side", "success")
        yield* publish(...order)
        assert.deepStrictEqual(
          yield* written,
          order.map((number) => (number === 1 ? "1 problems" : "2 problems in #1 (into main)"))
        )
      })
    )
  }

  each("a success is not written while another change with this head waits for its first review", () =>
    Effect.gen(function* () {
      const admitted = { priority: 10, admittedAt: 0, dueAt: 1_000_000, configHash: "c" }
      yield* (yield* Queue).admit([{ eventId: "one", change: pull(1, "main"), ...admitted }])
      yield* review(2, "side", "success")
      yield* publish(2)
      assert.deepStrictEqual(yield* written, ["2 Waits for a review in #1 (into main)"])
      const [waiting] = yield* (yield* Runs).list({ targetKey: targetKey(pull(1, "")), limit: 1 })
      assert.deepInclude(waiting, { status: "queued", startedAt: undefined })
    })
  )

  each("a status waits while another publisher writes one of the same commit, and reads the records afterwards", () =>
    Effect.gen(function* () {
      const clean = yield* review(2, "side", "success")
      const release = yield* holdWrite(2)
      // The first review of the head against main begins and ends while the other status is on its way.
      const faulty = yield* review(1, "main", "failure")
      const publisherOf = yield* Publisher.publishers
      const done = yield* Effect.forkChild(publisherOf(faulty.targetKey).Publish(), { startImmediately: true })
      yield* TestClock.adjust("10 seconds")
      assert.deepStrictEqual(yield* written, [])
      assert.deepStrictEqual(yield* statusesOf(faulty.runId), ["pending"])
      yield* release
      while (done.pollUnsafe() === undefined) yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(yield* written, ["2 clean", "1 problems"])
      assert.deepStrictEqual([yield* statusesOf(clean.runId), yield* statusesOf(faulty.runId)], [["sent"], ["sent"]])
    })
  )

  each("a review that has begun keeps the head from being green, until it ends", () =>
    Effect.gen(function* () {
      const running = yield* begin(1, "main")
      yield* review(2, "side", "success")
      yield* publish(2)
      assert.deepStrictEqual(yield* written, ["2 Review in progress in #1 (into main)"])
      yield* complete(running, 1, "success")
      yield* publish(1)
      assert.strictEqual((yield* written).at(-1), "1 clean")
    })
  )

  each("a process that died between the record and the write is continued with the records of then", () =>
    Effect.gen(function* () {
      const outbox = yield* Outbox
      const clean = yield* review(2, "side", "success")
      const { token: dead } = yield* outbox.takeOver(clean.targetKey, 3)
      assert.strictEqual(yield* outbox.startStatus(clean, "pending", dead, 3), "started")
      // Its status may or may not be at the host. The other publisher waits for it.
      const faulty = yield* review(1, "main", "failure")
      const publisherOf = yield* Publisher.publishers
      const other = yield* Effect.forkChild(publisherOf(faulty.targetKey).Publish(), { startImmediately: true })
      yield* TestClock.adjust("10 seconds")
      assert.deepStrictEqual(yield* written, [])
      yield* publish(2)
      while (other.pollUnsafe() === undefined) yield* TestClock.adjust("1 second")
      assert.deepStrictEqual((yield* written).toSorted(), ["1 problems", "2 problems in #1 (into main)"])
    })
  )

  each("a process that was frozen in its write repeats it, because others have written since then", () =>
    Effect.gen(function* () {
      const outbox = yield* Outbox
      const clean = yield* review(2, "side", "success")
      const release = yield* holdWrite(2)
      const host = yield* Host
      yield* Ref.set(host.before, new Map())
      // Another node takes the target over, sends the row, and a worse status follows.
      const { token: elsewhere } = yield* outbox.takeOver(clean.targetKey, 3)
      yield* outbox.move(clean.id, "sending", { status: "unknown" }, elsewhere, 3)
      assert.strictEqual(yield* outbox.startStatus(clean, "unknown", elsewhere, 3), "started")
      yield* outbox.move(clean.id, "sending", { status: "sent" }, elsewhere, 3)
      const faulty = yield* review(1, "main", "failure")
      yield* publish(1)
      assert.deepStrictEqual(yield* written, ["1 problems"])
      yield* release
      while ((yield* written).length < 3) yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(yield* written, ["1 problems", "2 clean", "2 problems in #1 (into main)"])
      assert.deepStrictEqual(yield* statusesOf(faulty.runId), ["sent"])
    })
  )

  each("a request for changes stays while the same commit is not clean elsewhere", () =>
    Effect.gen(function* () {
      const outbox = yield* Outbox
      yield* review(1, "main", "failure")
      const approval: Operation = { _tag: "Verdict", head: "h", approves: true, body: "" }
      const row = yield* complete(yield* begin(2, "side"), 2, "success", approval)
      yield* publish(2)
      const [dropped] = yield* outbox.ofRun(row.runId)
      assert.deepInclude(dropped, {
        status: "dropped",
        error: {
          _tag: "ChangeRequestStays",
          status: { _tag: "HeldIn", why: descriptions.failure, change: "#1", branch: "main" }
        }
      })
      assert.strictEqual((yield* (yield* Runs).get(row.runId))?.status, "succeeded")
      assert.deepStrictEqual(yield* written, [])
      // A clean review of the same pull request and branch ends the objection.
      yield* review(1, "main", "success")
      yield* complete(yield* begin(2, "side"), 2, "success", approval)
      yield* publish(2)
      assert.deepStrictEqual(yield* written, ["2 Verdict"])
    })
  )
})
