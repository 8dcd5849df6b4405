/** The run of an issue: its state at the host, one recorded decision per text, and failures that leave the issue open. */
import { assert, layer } from "@effect/vitest"
import { Clock, Context, Effect, Fiber, Layer, Ref } from "effect"
import { verbatimReason } from "../../../src/domain/Reason.ts"
import { inEnglish } from "../../../src/text/en.ts"
import * as Publisher from "../../../actors/publishing/ChangePublisher.ts"
import * as Executor from "../../../actors/review/ReviewExecutor.ts"
import * as Scheduler from "../../../actors/scheduling/WorkspaceScheduler.ts"
import { Agent } from "../../../src/agent/Agent.ts"
import { ConfigStore } from "../../../src/config/ConfigStore.ts"
import { targetKey } from "../../../src/domain/Change.ts"
import type { Change } from "../../../src/domain/Change.ts"
import { NodeIdentity } from "../../../src/domain/NodeIdentity.ts"
import type { ReadIssue } from "../../../src/forge/Forge.ts"
import { Forges } from "../../../src/forge/Forges.ts"
import { Catalog } from "../../../src/llm/Catalog.ts"
import { Gateway, gatewayAdvice, GatewayError } from "../../../src/llm/Gateway.ts"
import type { GatewayResponse } from "../../../src/llm/Gateway.ts"
import { ModelRun } from "../../../src/llm/ModelRun.ts"
import { Outputs } from "../../../src/outputs/Outputs.ts"
import { Queue } from "../../../src/queue/Queue.ts"
import { Runs } from "../../../src/store/Runs.ts"
import type { Run } from "../../../src/store/Runs.ts"
import { Objects } from "../../../src/store/Objects.ts"
import { Vcs } from "../../../src/vcs/Checkout.ts"
import { ContextRepositories } from "../../../src/vcs/ContextRepositories.ts"
import { calling } from "../../engine/Fixture.ts"
import { actorStores, testForges, testSnapshotWith } from "../../harness/ActorParts.ts"
import { testCluster } from "../../harness/TestCluster.ts"
import type { ModelAccount } from "../../../src/llm/ModelRun.ts"
import { until } from "../../harness/UntilOnTestClock.ts"

const close = { verdict: "close", category: "spam", reason: "it sells watches", confidence: 0.95 }
const spam: ReadIssue = { title: "Great offer", body: "Buy cheap watches now!", state: "open", labels: [] }

/** The host's issue, the model's response, and the requester. */
class Given extends Context.Service<
  Given,
  {
    readonly issue: Ref.Ref<ReadIssue>
    readonly enabled: Ref.Ref<boolean>
    readonly answer: Ref.Ref<GatewayResponse | GatewayError>
    readonly accounts: Ref.Ref<ReadonlyArray<ModelAccount>>
  }
>()("test/Given") {
  static readonly layer = Layer.effect(
    Given,
    Effect.all({
      issue: Ref.make(spam),
      enabled: Ref.make(true),
      answer: Ref.make<GatewayResponse | GatewayError>(calling("triage", close)),
      accounts: Ref.make<ReadonlyArray<ModelAccount>>([])
    })
  )
}

const forges = Layer.effect(
  Forges,
  Effect.gen(function* () {
    const { issue } = yield* Given
    const noForge = testForges(Effect.die("no pull request is read"))
    return Forges.of({
      ...noForge,
      client: (profile) => {
        const client = noForge.client(profile)
        return { ...client, issues: { ...client.issues, read: () => Ref.get(issue) } }
      }
    })
  })
)
const gateway = Layer.effect(
  Gateway,
  Effect.gen(function* () {
    const { answer, accounts } = yield* Given
    return Gateway.of({
      call: () =>
        Effect.gen(function* () {
          const run = yield* ModelRun
          yield* Ref.update(accounts, (before) => [...before, run])
          const given = yield* Ref.get(answer)
          return given instanceof GatewayError ? yield* given : given
        })
    })
  })
)
const config = Layer.effect(
  ConfigStore,
  Effect.gen(function* () {
    const { enabled } = yield* Given
    const store = testSnapshotWith("w", "t")
    const snapshot = () => {
      const current = store.current()
      const workspace = current.workspaces.get("w")
      if (workspace === undefined) throw new Error("no workspace")
      const triage = { ...workspace.triage, enabled: Effect.runSync(Ref.get(enabled)) }
      return { ...current, workspaces: new Map([["w", { ...workspace, triage, triageModelChain: "default" }]]) }
    }
    return ConfigStore.of({ ...store, current: snapshot, pinned: () => Effect.sync(snapshot) })
  })
)

