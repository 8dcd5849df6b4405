/**
 * Publishers of several pull requests, on several nodes, write the check run of one commit with the real adapter: one check is not completed,
 * and none remains so.
 */
import { assert, describe, layer } from "@effect/vitest"
import { Deferred, Effect, Layer, Schema } from "effect"
import { TestClock } from "effect/testing"
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
import type { Publication, StatusState } from "../../../src/domain/Publication.ts"
import { verbatimReason } from "../../../src/domain/Reason.ts"
import { Forges } from "../../../src/forge/Forges.ts"
import { githubVerdict } from "../../../src/forge/github/CheckRuns.ts"
import type { Rest } from "../../../src/forge/http/Http.ts"
import { WriteOwner } from "../../../src/forge/WriteOwner.ts"
import { Outputs } from "../../../src/outputs/Outputs.ts"
import { Outbox } from "../../../src/store/Outbox.ts"
import { Runs } from "../../../src/store/Runs.ts"
import { inEnglish } from "../../../src/text/en.ts"
import { actorStores, testForges, testSnapshotWith } from "../../harness/ActorParts.ts"
import { testCluster } from "../../harness/TestCluster.ts"
import { publication } from "../../store/Fixtures.ts"
import { quietOutputs } from "./QuietOutputs.ts"

interface Check {
  readonly id: number
  status: string
  conclusion: string | null
  external_id: string
}
const Body = Schema.Struct({
  status: Schema.String,
  conclusion: Schema.optional(Schema.String),
  external_id: Schema.optional(Schema.String)
})

/** The checks of the commit at the host, oldest first, what runs right before a write of a pull request, and the requests. */
class Host {
  readonly checks: Array<Check> = []
  before: ((number: number) => Effect.Effect<void>) | undefined
  reads = 0

  readonly rest: Rest = {
    get: (_call, schema) =>
      Effect.suspend(() => {
        this.reads++
        const check_runs = this.checks.map((check) => ({ ...check, app: { slug: "aicr" } }))
        return Effect.orDie(Schema.decodeUnknownEffect(schema)({ check_runs }))
      }),
    write: ({ body, method, params }, schema) =>
      Effect.gen({ self: this }, function* () {
        const owner = yield* WriteOwner
        yield* owner.fence
        const change = yield* Effect.orDie(Schema.decodeUnknownEffect(Body)(body))
        yield* this.before?.(Number(change.external_id?.split(":")[0])) ?? Effect.void
        const id = Number(params?.["check_run_id"])
        const check = method === "POST" ? this.create() : this.checks.find((one) => one.id === id)
        assert(check !== undefined)
        assert.isFalse(check.status === "completed" && change.status !== "completed", "a completed check was reopened")
        check.status = change.status
        check.conclusion = change.conclusion ?? null
        check.external_id = change.external_id ?? check.external_id
        return yield* Effect.orDie(Schema.decodeUnknownEffect(schema)(check))
      }),
    headers: () => Effect.die("unused"),
    download: () => Effect.die("unused"),
    query: () => Effect.die("unused"),
    pages: () => Effect.die("unused"),
    list: () => Effect.die("unused")
  }

  create(external_id = ""): Check {
    const check: Check = { id: this.checks.length + 1, status: "in_progress", conclusion: null, external_id }
    this.checks.push(check)
    return check
  }

  get shown(): ReadonlyArray<string> {
    return this.checks.map(({ conclusion, status }) => conclusion ?? status)
  }
}

const makeWorld = (host: Host) => {
  const write = githubVerdict({
    mayCheck: () => Effect.succeed(true),
    rest: () => host.rest,
    self: Effect.succeed({ username: "aicr[bot]" })
  })
  const outputs = Outputs.of({
    ...quietOutputs,
    status: () => [],
    find: () => Effect.undefined,
    send: (_workspace, { repo, target: { number } }, { operation, operationId: key }) =>
      operation._tag === "Status"
        ? Effect.map(
            write(repo, operation.head, {
              state: operation.state,
              description: inEnglish(operation.description),
              url: undefined,
              key,
              number
            }),
            (sent) => ({ ...sent, next: [] })
          )
        : Effect.die("only statuses are sent")
  })
  const store = testSnapshotWith("w", "t")
  const snapshot = store.current()
  const triggers = new Map(
    [...snapshot.triggers].map(([name, profile]) => [
      name,
      { ...profile, settings: { ...profile.settings, app: { app_id: 1 } } }
    ])
  )
  const workspaces = new Map(
    [...snapshot.workspaces].map(([id, workspace]) => [id, { ...workspace, snapshot: () => withApp }])
  )
  const withApp: typeof snapshot = { ...snapshot, triggers, workspaces }
  const config = { ...store, current: () => withApp, pinned: () => Effect.succeed(withApp) }
  const parts = Layer.mergeAll(
    actorStores(),
    Layer.succeed(Outputs, outputs),
    Layer.succeed(Forges, testForges(Effect.succeed({ head: "h", state: "open" }))),
    Layer.succeed(ConfigStore, config)
  )
  return Layer.mergeAll(Publisher.layer, Scheduler.layer).pipe(
    Layer.provideMerge(parts),
    Layer.provideMerge(testCluster)
  )
}

const pull = (number: number): Change => ({
  provider: "github",
  trigger: "t",
  workspace: "w",
  repo: { fullName: "team/app" },
  target: { kind: "pull_request", number },
  head: "h",
  baseRef: "main"
})
const keyOf = (number: number) => targetKey(pull(number))

