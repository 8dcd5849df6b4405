/** The publisher's guarantee: whatever was lost in between, each operation is done once, and only on the newest head. */
import { assert, describe, layer } from "@effect/vitest"
import { Clock, Context, Effect, Layer, Metric, Ref } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import * as Publisher from "../../../actors/publishing/ChangePublisher.ts"
import * as Scheduler from "../../../actors/scheduling/WorkspaceScheduler.ts"
import { LeaseToken } from "../../../src/domain/FencingToken.ts"
import { ConfigStore } from "../../../src/config/ConfigStore.ts"
import { newId } from "../../../src/domain/Ids.ts"
import type { Analysis } from "../../../src/domain/Analysis.ts"
import { targetKey } from "../../../src/domain/Change.ts"
import type { Change } from "../../../src/domain/Change.ts"
import { OperationId, TargetKey } from "../../../src/domain/Keys.ts"
import type { Operation, Publication } from "../../../src/domain/Publication.ts"
import { verbatimReason } from "../../../src/domain/Reason.ts"
import { HasNoOthers, TakesLineComments, WriteOwner } from "../../../src/forge/WriteOwner.ts"
import { ForgeError } from "../../../src/forge/ForgeError.ts"
import type { HostPull } from "../../../src/forge/Forge.ts"
import { Forges } from "../../../src/forge/Forges.ts"
import { Outputs } from "../../../src/outputs/Outputs.ts"
import { Queue } from "../../../src/queue/Queue.ts"
import { QueueControl } from "../../../src/queue/operator/QueueControl.ts"
import { Outbox } from "../../../src/store/Outbox.ts"
import { Runs } from "../../../src/store/Runs.ts"
import { actorStores, testForges, testSnapshotWith } from "../../harness/ActorParts.ts"
import { testCluster } from "../../harness/TestCluster.ts"
import { quietOutputs } from "./QuietOutputs.ts"

/** Operations of the fake host, and its next responses. */
class Host extends Context.Service<
  Host,
  {
    readonly pull: Ref.Ref<Pick<HostPull, "comments" | "head" | "state">>
    /** Number of reads of the pull request. */
    readonly reads: Ref.Ref<number>
    /** Whether the last send may write comments at lines. */
    readonly takesComments: Ref.Ref<boolean>
    /** Whether a send found no comments of others. */
    readonly unshared: Ref.Ref<ReadonlyArray<boolean>>
    /** Runs before the guard, as the wait for a permit. */
    readonly permit: Ref.Ref<Effect.Effect<void>>
    /** Operations that reached the host, in order. */
    readonly done: Ref.Ref<ReadonlyArray<string>>
    /** Responses to the next sends: `lost` does the work and loses the response. */
    readonly faults: Ref.Ref<ReadonlyArray<"lost" | ForgeError["reason"]>>
    /** Bodies of summaries that reached the host. */
    readonly bodies: Ref.Ref<ReadonlyArray<string>>
    /** Whether a found operation has a following one. */
    readonly hasNext: Ref.Ref<boolean>
    /** Runs between the last read of the head and the write. */
    readonly asleep: Ref.Ref<Effect.Effect<void>>
  }
>()("test/Host") {
  static readonly layer = Layer.effect(
    Host,
    Effect.gen(function* () {
      return {
        pull: yield* Ref.make<Pick<HostPull, "comments" | "head" | "state">>({ head: "h1", state: "open" }),
        reads: yield* Ref.make(0),
        takesComments: yield* Ref.make(true),
        unshared: yield* Ref.make<ReadonlyArray<boolean>>([]),
        permit: yield* Ref.make<Effect.Effect<void>>(Effect.void),
        done: yield* Ref.make<ReadonlyArray<string>>([]),
        bodies: yield* Ref.make<ReadonlyArray<string>>([]),
        faults: yield* Ref.make<ReadonlyArray<"lost" | ForgeError["reason"]>>([]),
        hasNext: yield* Ref.make(false),
        asleep: yield* Ref.make<Effect.Effect<void>>(Effect.void)
      }
    })
  )
}

const refuse = (reason: ForgeError["reason"]) =>
  new ForgeError({
    reason,
    operation: "POST /x",
    why: verbatimReason(reason),
    ...(reason === "rate_limited" ? { retryAfterMillis: 40_000 } : {}),
    ...(reason === "conflict" ? { status: 409 } : {})
  })

