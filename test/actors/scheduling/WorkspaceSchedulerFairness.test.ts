/**
 * Fairness on the real path: schedulers of a hundred workspaces, one queue of tickets, the slots of one executor. It counts turns, not
 * time: the position of each review in the order of starts.
 */
import { assert, it } from "@effect/vitest"
import { Deferred, Effect, Layer, References } from "effect"
import { verbatimReason } from "../../../src/domain/Reason.ts"
import * as Publisher from "../../../actors/publishing/ChangePublisher.ts"
import * as Executor from "../../../actors/review/ReviewExecutor.ts"
import * as Scheduler from "../../../actors/scheduling/WorkspaceScheduler.ts"
import { Agent } from "../../../src/agent/Agent.ts"
import { ConfigStore } from "../../../src/config/ConfigStore.ts"
import { makeStaticStore } from "../../../src/config/snapshots/FileConfigStore.ts"
import type { Change } from "../../../src/domain/Change.ts"
import { newId } from "../../../src/domain/Ids.ts"
import { NodeIdentity } from "../../../src/domain/NodeIdentity.ts"
import { Forges } from "../../../src/forge/Forges.ts"
import { Catalog } from "../../../src/llm/Catalog.ts"
import { Gateway } from "../../../src/llm/Gateway.ts"
import { Outputs } from "../../../src/outputs/Outputs.ts"
import { Queue } from "../../../src/queue/Queue.ts"
import { Objects } from "../../../src/store/Objects.ts"
import { CheckoutError, Vcs } from "../../../src/vcs/Checkout.ts"
import { ContextRepositories } from "../../../src/vcs/ContextRepositories.ts"
import { actorStores, testForges, testSnapshotWith } from "../../harness/ActorParts.ts"
import { testCluster } from "../../harness/TestCluster.ts"

interface Load {
  readonly workspace: string
  readonly entries: number
}

const forge = testForges(Effect.die("no pull request is asked for"))
const configOf = (loads: ReadonlyArray<Load>): ConfigStore["Service"] => {
  const store = testSnapshotWith("w", "t")
  const [one] = store.current().workspaces.values()
  if (one === undefined) throw new Error("no workspace")
  const snapshot = {
    ...store.current(),
    workspaces: new Map(loads.map(({ workspace }) => [workspace, { ...one, id: workspace }]))
  }
  return makeStaticStore(snapshot)
}

const changeOf = (workspace: string, number: number): Change => ({
  provider: "gitea",
  trigger: "t",
  workspace,
  repo: { fullName: `team/${workspace}` },
  target: { kind: "push", branch: `branch-${number}` },
  head: `h${number}`,
  base: "b"
})

/** Workspaces in the order in which their reviews began, until the last of those whose name starts with `small`. */
const begun = (loads: ReadonlyArray<Load>) =>
  Effect.gen(function* () {
    const order: Array<string> = []
    const over = yield* Deferred.make<void>()
    const isSmall = (workspace: string) => workspace.startsWith("small")
    let left = loads.reduce((sum, { entries, workspace }) => sum + (isSmall(workspace) ? entries : 0), 0)
    // Each review ends immediately, because the repository is unavailable.
    const vcs = Vcs.of({
      isAncestor: () => Effect.succeed(true),
      checkout: (request) =>
        Effect.gen(function* () {
          const workspace = ("mirror" in request ? request.mirror : "").split("/").at(-1) ?? ""
          order.push(workspace)
          if (isSmall(workspace) && --left === 0) yield* Deferred.succeed(over, undefined)
          return yield* new CheckoutError({ reason: "missing", why: verbatimReason("there is no such commit") })
        })
    })
    const world = Executor.layer.pipe(
      Layer.provideMerge(Layer.mergeAll(Publisher.layer, Scheduler.layer)),
      Layer.provideMerge(
        Layer.mergeAll(
          actorStores({ perWorkspace: 20_000, total: 100_000 }),
          NodeIdentity.layer("node"),
          Layer.succeed(Vcs, vcs),
          Layer.succeed(ContextRepositories, ContextRepositories.of({ mount: () => Effect.never })),
          Layer.mock(Agent, {}),
          Layer.mock(Gateway, {}),
          Layer.mock(Catalog, {}),
          Layer.mock(Objects, { get: () => Effect.undefined, put: () => Effect.void }),
          Layer.mock(Outputs, {
            anyFor: () => true,
            plan: () => [],
            status: () => [],
            issueCode: () => Effect.succeed([])
          }),
          Layer.succeed(Forges, {
            ...forge,
            client: (profile) => ({
              ...forge.client(profile),
              gitAuthorization: () => Effect.succeed(undefined),
              newestCommit: () => Effect.succeed("b")
            })
          }),
          Layer.succeed(ConfigStore, configOf(loads)),
          // A warning for each review that ends.
          Layer.succeed(References.MinimumLogLevel, "None")
        )
      ),
      Layer.provideMerge(testCluster)
    )
    yield* Effect.gen(function* () {
      const queue = yield* Queue
      const schedulerOf = yield* Scheduler.WorkspaceScheduler.client
      for (const { entries, workspace } of loads) {
        const items = Array.from({ length: entries }, (_, number) => ({
          eventId: newId(),
          change: changeOf(workspace, number),
          configHash: "c",
          priority: 20,
          admittedAt: number,
          dueAt: number
        }))
        yield* queue.admit(items)
      }
      for (const { workspace } of loads) yield* schedulerOf(workspace).Wake(undefined, { discard: true })
      yield* Deferred.await(over)
    }).pipe(Effect.provide(world))
    return order
  })

/** 10 000 and 30 with AICR_TEST_SCALE=10. */
const scale = Number(process.env["AICR_TEST_SCALE"] ?? 1)
const [entries, few] = [1000 * scale, 3 * scale]

it.live(
  `one workspace with ${entries} entries and 99 with ${few}: the 99 end as if they were alone`,
  () =>
    Effect.gen(function* () {
      const small = Array.from({ length: 99 }, (_, index) => ({ workspace: `small-${index}`, entries: few }))
      const alone = yield* begun(small)
      assert.strictEqual(alone.length, 99 * few)
      const together = yield* begun([{ workspace: "busy", entries }, ...small])
      assert.isAtMost(together.length, 1.2 * alone.length)
      // And the busy one is not starved for it.
      assert.isAtLeast(together.filter((workspace) => workspace === "busy").length, Math.floor(0.8 * few))
    }),
  120_000
)