const world = Executor.layer.pipe(
  Layer.provideMerge(Layer.mergeAll(Publisher.layer, Scheduler.layer)),
  Layer.provideMerge(
    Layer.mergeAll(
      actorStores(),
      NodeIdentity.layer("node"),
      Layer.mock(Vcs, {}),
      Layer.mock(ContextRepositories, {}),
      Layer.mock(Objects, { get: () => Effect.undefined, put: () => Effect.void }),
      Layer.mock(Agent, {}),
      Layer.mock(Catalog, {}),
      // Nothing is routed anywhere: an issue is triaged all the same.
      Layer.mock(Outputs, {
        anyFor: () => false,
        plan: () => [],
        status: () => [],
        issueCode: () => Effect.succeed([])
      }),
      forges,
      gateway,
      config
    )
  ),
  Layer.provideMerge(Given.layer),
  Layer.provideMerge(testCluster)
)

const change: Change = {
  provider: "gitea",
  trigger: "t",
  workspace: "w",
  repo: { fullName: "Team/App" },
  target: { kind: "issue", number: 7 }
}

const slowly = { step: "1 second", atMost: "10 minutes" } as const

/** Handles the issue's event; returns how the entry ended and the runs, oldest first. */
const triaged = Effect.fnUntraced(function* (eventId: string) {
  const queue = yield* Queue
  const [admitted] = yield* queue.admit([
    { eventId, change, configHash: "c", priority: 20, dueAt: 0, admittedAt: yield* Clock.currentTimeMillis }
  ])
  const entryId = admitted?.entryId ?? ""
  const scheduler = yield* Scheduler.WorkspaceScheduler.client
  yield* Effect.forkChild(scheduler("w").Wake())
  yield* until(
    "the entry has ended",
    Effect.map(queue.get(entryId), (entry) => entry?.status === "done" || entry?.status === "dead"),
    slowly
  )
  const runs = yield* Runs
  const listed = runs.list({ targetKey: targetKey(change), limit: 10 })
  yield* until(
    "no run is open",
    Effect.map(listed, (all) => all.every(({ finishedAt }) => finishedAt !== undefined)),
    slowly
  )
  return { entry: yield* queue.get(entryId), runs: (yield* listed).toReversed() }
})

const each = (name: string, test: () => Effect.Effect<void, unknown, Layer.Success<typeof world>>) =>
  layer(world)((it) => it.effect(name, test))

each("the decision is stored as the run's analysis, its money is the run's and the repository's", () =>
  Effect.gen(function* () {
    const { entry, runs } = yield* triaged("one")
    assert.strictEqual(entry?.status, "done")
    assert.lengthOf(runs, 1)
    assert.deepInclude(runs[0], { status: "succeeded" })
    assert.deepEqual(runs[0]?.analysis?.triage, { ...close, verdict: "close", reason: verbatimReason(close.reason) })
    const conclusion = runs[0]?.analysis?.conclusion
    assert.strictEqual(conclusion && inEnglish(conclusion), "**Closed**: spam (confidence 0.95). it sells watches")
    assert.strictEqual(runs[0]?.change.title, "Great offer")
    assert.strictEqual(runs[0]?.analysis?.usage.costUsd, 0.25)
    const [account, ...others] = yield* Ref.get((yield* Given).accounts)
    assert.deepInclude(account, { id: runs[0]?.id ?? "", repository: "t:team/app", author: undefined })
    assert.isEmpty(others)
  })
)

each("the same text is judged once, another text again", () =>
  Effect.gen(function* () {
    const { accounts, issue } = yield* Given
    yield* triaged("one")
    yield* Ref.update(issue, (before) => ({ ...before, labels: ["seen"] }))
    const judged = (runs: ReadonlyArray<Run>) => runs.filter(({ status }) => status !== "skipped")
    assert.lengthOf(judged((yield* triaged("two")).runs), 1)
    yield* Ref.update(issue, (before) => ({ ...before, body: "More watches." }))
    assert.lengthOf(judged((yield* triaged("three")).runs), 2)
    assert.lengthOf(yield* Ref.get(accounts), 2)
  })
)