const outputs = Layer.effect(
  Outputs,
  Effect.gen(function* () {
    const host = yield* Host
    return Outputs.of({
      ...quietOutputs,
      status: ({ runId, targetKey: target, head }, state, description) => [
        row(runId, target, `status:${head}:${state}`, { _tag: "Status", head, state, description }, 99)
      ],
      send: (_workspace, _change, publication) =>
        Effect.gen(function* () {
          const owner = yield* WriteOwner
          const isContent = publication.operation._tag !== "Status"
          if (isContent) yield* owner.beforePermit ?? Effect.void
          yield* yield* Ref.get(host.permit)
          if (isContent) {
            const hasNoOthers = yield* yield* HasNoOthers
            yield* Ref.update(host.unshared, (all) => [...all, hasNoOthers])
            yield* Ref.set(host.takesComments, yield* yield* TakesLineComments)
            yield* owner.guard
          }
          yield* yield* Ref.get(host.asleep)
          yield* owner.fence
          const [fault, ...later] = yield* Ref.get(host.faults)
          yield* Ref.set(host.faults, later)
          if (fault !== undefined && fault !== "lost") return yield* refuse(fault)
          yield* Ref.update(host.done, (done) => [...done, publication.operationId])
          const written = publication.operation
          if (written._tag === "Summary") yield* Ref.update(host.bodies, (bodies) => [...bodies, written.body])
          if (fault === "lost") return yield* refuse("unknown_outcome")
          const { runId, targetKey: target, operationId, operation, position } = publication
          const next =
            operation._tag === "Issues"
              ? [row(runId, target, `next:${operationId}`, { _tag: "Issue", action: "create", files: [] }, position)]
              : []
          const ignoredDismissals = operation._tag === "Summary" ? [{ fp: "f", file: "a", by: ["eve"] }] : undefined
          return { hostId: `id-${operationId}`, url: undefined, next, ignoredDismissals }
        }),
      find: (_workspace, _change, { operation, operationId, position, runId, targetKey: target }) =>
        Effect.gen(function* () {
          const done = yield* Ref.get(host.done)
          if (operation._tag === "Issues" || !done.includes(operationId)) return undefined
          const next = row(
            runId,
            target,
            `next:${operationId}`,
            { _tag: "Issue", action: "create", files: [] },
            position
          )
          return { hostId: `id-${operationId}`, url: undefined, next: (yield* Ref.get(host.hasNext)) ? [next] : [] }
        })
    })
  })
)

const partsWith = (store: ConfigStore["Service"]) =>
  Layer.mergeAll(
    actorStores(),
    outputs,
    Layer.effect(
      Forges,
      Effect.map(Host, (host) =>
        testForges(
          Effect.andThen(
            Ref.update(host.reads, (reads) => reads + 1),
            Ref.get(host.pull)
          )
        )
      )
    ),
    Layer.succeed(ConfigStore, store)
  ).pipe(Layer.provideMerge(Host.layer))

const worldWith = (store: ConfigStore["Service"]) =>
  Layer.mergeAll(Publisher.layer, Scheduler.layer).pipe(
    Layer.provideMerge(partsWith(store)),
    Layer.provideMerge(testCluster)
  )
const world = worldWith(testSnapshotWith("w", "t"))
/** The clock of a test starts at midnight on a Thursday. */
const opensAt = (start: string) =>
  testSnapshotWith("w", "t", {
    review: { pull_request: { schedule: { rules: [{ days: ["thu"], windows: [{ start, end: "18:00" }] }] } } }
  })

const change: Change = {
  provider: "gitea",
  trigger: "t",
  workspace: "w",
  repo: { fullName: "team/app" },
  target: { kind: "pull_request", number: 7 },
  head: "h1"
}
const key = targetKey(change)

const row = (
  runId: string,
  target: string,
  operationId: string,
  operation: Operation,
  position: number
): Publication => ({
  id: newId(),
  operationId: OperationId.make(operationId),
  runId,
  targetKey: TargetKey.make(target),
  channel: "c",
  operation,
  status: "pending",
  position,
  attempts: 0
})

