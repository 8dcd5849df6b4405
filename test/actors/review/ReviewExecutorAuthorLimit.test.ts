/** Reviews of one author within an hour: beyond the limit a change is not read, and its run, its receipt and its commit show the reason. */
import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { inEnglish } from "../../../src/text/en.ts"
import { ConfigStore } from "../../../src/config/ConfigStore.ts"
import { targetKey } from "../../../src/domain/Change.ts"
import type { Change } from "../../../src/domain/Change.ts"
import { Forges } from "../../../src/forge/Forges.ts"
import { Outputs } from "../../../src/outputs/Outputs.ts"
import { Receipts } from "../../../src/store/Receipts.ts"
import { Runs } from "../../../src/store/Runs.ts"
import { testForges, testSnapshotWith } from "../../harness/ActorParts.ts"
import { executorWorld } from "../../harness/ExecutorWorld.ts"
import { until } from "../../harness/UntilOnTestClock.ts"
import { Checkouts, endlessReviews, endlessVcs, scheduler, statusIs } from "../EndlessReviews.ts"

const statuses: Array<string> = []

/** Two reviews per author and hour. */
const limited = testSnapshotWith("w", "t", { review: { max_per_author_hour: 2 } })

const noForge = testForges(Effect.die("no pull request is asked for"))
const world = executorWorld(
  Layer.mergeAll(
    endlessVcs,
    Layer.mock(Outputs, {
      issueCode: () => Effect.succeed([]),
      anyFor: () => true,
      plan: () => [],
      status: (input, state, description) => {
        statuses.push(`${input.head} ${state}: ${inEnglish(description)}`)
        return []
      }
    }),
    Layer.succeed(Forges, {
      ...noForge,
      client: (profile) => ({
        ...noForge.client(profile),
        gitAuthorization: () => Effect.succeed(undefined),
        newestCommit: () => Effect.succeed("m")
      })
    }),
    Layer.succeed(ConfigStore, limited)
  ),
  Checkouts.layer
)

const change = (number: number): Change => ({
  provider: "gitea",
  trigger: "t",
  workspace: "w",
  repo: { fullName: "team/app" },
  target: { kind: "push", branch: `branch-${number}` },
  author: { username: number === 9 ? "grace" : "Ada" },
  head: `h${number}`,
  base: "b"
})

const { accept, running, end } = endlessReviews(change)

const each = (name: string, test: () => Effect.Effect<void, unknown, Layer.Success<typeof world>>) =>
  layer(world)((it) => it.effect(name, test))

each("the third review of an author within an hour is refused; others and the next hour are not limited by it", () =>
  Effect.gen(function* () {
    const first = yield* running(1)
    yield* end(1, first)
    const second = yield* running(2)
    yield* end(2, second)
    const third = yield* accept(3)
    yield* Effect.forkChild(Effect.flatMap(scheduler, (one) => one.Wake()))
    yield* until("the entry has ended", statusIs(third, "done"))
    const reason = { _tag: "AuthorLimit", author: "Ada", count: 2 } as const
    const event = yield* Effect.flatMap(Receipts, (receipts) => receipts.get("event-3"))
    assert.deepStrictEqual([event?.outcome, event?.outcomeReason], ["skipped", reason])
    const [run] = yield* Effect.flatMap(Runs, (runs) => runs.list({ targetKey: targetKey(change(3)), limit: 5 }))
    assert.deepInclude(run, { status: "skipped", reason })
    assert.include(statuses, "h3 failure: Not reviewed: its author has reached the limit of reviews per hour")
    const others = yield* running(9)
    yield* end(9, others)
    yield* TestClock.adjust("1 hour")
    const later = yield* running(4)
    yield* end(4, later)
  })
)
