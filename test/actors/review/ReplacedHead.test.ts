/** A pull request whose head changes during its review, over a real repository: a force push ends the review, a push does not. */
import { assert, it } from "@effect/vitest"
import { Deferred, Effect, Layer, Ref } from "effect"
import { join } from "node:path"
import { inEnglish } from "../../../src/text/en.ts"
import * as Publisher from "../../../actors/publishing/ChangePublisher.ts"
import * as Executor from "../../../actors/review/ReviewExecutor.ts"
import * as Scheduler from "../../../actors/scheduling/WorkspaceScheduler.ts"
import { Agent } from "../../../src/agent/Agent.ts"
import type { Brief } from "../../../src/agent/Agent.ts"
import { makeStaticStore } from "../../../src/config/snapshots/FileConfigStore.ts"
import { ConfigStore } from "../../../src/config/ConfigStore.ts"
import { toSnapshot } from "../../../src/config/LoadConfig.ts"
import { targetKey } from "../../../src/domain/Change.ts"
import type { Change } from "../../../src/domain/Change.ts"
import { newId } from "../../../src/domain/Ids.ts"
import { DeliveryKey } from "../../../src/domain/Keys.ts"
import { NodeIdentity } from "../../../src/domain/NodeIdentity.ts"
import { Forges } from "../../../src/forge/Forges.ts"
import { WriteOwner } from "../../../src/forge/WriteOwner.ts"
import { Catalog } from "../../../src/llm/Catalog.ts"
import { ModelRun } from "../../../src/llm/ModelRun.ts"
import type { ModelAccount } from "../../../src/llm/ModelRun.ts"
import { Outputs } from "../../../src/outputs/Outputs.ts"
import { NewerHeads } from "../../../src/queue/dispatch/NewerHeads.ts"
import { Queue } from "../../../src/queue/Queue.ts"
import { layerFiles } from "../../../src/store/objects/FileObjects.ts"
import { Receipts } from "../../../src/store/Receipts.ts"
import { Runs } from "../../../src/store/Runs.ts"
import { Vcs } from "../../../src/vcs/Checkout.ts"
import { layerGit } from "../../harness/GitLayer.ts"
import { localLimits } from "../../../src/vcs/process/ProcessLimits.ts"
import { emptyReport, silentGateway, silentQuery } from "../../engine/Fixture.ts"
import { actorStores, testForges } from "../../harness/ActorParts.ts"
import { testCluster } from "../../harness/TestCluster.ts"
import { waitUntil } from "../../harness/Wait.ts"
import { event, publication } from "../../store/Fixtures.ts"
import { startGitServer } from "../../vcs/GitServer.ts"
import { makeRepository, temporaryFolder } from "../../vcs/Repository.ts"

const number = 7

/** A repository with a pull request of one commit that is to be reviewed. */
const makePull = () => {
  const root = temporaryFolder()
  const repository = makeRepository(join(root, "acme", "app.git"))
  repository.write("base.ts", "export const base = 1\n")
  const base = repository.commit("base")
  repository.git("checkout", "-q", "-b", "feature")
  repository.write("first.ts", "export const first = 1\n")
  const first = repository.commit("first")
  return { root, repository, base, first }
}

/** Requests to the model of the test, and when it may reply to the first one. */
interface Asked {
  readonly briefs: Array<Brief>
  readonly accounts: Array<ModelAccount>
  readonly reply: Deferred.Deferred<void>
  /** Results of comparing the reviewed head with the newest one. */
  readonly compared: Array<boolean>
  /** Heads that a summary was written for. */
  readonly published: Array<string>
}

/** Git, with its results on record. */
const vcs = ({ compared }: Asked) =>
  Layer.effect(
    Vcs,
    Effect.map(Vcs, (git) =>
      Vcs.of({
        ...git,
        isAncestor: (request) =>
          Effect.tap(git.isAncestor(request), (result) => Effect.sync(() => compared.push(result)))
      })
    )
  ).pipe(Layer.provideMerge(layerGit({ root: temporaryFolder(), limits: () => localLimits })))

