/**
 * Work whose workspace, trigger or token this node does not have: it is left to nodes with the configuration of its delivery for a day, and
 * fails immediately if no node can have it.
 */
import { assert, layer } from "@effect/vitest"
import { Clock, Effect, Layer } from "effect"
import { inEnglish } from "../../../src/text/en.ts"
import * as Scheduler from "../../../actors/scheduling/WorkspaceScheduler.ts"
import { ConfigStore } from "../../../src/config/ConfigStore.ts"
import type { Snapshot } from "../../../src/config/Snapshot.ts"
import type { Change } from "../../../src/domain/Change.ts"
import { targetKey } from "../../../src/domain/Change.ts"
import type { TargetKey } from "../../../src/domain/Keys.ts"
import { Forges } from "../../../src/forge/Forges.ts"
import { Outputs } from "../../../src/outputs/Outputs.ts"
import { Queue } from "../../../src/queue/Queue.ts"
import { Runs } from "../../../src/store/Runs.ts"
import { Vcs } from "../../../src/vcs/Checkout.ts"
import { reviewedForges, testSnapshotWith } from "../../harness/ActorParts.ts"
import { executorWorld } from "../../harness/ExecutorWorld.ts"
import { until } from "../../harness/UntilOnTestClock.ts"

const own = testSnapshotWith("w", "t")
const current = own.current()
const [profile] = current.triggers.values()
/** A configuration of another node, whose trigger has a token in a variable that is not set here. */
const other: Snapshot = {
  ...current,
  hash: "other",
  triggers: new Map(
    profile === undefined ? [] : [["t", { ...profile, settings: { ...profile.settings, token_env: "NEW_TOKEN" } }]]
  )
}
const config = ConfigStore.of({ ...own, pinned: (hash) => Effect.succeed(hash === "other" ? other : current) })

const outputs = Layer.mock(Outputs, {
  anyFor: () => true,
  plan: () => [],
  status: () => [],
  issueCode: () => Effect.succeed([])
})
const forges = Layer.succeed(Forges, reviewedForges(Effect.die("no host is read")))
const world = executorWorld(
  Layer.mergeAll(Layer.mock(Vcs, {}), outputs, forges, Layer.succeed(ConfigStore, config)),
  Layer.empty
)

const day = 24 * 3_600_000

interface Admitted {
  readonly number: number
  readonly workspace: string
  readonly configHash: string
  readonly trigger?: string
  /** Age of the entry in milliseconds. */
  readonly age?: number
}

const admit = Effect.fnUntraced(function* ({ age = 0, configHash, number, trigger = "t", workspace }: Admitted) {
  const change: Change = {
    provider: "gitea",
    trigger,
    workspace,
    repo: { fullName: "team/app" },
    target: { kind: "pull_request", number },
    head: "h",
    base: "b"
  }
  const admittedAt = (yield* Clock.currentTimeMillis) - age
  const [admitted] = yield* (yield* Queue).admit([
    { eventId: `e${number}`, change, configHash, priority: 10, dueAt: 0, admittedAt }
  ])
  yield* Effect.forkChild((yield* Scheduler.WorkspaceScheduler.client)(workspace).Wake())
  return { entryId: admitted?.entryId ?? "", admittedAt, target: targetKey(change) }
})

const gone = { workspace: "gone", configHash: "unknown" }
const untilDead = Effect.fnUntraced(function* (entryId: string) {
  const queue = yield* Queue
  yield* until(
    "the entry has failed",
    Effect.map(queue.get(entryId), (entry) => entry?.status === "dead")
  )
})
const runsOf = (target: TargetKey) => Runs.use((runs) => runs.list({ targetKey: target, limit: 5 }))

layer(world)((it) => {
  it.effect.each<readonly [name: string, entry: Admitted, reason: string]>([
    [
      "the configuration of its delivery has no such workspace",
      { ...gone, number: 1, configHash: "test" },
      "workspace gone is no longer configured"
    ],
    [
      "the configuration of its delivery has no such trigger",
      { number: 2, workspace: "w", configHash: "test", trigger: "gone" },
      "trigger gone is no longer configured"
    ],
    [
      "no node has had its configuration for a day",
      { ...gone, number: 3, age: day + 1 },
      "workspace gone is no longer configured"
    ],
    [
      "no node has had its token for a day",
      { number: 4, workspace: "w", configHash: "other", age: day + 1 },
      "variable NEW_TOKEN is not set"
    ]
  ])("fails if %s", ([, admitted, reason]) =>
    Effect.gen(function* () {
      const { entryId, target } = yield* admit(admitted)
      yield* untilDead(entryId)
      const [run] = yield* runsOf(target)
      assert.strictEqual(run?.status, "failed")
      assert.strictEqual(run?.reason && inEnglish(run.reason), reason)
    })
  )

  it.effect.each<readonly [name: string, entry: Admitted, reason: string]>([
    ["workspace", { ...gone, number: 5, age: day - 60_000 }, "workspace gone is no longer configured"],
    ["token", { number: 6, workspace: "w", configHash: "other" }, "variable NEW_TOKEN is not set"]
  ])("is left to nodes with the configuration of its delivery: %s", ([, admitted, reason]) =>
    Effect.gen(function* () {
      const { entryId, target } = yield* admit(admitted)
      const queue = yield* Queue
      const waits = Effect.map(queue.get(entryId), (entry) =>
        entry?.status === "waiting" && entry.reason !== undefined ? entry : undefined
      )
      yield* until(
        "the entry waits",
        Effect.map(waits, (entry) => entry !== undefined)
      )
      const waiting = yield* waits
      const left = "on this node, whose configuration is another than that of the delivery"
      assert.strictEqual(waiting?.reason && inEnglish(waiting.reason), `${reason} ${left}`)
      assert.isBelow((waiting?.dueAt ?? Infinity) - (yield* Clock.currentTimeMillis), 30_000)
      assert.deepStrictEqual(yield* runsOf(target), [])
    })
  )
})
