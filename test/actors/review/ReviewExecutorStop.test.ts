/** A node that stops interrupts all of its reviews together, so that the stop takes as long as one of them. */
import { assert, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Layer, Ref, Scope } from "effect"
import { TestClock } from "effect/testing"
import { ConfigStore } from "../../../src/config/ConfigStore.ts"
import type { TriggerProfile } from "../../../src/config/Snapshot.ts"
import type { Change } from "../../../src/domain/Change.ts"
import { Forges } from "../../../src/forge/Forges.ts"
import { Outputs } from "../../../src/outputs/Outputs.ts"
import { Vcs } from "../../../src/vcs/Checkout.ts"
import { testForges, testSnapshotWith } from "../../harness/ActorParts.ts"
import { executorWorld } from "../../harness/ExecutorWorld.ts"
import { until } from "../../harness/UntilOnTestClock.ts"
import { begunAre, Checkouts, endlessReviews, scheduler } from "../EndlessReviews.ts"

const reviews = 3
const change = (number: number): Change => ({
  provider: "gitea",
  trigger: "t",
  workspace: "w",
  repo: { fullName: "team/app" },
  target: { kind: "push", branch: `branch-${number}` },
  head: `h${number}`,
  base: "b"
})
/** Runs all reviews at the same time. */
const config = (() => {
  const store = testSnapshotWith("w", "t")
  const { document, ...snapshot } = store.current()
  const workers = { ...document.queue.workers, concurrency: reviews, per_workspace_concurrency: reviews }
  const current = { ...snapshot, document: { ...document, queue: { ...document.queue, workers } } }
  return ConfigStore.of({ ...store, current: () => current, pinned: () => Effect.succeed(current) })
})()
const noForge = testForges(Effect.die("no pull request is read"))
const { accept } = endlessReviews(change)

it.effect("a stop interrupts reviews together: none waits until another one has cleaned up", () =>
  Effect.gen(function* () {
    let cleaning = 0
    const allCleanUp = Deferred.makeUnsafe<void>()
    const vcs = Layer.effect(
      Vcs,
      Effect.map(Checkouts, ({ begun }) =>
        Vcs.of({
          isAncestor: () => Effect.succeed(true),
          checkout: () =>
            Effect.gen(function* () {
              yield* Effect.addFinalizer(() => {
                if (++cleaning === reviews) Deferred.doneUnsafe(allCleanUp, Effect.void)
                return Deferred.await(allCleanUp)
              })
              yield* Ref.update(begun, (count) => count + 1)
              return yield* Effect.never
            })
        })
      )
    )
    const parts = Layer.mergeAll(
      vcs,
      Layer.mock(Outputs, {
        anyFor: () => true,
        plan: () => [],
        status: () => [],
        issueCode: () => Effect.succeed([])
      }),
      Layer.succeed(Forges, {
        ...noForge,
        client: (profile: TriggerProfile) => ({
          ...noForge.client(profile),
          newestCommit: () => Effect.succeed("m"),
          gitAuthorization: () => Effect.undefined
        })
      }),
      Layer.succeed(ConfigStore, config)
    )
    const scope = yield* Scope.make()
    const world = yield* Layer.buildWithScope(executorWorld(parts, Checkouts.layer), scope)
    yield* Effect.gen(function* () {
      for (let number = 1; number <= reviews; number++) yield* accept(number)
      yield* Effect.forkChild((yield* scheduler).Wake())
      yield* until("the reviews run", begunAre(reviews))
    }).pipe(Effect.provideContext(world))
    const stopping = yield* Effect.forkChild(Scope.close(scope, Exit.void), { startImmediately: true })
    // The reviews get some time to finish first.
    yield* TestClock.adjust("8 seconds")
    yield* Fiber.join(stopping)
    assert.strictEqual(cleaning, reviews)
  })
)