const parts = Effect.fnUntraced(function* (root: string, head: Ref.Ref<string>, base: string, asked: Asked) {
  const server = yield* Effect.acquireRelease(
    Effect.promise(() => startGitServer({ root })),
    (started) => Effect.promise(() => started.close())
  )
  const snapshot = yield* toSnapshot(
    {
      llm: {
        providers: [{ id: "p", kind: "openai_compatible", base_url: "http://127.0.0.1:1", api_key: "k" }],
        model_chain: { default: [{ provider: "p", model: "m" }] }
      },
      triggers: [{ name: "t", kind: "gitea", base_url: server.url, webhook_secret: "s", token: "k" }],
      workspaces: { instances: { w: { source_repo: { trigger: "t", repo: "acme/app" } } } },
      review: { output_language: "en", verification: "off" }
    },
    {}
  )
  const statuses: Array<string> = []
  const pull = Effect.map(Ref.get(head), (current) => ({ head: current, base, state: "open" as const }))
  const forges = testForges(pull)
  const client: Forges["Service"]["client"] = (profile) => ({
    ...forges.client(profile),
    gitAuthorization: () => Effect.succeed(undefined),
    newestCommit: () => Effect.succeed(base),
    branchTip: () => Effect.succeed({ commit: base, isProtected: true })
  })
  const agent = Agent.of({
    analyse: (brief) =>
      Effect.gen(function* () {
        asked.briefs.push(brief)
        asked.accounts.push(yield* ModelRun)
        if (asked.briefs.length === 1) yield* Deferred.await(asked.reply)
        return emptyReport
      }),
    query: silentQuery
  })
  const world = Executor.layer.pipe(
    Layer.provideMerge(Layer.mergeAll(Publisher.layer, Scheduler.layer)),
    Layer.provideMerge(
      Layer.mergeAll(
        actorStores(),
        NodeIdentity.layer("node"),
        vcs(asked),
        layerFiles({ root: temporaryFolder() }),
        Layer.succeed(Agent, agent),
        silentGateway,
        Catalog.layerOffline,
        Layer.mock(Outputs, {
          issueCode: () => Effect.succeed([]),
          anyFor: () => true,
          plan: ({ head: reviewed, runId }) => [
            publication({ runId, targetKey: target, operation: { _tag: "Summary", head: reviewed, body: "text" } })
          ],
          send: (_workspace, _change, { operation }) =>
            Effect.gen(function* () {
              const owner = yield* WriteOwner
              yield* owner.guard
              yield* owner.fence
              if (operation._tag === "Summary") asked.published.push(operation.head)
              return { hostId: "1", url: undefined, next: [] }
            }),
          status: (input, state, description) => {
            statuses.push(`${input.head} ${state}: ${inEnglish(description)}`)
            return []
          }
        }),
        Layer.succeed(Forges, { ...forges, client }),
        Layer.succeed(ConfigStore, makeStaticStore(snapshot))
      )
    ),
    Layer.provideMerge(testCluster)
  )
  return { world, hash: snapshot.hash, statuses }
})

const changeAt = (head: string, requestedBy?: string): Change => ({
  provider: "gitea",
  trigger: "t",
  workspace: "w",
  repo: { fullName: "acme/app" },
  target: { kind: "pull_request", number },
  head,
  ...(requestedBy === undefined ? {} : { requestedBy })
})
const target = targetKey(changeAt(""))

/** Stores a delivery like the ingress: receipt, entry, and then the messages. */
const deliver = Effect.fnUntraced(function* (head: string, configHash: string, requestedBy?: string) {
  const eventId = newId()
  const work = { change: changeAt(head, requestedBy), configHash, priority: 10, dueAt: 0 }
  yield* (yield* Receipts).store(event({ id: eventId, deliveryKey: DeliveryKey.make(eventId), work, receivedAt: 0 }))
  const [admitted] = yield* (yield* Queue).admit([{ eventId, ...work, admittedAt: 0 }])
  const schedulerOf = yield* Scheduler.WorkspaceScheduler.client
  yield* schedulerOf("w").Wake(undefined, { discard: true })
  yield* (yield* NewerHeads).notify(target, head)
  return { eventId, entryId: admitted?.entryId ?? "" }
})

const wait = <A, E, R>(what: string, condition: Effect.Effect<A | undefined | false, E, R>) =>
  Effect.gen(function* () {
    const run = Effect.runPromiseWith(yield* Effect.context<R>())
    return yield* Effect.promise(() => waitUntil(() => run(condition), { describe: () => what, timeout: 20_000 }))
  })

const runAt = (head: string, status: string) =>
  Effect.flatMap(Runs, (runs) =>
    Effect.map(runs.list({ targetKey: target, limit: 10 }), (found) =>
      found.find((run) => run.head === head && run.status === status)
    )
  )