const analysis: Analysis = {
  findings: [],
  summary: "",
  coverage: { reviewed: [], skipped: [], lines: 0 },
  models: [],
  usage: { requests: 0, inputTokens: 0, outputTokens: 0, cachedTokens: 0 },
  notices: []
}

/** A run whose analysis is stored, with a review and a summary to publish, or with these rows. */
const publishingRun = Effect.fnUntraced(function* (
  head = "h1",
  found: Analysis = analysis,
  planned: ReadonlyArray<(runId: string) => Publication> | undefined = undefined
) {
  const runs = yield* Runs
  const run = yield* runs.begin(
    { entryId: newId(), workspace: "w", targetKey: key, change: { ...change, head }, head, base: "b", configHash: "c" },
    LeaseToken.make(1),
    0
  )
  assert(run !== undefined)
  yield* runs.move(run.id, LeaseToken.make(1), "analyzing", 0)
  const rows = planned?.map((plan) => plan(run.id)) ?? [
    row(run.id, key, `review:${run.id}`, { _tag: "Review", head, event: "COMMENT", body: "", comments: [] }, 0),
    row(run.id, key, `summary:${run.id}`, { _tag: "Summary", head, body: "" }, 1)
  ]
  assert(yield* runs.complete(run.id, LeaseToken.make(1), found, rows, 0))
  return run.id
})

/** The review of a run, as a process that died while it sent it leaves it. */
const rowBeingSent = Effect.gen(function* () {
  const outbox = yield* Outbox
  const run = yield* publishingRun()
  const [review] = yield* outbox.ofRun(run)
  assert(review !== undefined)
  yield* outbox.move(review.id, "pending", { status: "sending" }, (yield* outbox.takeOver(key, 0)).token, 0)
  return { review, run }
})

const publish = Effect.gen(function* () {
  const publisherOf = yield* Publisher.publishers
  const done = yield* Effect.forkChild(publisherOf(key).Publish())
  // Pauses between attempts use the test clock: it runs until the publisher has nothing left to do.
  while (done.pollUnsafe() === undefined) yield* TestClock.adjust("10 seconds")
})

const statusOf = (runId: string) => Effect.flatMap(Runs, (runs) => Effect.map(runs.get(runId), (run) => run?.status))
const rowsOf = (runId: string) =>
  Effect.flatMap(Outbox, (outbox) => Effect.map(outbox.ofRun(runId), (rows) => rows.map((each) => each.status)))