each("an issue that is closed, has an ignored label or whose triage is off is not sent to the model", () =>
  Effect.gen(function* () {
    const { accounts, enabled, issue } = yield* Given
    const reasonOf = Effect.fnUntraced(function* (eventId: string) {
      const { entry, runs } = yield* triaged(eventId)
      assert.isTrue(runs.every(({ status, analysis }) => status === "skipped" && analysis === undefined))
      const text = entry?.reason && inEnglish(entry.reason)
      assert.include(
        runs.map(({ reason }) => reason && inEnglish(reason)),
        text
      )
      return text
    })
    yield* Ref.update(issue, (before) => ({ ...before, state: "closed" as const }))
    assert.strictEqual(yield* reasonOf("one"), "the issue is closed")
    yield* Ref.set(issue, { ...spam, labels: ["aicr-ignore"] })
    assert.strictEqual(yield* reasonOf("two"), "the issue has the label aicr-ignore")
    yield* Ref.set(issue, spam)
    yield* Ref.set(enabled, false)
    assert.strictEqual(yield* reasonOf("three"), "triage of issues is not enabled")
    assert.lengthOf(yield* Ref.get(accounts), 0)
  })
)

each("a provider that refuses requests is waited for, which is no attempt", () =>
  Effect.gen(function* () {
    const { answer } = yield* Given
    yield* Ref.set(
      answer,
      new GatewayError({ reason: "rate_limited", why: verbatimReason("busy"), retryAfterMillis: 120_000 })
    )
    const waiting = yield* Effect.forkChild(triaged("one"))
    const runs = yield* Runs
    const open = Effect.map(runs.list({ targetKey: targetKey(change), limit: 1 }), ([run]) => run)
    yield* until(
      "the run waits",
      Effect.map(open, (run) => run?.waitingSince !== undefined),
      slowly
    )
    assert.strictEqual((yield* open)?.reason?._tag, "ProviderRefuses")
    yield* Ref.set(answer, calling("triage", close))
    const { entry, runs: ended } = yield* Fiber.join(waiting)
    assert.deepInclude(entry, { status: "done", attempts: 1 })
    assert.lengthOf(ended, 1)
    assert.deepInclude(ended[0], { status: "succeeded" })
  })
)

each("a model server that cannot be reached is waited for, which is no attempt", () =>
  Effect.gen(function* () {
    const { answer } = yield* Given
    const why = verbatimReason("connect ECONNREFUSED")
    yield* Ref.set(answer, new GatewayError({ reason: "unavailable", why, isOutage: true }))
    const waiting = yield* Effect.forkChild(triaged("one"))
    const runs = yield* Runs
    const open = Effect.map(runs.list({ targetKey: targetKey(change), limit: 1 }), ([run]) => run)
    yield* until(
      "the run waits",
      Effect.map(open, (run) => run?.waitingSince !== undefined),
      slowly
    )
    assert.strictEqual((yield* open)?.reason?._tag, "ProviderUnreachable")
    yield* Ref.set(answer, calling("triage", close))
    const { entry } = yield* Fiber.join(waiting)
    assert.deepInclude(entry, { status: "done", attempts: 1 })
  })
)

each("a model that is unavailable is called again with the entry; one that never can fails the run", () =>
  Effect.gen(function* () {
    const { answer, accounts } = yield* Given
    yield* Ref.set(answer, new GatewayError({ reason: "unavailable", why: verbatimReason("down") }))
    const { entry, runs } = yield* triaged("one")
    assert.deepInclude(entry, { status: "dead", attempts: 3 })
    assert.lengthOf(yield* Ref.get(accounts), 3)
    const run = runs.at(-1)
    assert.deepInclude(run, { status: "failed", analysis: undefined })
    assert.strictEqual(
      run?.reason && inEnglish(run.reason),
      `the issue was not triaged and stays open: down; ${inEnglish(gatewayAdvice.unavailable)}`
    )
    yield* Ref.set(answer, new GatewayError({ reason: "budget", why: verbatimReason("no money") }))
    assert.deepInclude((yield* triaged("two")).entry, { status: "dead", attempts: 1 })
  })
)