/** Reviews the first head, moves the pull request during the model call, and delivers its new head. */
const moved = <A, E, R>(
  move: (pull: ReturnType<typeof makePull>) => string,
  then: (given: {
    readonly asked: Asked
    readonly statuses: ReadonlyArray<string>
    readonly first: string
    readonly second: string
    readonly delivered: { readonly eventId: string; readonly entryId: string }
  }) => Effect.Effect<A, E, R>,
  { requestedBy }: { readonly requestedBy?: string } = {}
) =>
  Effect.gen(function* () {
    const pull = makePull()
    const head = yield* Ref.make(pull.first)
    const asked: Asked = { briefs: [], accounts: [], reply: yield* Deferred.make<void>(), compared: [], published: [] }
    const { hash, statuses, world } = yield* parts(pull.root, head, pull.base, asked)
    return yield* Effect.gen(function* () {
      const delivered = yield* deliver(pull.first, hash, requestedBy)
      yield* wait(
        "the model is asked",
        Effect.sync(() => asked.briefs.length === 1)
      )
      const second = move(pull)
      yield* Ref.set(head, second)
      yield* deliver(second, hash)
      return yield* then({ asked, statuses, first: pull.first, second, delivered })
    }).pipe(Effect.provide(world))
  }).pipe(Effect.scoped)

const amend = ({ repository }: ReturnType<typeof makePull>) => {
  repository.write("second.ts", "export const second = 2\n")
  repository.git("add", "-A")
  repository.git("commit", "-q", "--amend", "-m", "amended")
  return repository.git("rev-parse", "HEAD")
}
const add = ({ repository }: ReturnType<typeof makePull>) => {
  repository.write("second.ts", "export const second = 2\n")
  return repository.commit("second")
}

it.live("a review of a head that a force push replaced is cancelled, and the newest head is reviewed next", () =>
  moved(
    amend,
    Effect.fnUntraced(function* ({ asked, delivered, first, second, statuses }) {
      // The model never replies to the first request.
      const cancelled = yield* wait("the first run is cancelled", runAt(first, "cancelled"))
      assert.deepStrictEqual(cancelled.reason, { _tag: "HeadReplaced" })
      yield* wait("the second run has succeeded", runAt(second, "succeeded"))
      assert.deepInclude(yield* (yield* Queue).get(delivered.entryId), {
        status: "cancelled",
        reason: { _tag: "HeadReplaced" }
      })
      const receipt = yield* (yield* Receipts).get(delivered.eventId)
      assert.deepInclude(receipt, { outcome: "cancelled", outcomeReason: { _tag: "HeadReplaced" } })
      assert.isDefined(statuses.find((line) => line.startsWith(`${first} failure`)))
      assert.deepStrictEqual(asked.published, [second])
      // Recorded responses of the first run are used for the same requests.
      assert.deepStrictEqual(asked.accounts[1]?.resumes?.earlier, [cancelled.id])
    })
  )
)

it.live("a review requested by a person moves to the head that replaced its own, for the same person", () =>
  moved(
    amend,
    Effect.fnUntraced(function* ({ first, second }) {
      yield* wait("the first run is cancelled", runAt(first, "cancelled"))
      const run = yield* wait("the second run has succeeded", runAt(second, "succeeded"))
      assert.strictEqual(run.change.requestedBy, "administrator root")
    }),
    { requestedBy: "administrator root" }
  )
)

it.live(
  "a review whose head is part of the newest head finishes, and is not published; only what is new is read next",
  () =>
    moved(
      add,
      Effect.fnUntraced(function* ({ asked, delivered, first, second }) {
        yield* wait(
          "the heads are compared",
          Effect.sync(() => asked.compared.length === 1)
        )
        yield* Deferred.succeed(asked.reply, undefined)
        const dropped = yield* wait("the first run ends unpublished", runAt(first, "skipped"))
        assert.isDefined(dropped.analysis)
        yield* wait("the second run has succeeded", runAt(second, "succeeded"))
        assert.deepInclude(yield* (yield* Queue).get(delivered.entryId), { status: "done" })
        assert.deepStrictEqual(asked.published, [second])
        assert.lengthOf(asked.briefs, 2)
        assert.include(asked.briefs[1]?.prompt ?? "", "second.ts")
        assert.notInclude(asked.briefs[1]?.prompt ?? "", "export const first = 1")
        assert.isUndefined(asked.accounts[1]?.resumes)
      })
    )
)