describe("ChangePublisher", () => {
  const each = (name: string, test: () => Effect.Effect<void, unknown, Layer.Success<typeof world>>) =>
    layer(world)((it) => it.effect(name, test))

  each("sends the review, then the summary, and ends the run", () =>
    Effect.gen(function* () {
      const host = yield* Host
      const run = yield* publishingRun()
      yield* publish
      assert.deepStrictEqual(yield* Ref.get(host.done), [`review:${run}`, `summary:${run}`])
      assert.strictEqual(yield* statusOf(run), "succeeded")
      assert.deepStrictEqual(
        (yield* (yield* Outbox).ofRun(run)).map(({ ignoredDismissals }) => ignoredDismissals),
        [undefined, [{ fp: "f", file: "a", by: ["eve"] }]]
      )
      yield* publish
      assert.strictEqual((yield* Ref.get(host.done)).length, 2)
    })
  )

  each("records that the last row was sent while the end of its run cannot be recorded", () =>
    Effect.gen(function* () {
      const host = yield* Host
      const sql = yield* SqlClient.SqlClient
      const publisherOf = yield* Publisher.publishers
      const run = yield* publishingRun()
      yield* sql`ALTER TABLE rollups RENAME TO unavailable_rollups`
      yield* Effect.forkChild(publisherOf(key).Publish())
      for (let step = 0; step < 20; step++) yield* TestClock.adjust("1 second")
      assert.deepStrictEqual([yield* statusOf(run), yield* rowsOf(run)], ["publishing", ["sent", "sent"]])
      yield* sql`ALTER TABLE unavailable_rollups RENAME TO rollups`
      yield* publish
      assert.deepStrictEqual([yield* statusOf(run), (yield* Ref.get(host.done)).length], ["succeeded", 2])
    })
  )

  for (const [millis, reads] of [
    [2000, 2],
    [2001, 4]
  ] as const)
    each(
      `reads the head before each of two writes, and again where the permit comes after ${millis} ms: ${reads}`,
      () =>
        Effect.gen(function* () {
          const host = yield* Host
          yield* publishingRun()
          yield* Ref.set(host.permit, Effect.sleep(millis))
          yield* publish
          assert.deepStrictEqual([yield* Ref.get(host.reads), (yield* Ref.get(host.done)).length], [reads, 2])
        })
    )

  each("writes nothing to a head that was replaced while it waited for the permit", () =>
    Effect.gen(function* () {
      const host = yield* Host
      yield* publishingRun()
      const pushed = Ref.set(host.pull, { head: "h2", state: "open" } as const)
      yield* Ref.set(host.permit, Effect.andThen(Effect.sleep(2001), pushed))
      yield* publish
      assert.deepStrictEqual(
        (yield* Ref.get(host.done)).filter((name) => !name.startsWith("status:")),
        []
      )
    })
  )

  each("does not repeat a write that the host refuses because the head was replaced", () =>
    Effect.gen(function* () {
      const host = yield* Host
      const run = yield* publishingRun()
      const pushed = Ref.set(host.pull, { head: "h2", state: "open" } as const)
      yield* Ref.set(host.asleep, Effect.andThen(Effect.sleep(2001), pushed))
      yield* Ref.set(host.faults, ["conflict"])
      yield* publish
      assert.deepStrictEqual(
        (yield* (yield* Outbox).ofRun(run)).slice(0, 2).map(({ attempts, status }) => [status, attempts]),
        [
          ["dropped", 0],
          ["dropped", 0]
        ]
      )
    })
  )

  for (const [comments, expected] of [
    [undefined, [false, false]],
    [0, [true, true]],
    [1, [false, true]],
    [2, [false, false]]
  ] as const)
    each(
      `a change with ${comments ?? "uncounted"} comments: ${expected.join(", then ")} that it has none of others`,
      () =>
        Effect.gen(function* () {
          const host = yield* Host
          const run = yield* publishingRun()
          // The summary goes first, and counts for the review after it.
          const sql = yield* SqlClient.SqlClient
          yield* sql`UPDATE publications SET position = -1 WHERE operation_id = ${`summary:${run}`}`
          yield* Ref.set(host.pull, { head: "h1", state: "open", comments })
          yield* publish
          assert.deepStrictEqual(yield* Ref.get(host.unshared), expected)
        })
    )

  each("counts a verdict with details as a check run, and one without as none", () =>
    Effect.gen(function* () {
      const state = { head: "h1", state: "success", description: verbatimReason("clean") } as const
      const details = { text: "All was read.", annotations: [] }
      yield* publishingRun("h1", analysis, [
        (id) => row(id, key, "status:details", { _tag: "Status", ...state, details }, 0),
        (id) => row(id, key, "status:none", { _tag: "Status", ...state }, 1)
      ])
      const count = Effect.map(Metric.snapshot, (all) =>
        all.flatMap(({ attributes, id, state: value }) =>
          id === "aicr_check_runs_total" ? [`${attributes?.["outcome"]} ${"count" in value ? value.count : ""}`] : []
        )
      )
      assert.deepStrictEqual(yield* count, [])
      yield* publish
      assert.deepStrictEqual(yield* count, ["written 1"])
    })
  )

  for (const fault of [undefined, "lost", "rate_limited"] as const) {
    each(`sends what follows from a row before the rows after it, once (${fault ?? "no fault"})`, () =>
      Effect.gen(function* () {
        const host = yield* Host
        const outbox = yield* Outbox
        const run = yield* publishingRun()
        const issues = {
          _tag: "Issues",
          head: "h1",
          scope: "s",
          mode: "per_problem",
          title: "",
          problems: [],
          present: [],
          analysed: []
        } as const
        yield* outbox.add([row(run, key, `issues:${run}`, issues, -1)], 0)
        yield* Ref.set(host.faults, fault === undefined ? [] : [fault])
        yield* publish
        const done = [...new Set(yield* Ref.get(host.done))]
        assert.deepStrictEqual(done, [`issues:${run}`, `next:issues:${run}`, `review:${run}`, `summary:${run}`])
        const created = (yield* Ref.get(host.done)).filter((name) => name.startsWith("next:"))
        assert.strictEqual(created.length, 1)
        assert.strictEqual(yield* statusOf(run), "succeeded")
      })
    )
  }

  each("searches for a write whose response was lost instead of repeating it", () =>
    Effect.gen(function* () {
      const host = yield* Host
      yield* Ref.set(host.faults, ["lost"])
      const run = yield* publishingRun()
      yield* publish
      assert.deepStrictEqual(yield* Ref.get(host.done), [`review:${run}`, `summary:${run}`])
      assert.strictEqual(yield* statusOf(run), "succeeded")
    })
  )

  each("sends again what a lost request never did", () =>
    Effect.gen(function* () {
      const host = yield* Host
      yield* Ref.set(host.faults, ["unknown_outcome"])
      const run = yield* publishingRun()
      yield* publish
      assert.deepStrictEqual(yield* Ref.get(host.done), [`review:${run}`, `summary:${run}`])
    })
  )

  each("a row that a dead process was sending is looked up: done before the death", () =>
    Effect.gen(function* () {
      const host = yield* Host
      const { review, run } = yield* rowBeingSent
      yield* Ref.set(host.done, [review.operationId])
      yield* publish
      assert.deepStrictEqual(yield* Ref.get(host.done), [`review:${run}`, `summary:${run}`])
    })
  )

  each("a row that is found at the host brings the operations that follow it", () =>
    Effect.gen(function* () {
      const host = yield* Host
      const { review, run } = yield* rowBeingSent
      yield* Ref.set(host.done, [review.operationId])
      yield* Ref.set(host.hasNext, true)
      yield* publish
      assert.include(yield* Ref.get(host.done), `next:review:${run}`)
    })
  )

  each("a row that a dead process was sending is looked up: not done before the death", () =>
    Effect.gen(function* () {
      const host = yield* Host
      const { run } = yield* rowBeingSent
      yield* publish
      assert.deepStrictEqual(yield* Ref.get(host.done), [`review:${run}`, `summary:${run}`])
    })
  )

  each("a status that a dead process was sending does not hold up one of the same commit before it", () =>
    Effect.gen(function* () {
      const outbox = yield* Outbox
      const run = yield* publishingRun()
      const status = {
        _tag: "Status",
        head: "h1",
        state: "pending",
        description: verbatimReason("Review in progress")
      } as const
      yield* outbox.add([row(run, key, "earlier", status, 2), row(run, key, "later", status, 3)], 0)
      const [, , , later] = yield* outbox.ofRun(run)
      assert(later !== undefined)
      assert.strictEqual(
        yield* outbox.startStatus(later, "pending", (yield* outbox.takeOver(key, 0)).token, 0),
        "started"
      )
      yield* publish
      assert.deepStrictEqual(yield* rowsOf(run), ["sent", "sent", "sent", "sent"])
    })
  )

  each("who was frozen before the write while another node took over sends nothing, and its row is the other's", () =>
    Effect.gen(function* () {
      const host = yield* Host
      const outbox = yield* Outbox
      const run = yield* publishingRun()
      const [review] = yield* outbox.ofRun(run)
      assert(review !== undefined)
      // In between the other node sends the row.
      const elsewhere = Effect.gen(function* () {
        yield* Ref.set(host.asleep, Effect.void)
        const { token } = yield* outbox.takeOver(key, 0)
        yield* outbox.move(review.id, "pending", { status: "sending" }, token, 0)
        yield* Ref.update(host.done, (done) => [...done, review.operationId])
        yield* outbox.move(review.id, "sending", { status: "sent" }, token, 0)
      })
      yield* Ref.set(host.asleep, Effect.orDie(elsewhere))
      yield* publish
      assert.deepStrictEqual(yield* Ref.get(host.done), [`review:${run}`, `summary:${run}`])
      assert.deepStrictEqual(yield* rowsOf(run), ["sent", "sent"])
    })
  )

  each("waits as long as the host requires and continues", () =>
    Effect.gen(function* () {
      const host = yield* Host
      yield* Ref.set(host.faults, ["rate_limited", "unavailable"])
      const run = yield* publishingRun()
      yield* publish
      assert.deepStrictEqual(yield* Ref.get(host.done), [`review:${run}`, `summary:${run}`])
    })
  )

  each("more messages than a mailbox holds arrive while it waits for the host", () =>
    Effect.gen(function* () {
      const host = yield* Host
      const publisherOf = yield* Publisher.publishers
      yield* Ref.set(host.faults, ["rate_limited"])
      const run = yield* publishingRun()
      const done = yield* Effect.forkChild(publisherOf(key).Publish(), { startImmediately: true })
      yield* TestClock.adjust("1 second")
      for (let n = 0; n < 600; n++) yield* publisherOf(key).Publish(undefined, { discard: true })
      while (done.pollUnsafe() === undefined) yield* TestClock.adjust("10 seconds")
      assert.deepStrictEqual(yield* Ref.get(host.done), [`review:${run}`, `summary:${run}`])
    })
  )

  each("a refused review leaves the summary and marks the run partial", () =>
    Effect.gen(function* () {
      const host = yield* Host
      const runs = yield* Runs
      yield* Ref.set(host.faults, ["forbidden"])
      const run = yield* publishingRun()
      yield* publish
      assert.deepStrictEqual(yield* Ref.get(host.done), [`summary:${run}`])
      const record = yield* runs.get(run)
      assert.strictEqual(record?.status, "succeeded")
      assert.strictEqual(record?.partial, true)
    })
  )

  each("nothing goes out on a head that is no longer the newest, and the newest is queued", () =>
    Effect.gen(function* () {
      const host = yield* Host
      const queue = yield* Queue
      yield* Ref.update(host.pull, (pull) => ({ ...pull, head: "h2" }))
      const run = yield* publishingRun("h1")
      yield* publish
      assert.deepStrictEqual(yield* Ref.get(host.done), ["status:h1:neutral"])
      assert.deepStrictEqual(yield* rowsOf(run), ["dropped", "dropped", "sent"])
      assert.strictEqual(yield* statusOf(run), "skipped")
      const waiting = yield* queue.load("w")
      assert.deepStrictEqual(
        waiting.map((entry) => entry.change.head),
        ["h2"]
      )
    })
  )

  const inWindow = (
    name: string,
    start: string,
    test: () => Effect.Effect<void, unknown, Layer.Success<typeof world>>
  ) => layer(worldWith(opensAt(start)))((it) => it.effect(name, test))

  inWindow(
    "the newest head waits for its window; the finished review is published on its own commit and says so",
    "08:00",
    () =>
      Effect.gen(function* () {
        const host = yield* Host
        const queue = yield* Queue
        yield* Ref.update(host.pull, (pull) => ({ ...pull, head: "h2" }))
        const dueAt = 8 * 3_600_000
        const [own] = yield* queue.admit([
          { eventId: "push", change: { ...change, head: "h2" }, configHash: "c", priority: 10, admittedAt: 0, dueAt }
        ])
        const run = yield* publishingRun("h1")
        yield* publish
        const waiting = yield* queue.load("w")
        assert.deepStrictEqual(
          waiting.map((entry) => [entry.id, entry.change.head, entry.dueAt]),
          [[own?.entryId, "h2", dueAt]]
        )
        assert.deepStrictEqual(yield* Ref.get(host.done), [`review:${run}`, `summary:${run}`])
        assert.deepStrictEqual(yield* rowsOf(run), ["sent", "sent"])
        assert.strictEqual(yield* statusOf(run), "succeeded")
        const note = "This review is of commit h1. The newest commit, h2, will be reviewed after 1970-01-01 08:00 UTC."
        assert.deepStrictEqual(yield* Ref.get(host.bodies), [`> ${note}\n\n`])
      })
  )

  inWindow("a window that opens within the hour keeps nothing: the newest head is reviewed in it", "00:30", () =>
    Effect.gen(function* () {
      const host = yield* Host
      yield* Ref.update(host.pull, (pull) => ({ ...pull, head: "h2" }))
      const run = yield* publishingRun("h1")
      yield* publish
      const [entry] = yield* (yield* Queue).load("w")
      assert.deepStrictEqual([entry?.change.head, entry?.dueAt], ["h2", 1_800_000])
      assert.strictEqual(yield* statusOf(run), "skipped")
    })
  )

  each("a paused workspace does not keep a finished review from being published", () =>
    Effect.gen(function* () {
      const host = yield* Host
      yield* Ref.update(host.pull, (pull) => ({ ...pull, head: "h2" }))
      yield* (yield* QueueControl).pause({ scope: "workspace", name: "w", reason: verbatimReason("moving"), since: 0 })
      const run = yield* publishingRun("h1")
      yield* publish
      assert.strictEqual(yield* statusOf(run), "succeeded")
      assert.include((yield* Ref.get(host.bodies)).join(), "when reviews of this repository are resumed")
    })
  )

  const known = testSnapshotWith("w", "t")
  const other = testSnapshotWith("another workspace", "t")
  // The archive of configurations is readable from the second minute on.
  const late = Effect.map(Clock.currentTimeMillis, (now) => (now < 60_000 ? other.current() : known.current()))
  layer(worldWith({ ...known, pinned: () => late }))((it) =>
    it.effect("a run whose configuration is unknown on this node is published when it is known", () =>
      Effect.gen(function* () {
        const host = yield* Host
        const run = yield* publishingRun()
        yield* publish
        assert.deepStrictEqual(yield* Ref.get(host.done), [`review:${run}`, `summary:${run}`])
        assert.strictEqual(yield* statusOf(run), "succeeded")
      })
    )
  )

  each("a closed pull request gets the summary only", () =>
    Effect.gen(function* () {
      const host = yield* Host
      yield* Ref.set(host.pull, { head: "h1", state: "merged" } as const)
      const run = yield* publishingRun()
      yield* publish
      assert.deepStrictEqual(yield* Ref.get(host.done), [`summary:${run}`])
      assert.isFalse(yield* Ref.get(host.takesComments))
      assert.strictEqual(yield* statusOf(run), "succeeded")
    })
  )

  each("a run left open by a process that died after its last write is ended", () =>
    Effect.gen(function* () {
      const runs = yield* Runs
      const run = yield* runs.begin(
        { entryId: newId(), workspace: "w", targetKey: key, change, head: "h9", base: "b", configHash: "c" },
        LeaseToken.make(1),
        0
      )
      assert(run !== undefined)
      yield* runs.move(run.id, LeaseToken.make(1), "analyzing", 0)
      assert(yield* runs.complete(run.id, LeaseToken.make(1), analysis, [], 0))
      yield* publish
      assert.strictEqual(yield* statusOf(run.id), "succeeded")
    })
  )
})

