/** A pull request whose head git never serves: its review waits for a bounded time without an attempt, then fails. */
import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { ConfigStore } from "../../../src/config/ConfigStore.ts"
import type { Change } from "../../../src/domain/Change.ts"
import type { HostPull } from "../../../src/forge/Forge.ts"
import { Forges } from "../../../src/forge/Forges.ts"
import { Outputs } from "../../../src/outputs/Outputs.ts"
import { Queue } from "../../../src/queue/Queue.ts"
import { CheckoutError, Vcs } from "../../../src/vcs/Checkout.ts"
import { reviewedForges, testSnapshotWith } from "../../harness/ActorParts.ts"
import { executorWorld } from "../../harness/ExecutorWorld.ts"
import { until } from "../../harness/UntilOnTestClock.ts"
import { endlessReviews, scheduler } from "../EndlessReviews.ts"

const head = "h".repeat(40)
const pull: HostPull = {
  number: 1,
  state: "open",
  draft: false,
  head,
  base: "b",
  headRef: "feature",
  baseRef: "main",
  title: "t",
  description: "",
  url: "http://host.test/1",
  author: undefined,
  labels: [],
  repo: { fullName: "team/app" },
  headRepo: undefined
}

const change = (number: number): Change => ({
  provider: "gitea",
  trigger: "t",
  workspace: "w",
  repo: { fullName: "team/app" },
  target: { kind: "pull_request", number },
  head,
  base: "b"
})
const { accept } = endlessReviews(change)

const absent = Effect.fail(
  new CheckoutError({ reason: "absent", why: { _tag: "CommitNotInRefs", commit: head, refs: ["refs/pull/1/head"] } })
)

const world = executorWorld(
  Layer.mergeAll(
    Layer.mock(Vcs, { checkout: () => absent }),
    Layer.mock(Outputs, { anyFor: () => true, plan: () => [], status: () => [], issueCode: () => Effect.succeed([]) }),
    Layer.succeed(Forges, reviewedForges(Effect.succeed(pull))),
    Layer.succeed(ConfigStore, testSnapshotWith("w", "t"))
  ),
  Layer.empty
)

layer(world)((it) =>
  it.effect("a head that git does not have costs no attempt for two minutes", () =>
    Effect.gen(function* () {
      const entryId = yield* accept(1)
      yield* Effect.forkChild(Effect.flatMap(scheduler, (one) => one.Wake()))
      const queue = yield* Queue
      const seen: Array<string> = []
      const passed = yield* until(
        "the entry has failed",
        Effect.map(queue.get(entryId), (entry) => {
          if (entry?.status === "waiting") {
            assert.strictEqual(entry.attempts, 0)
            if (entry.reason !== undefined) seen.push(entry.reason._tag)
          }
          return entry?.status === "dead"
        }),
        { step: "1 second", atMost: "5 minutes" }
      )
      assert.deepStrictEqual([...new Set(seen)], ["RepositoryUnavailable"])
      assert.isAtLeast(passed, 110_000)
      assert.isAtMost(passed, 200_000)
      assert.strictEqual((yield* queue.get(entryId))?.reason?._tag, "CommitNotInRefs")
    })
  )
)