const analysis: Analysis = {
  findings: [],
  summary: "",
  coverage: { reviewed: [], skipped: [], lines: 0 },
  models: [],
  usage: { requests: 0, inputTokens: 0, outputTokens: 0, cachedTokens: 0 },
  notices: []
}

const toRow = (runId: string, number: number, state: StatusState): Publication =>
  publication({
    operationId: OperationId.make(newId()),
    runId,
    targetKey: keyOf(number),
    operation: { _tag: "Status", head: "h", state, description: verbatimReason(state) }
  })

/** Begins a review with its pending status. */
const begin = Effect.fnUntraced(function* (number: number) {
  const change = pull(number)
  const begun = { entryId: newId(), workspace: "w", targetKey: keyOf(number), change, head: "h", base: "b" }
  const verdict = pendingVerdict(verbatimReason("pending"))
  const run = yield* (yield* Runs).begin({ ...begun, configHash: "c", verdict }, LeaseToken.make(1), 0)
  assert(run !== undefined)
  const row = toRow(run.id, number, "pending")
  yield* (yield* Outbox).add([row], 0)
  return { runId: run.id, row }
})

const complete = Effect.fnUntraced(function* (runId: string, number: number, state: StatusState) {
  const runs = yield* Runs
  const row = toRow(runId, number, state)
  yield* runs.move(runId, LeaseToken.make(1), "analyzing", 1)
  const verdict = { state, description: verbatimReason(state), isShown: true, isClean: state === "success" }
  assert.isTrue(yield* runs.complete(runId, LeaseToken.make(1), analysis, [row], 2, verdict))
  return row
})

const publish = Effect.fnUntraced(function* (number: number) {
  const publisherOf = yield* Publisher.publishers
  const done = yield* Effect.forkChild(publisherOf(keyOf(number)).Publish())
  while (done.pollUnsafe() === undefined) yield* TestClock.adjust("1 second")
})

describe("RowWrite of check runs", () => {
  const each = (
    name: string,
    test: (host: Host) => Effect.Effect<void, unknown, Layer.Success<ReturnType<typeof makeWorld>>>
  ) => {
    const host = new Host()
    layer(makeWorld(host))((it) => it.effect(name, () => test(host)))
  }

  each("two pull requests with one head share a check, which ends with the last of their reviews", (host) =>
    Effect.gen(function* () {
      const [first, second] = [yield* begin(1), yield* begin(2)]
      yield* publish(1)
      yield* publish(2)
      assert.deepStrictEqual(host.shown, ["in_progress"])
      yield* complete(first.runId, 1, "success")
      yield* publish(1)
      assert.deepStrictEqual(host.shown, ["in_progress"])
      yield* complete(second.runId, 2, "success")
      yield* publish(2)
      assert.deepStrictEqual(host.shown, ["success"])
      // A later review of the head gets a check of its own.
      const again = yield* begin(1)
      yield* publish(1)
      assert.deepStrictEqual(host.shown, ["success", "in_progress"])
      yield* complete(again.runId, 1, "neutral")
      yield* publish(1)
      assert.deepStrictEqual(host.shown, ["success", "action_required"])
      assert.strictEqual(host.reads, 0)
    })
  )

  for (const hasWritten of [false, true])
    each(`a process died ${hasWritten ? "after" : "before"} the host created the check`, (host) =>
      Effect.gen(function* () {
        const outbox = yield* Outbox
        const { row, runId } = yield* begin(1)
        const { token: dead } = yield* outbox.takeOver(row.targetKey, 3)
        assert.strictEqual(yield* outbox.startStatus(row, "pending", dead, 3), "started")
        if (hasWritten) host.create(`1:${row.operationId}`)
        yield* publish(1)
        assert.deepStrictEqual(host.shown, ["in_progress"])
        yield* complete(runId, 1, "failure")
        yield* publish(1)
        assert.deepStrictEqual(host.shown, ["failure"])
      })
    )

  each("a process that was frozen before it created a check leaves none open", (host) =>
    Effect.gen(function* () {
      const outbox = yield* Outbox
      const { row, runId } = yield* begin(1)
      const [reached, released] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      host.before = () => Effect.andThen(Deferred.succeed(reached, undefined), Deferred.await(released))
      const publisherOf = yield* Publisher.publishers
      yield* Effect.forkChild(publisherOf(row.targetKey).Publish(), { startImmediately: true })
      while (!(yield* Deferred.isDone(reached))) yield* TestClock.adjust("1 second")
      host.before = undefined
      // Another node takes the target over, creates the check, and completes it after the review.
      const { token: elsewhere } = yield* outbox.takeOver(row.targetKey, 3)
      const check = host.create(`1:${row.operationId}`)
      yield* outbox.move(row.id, "sending", { status: "unknown" }, elsewhere, 3)
      yield* outbox.move(row.id, "unknown", { status: "sent", hostId: `${check.id}:in_progress` }, elsewhere, 3)
      const end = yield* complete(runId, 1, "success")
      assert.strictEqual(yield* outbox.startStatus(end, "pending", elsewhere, 3), "started")
      Object.assign(check, { status: "completed", conclusion: "success" })
      yield* outbox.move(end.id, "sending", { status: "sent", hostId: `${check.id}:completed` }, elsewhere, 3)
      yield* Deferred.succeed(released, undefined)
      while (host.shown.length < 2 || host.shown.includes("in_progress")) yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(host.shown, ["success", "success"])
    })
  )
})