describe("what only maintainers get", () => {
  const channel = "ops"
  const store = testSnapshotWith("w", "t", { review: { private: { channel } } })
  const each = (name: string, test: () => Effect.Effect<void, unknown, Layer.Success<typeof world>>) =>
    layer(worldWith(store))((it) => it.effect(name, test))
  const problem = { file: "a", severity: "critical", category: "security", message: "m" } as const
  const delivered: Analysis = { ...analysis, private: [{ finding: { fingerprint: "f", problem }, salt: "s" }] }
  const chat: Operation = { _tag: "Chat", head: "h1", title: "", body: "" }

  for (const [name, refusals, done, status] of [
    ["is delivered first, also where the channel refuses at first", 5, ["private", "summary"], "succeeded"],
    ["is not delivered: nothing else is published, and the status is a failure", 6, ["status:h1:failure"], "failed"]
  ] as const)
    each(name, () =>
      Effect.gen(function* () {
        const host = yield* Host
        const run = yield* publishingRun("h1", delivered, [
          (id) => ({ ...row(id, key, "private", chat, -1), channel }),
          (id) => row(id, key, "summary", { _tag: "Summary", head: "h1", body: "" }, 0)
        ])
        yield* Ref.set(
          host.faults,
          Array.from({ length: refusals }, () => "forbidden" as const)
        )
        yield* publish
        assert.deepStrictEqual(yield* Ref.get(host.done), done)
        assert.strictEqual(yield* statusOf(run), status)
      })
    )

  each("is also delivered when the change was closed before", () =>
    Effect.gen(function* () {
      const host = yield* Host
      yield* publishingRun("h1", delivered, [
        (id) => ({ ...row(id, key, "private", { _tag: "Issue", action: "create", files: [] }, -1), channel })
      ])
      yield* Ref.set(host.pull, { head: "h1", state: "closed" })
      yield* publish
      assert.deepStrictEqual(yield* Ref.get(host.done), ["private"])
    })
  )
})
