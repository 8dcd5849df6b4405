/** A node whose disk takes no writes: its reviews wait for the disk or for another node, and no attempt is lost. */
import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { verbatimReason } from "../../../src/domain/Reason.ts"
import { ConfigStore } from "../../../src/config/ConfigStore.ts"
import type { Change } from "../../../src/domain/Change.ts"
import { Forges } from "../../../src/forge/Forges.ts"
import { Outputs } from "../../../src/outputs/Outputs.ts"
import { Queue } from "../../../src/queue/Queue.ts"
import { CheckoutError, Vcs } from "../../../src/vcs/Checkout.ts"
import { reviewedForges, testSnapshotWith } from "../../harness/ActorParts.ts"
import { executorWorld } from "../../harness/ExecutorWorld.ts"
import { until } from "../../harness/UntilOnTestClock.ts"
import { inEnglish } from "../../../src/text/en.ts"
import { endlessReviews, scheduler } from "../EndlessReviews.ts"

const change = (number: number): Change => ({
  provider: "gitea",
  trigger: "t",
  workspace: "w",
  repo: { fullName: "team/app" },
  target: { kind: "push", branch: `branch-${number}` },
  head: `h${number}`,
  base: "b"
})
const { accept } = endlessReviews(change)

const full = Effect.fail(
  new CheckoutError({ reason: "disk", why: verbatimReason("mirror: ENOSPC: no space left on device") })
)

const world = executorWorld(
  Layer.mergeAll(
    Layer.mock(Vcs, { checkout: () => full }),
    Layer.mock(Outputs, { anyFor: () => true, plan: () => [], status: () => [], issueCode: () => Effect.succeed([]) }),
    Layer.succeed(Forges, reviewedForges(Effect.die("no pull request is read"))),
    Layer.succeed(ConfigStore, testSnapshotWith("w", "t"))
  ),
  Layer.empty
)

layer(world)((it) =>
  it.effect("a review on a full disk waits, names the disk and costs no attempt", () =>
    Effect.gen(function* () {
      const entryId = yield* accept(1)
      yield* Effect.forkChild(Effect.flatMap(scheduler, (one) => one.Wake()))
      const queue = yield* Queue
      yield* until(
        "the entry waits for the disk",
        Effect.map(
          queue.get(entryId),
          (entry) =>
            entry?.status === "waiting" &&
            entry.reason !== undefined &&
            inEnglish(entry.reason).startsWith("the disk of the node takes no writes: mirror: ENOSPC")
        )
      )
      const entry = yield* queue.get(entryId)
      assert.strictEqual(entry?.attempts, 0)
    })
  )
)
