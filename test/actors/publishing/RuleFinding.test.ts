/** A decision about a finding: the newest review, its verdict and what people read follow in one step, which may be repeated. */
import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { ruleFinding } from "../../../actors/publishing/RuleFinding.ts"
import { holdTarget } from "../../../actors/publishing/TargetHold.ts"
import { ConfigStore } from "../../../src/config/ConfigStore.ts"
import { targetKey } from "../../../src/domain/Change.ts"
import type { Change } from "../../../src/domain/Change.ts"
import { LeaseToken } from "../../../src/domain/FencingToken.ts"
import type { Finding } from "../../../src/domain/Problem.ts"
import { HostTraffic } from "../../../src/forge/HostTraffic.ts"
import { Forges } from "../../../src/forge/Forges.ts"
import { AuthorGuess } from "../../../src/outputs/AuthorGuess.ts"
import { Outputs } from "../../../src/outputs/Outputs.ts"
import * as OutputsLayer from "../../../src/outputs/OutputsLayer.ts"
import { Cache } from "../../../src/store/Cache.ts"
import { Outbox } from "../../../src/store/Outbox.ts"
import { Runs } from "../../../src/store/Runs.ts"
import { actorStores, testForges, testSnapshotWith } from "../../harness/ActorParts.ts"
import { analysis, finding } from "../../outputs/Fixtures.ts"
import { memoryObjects } from "../../harness/MemoryObjects.ts"

const token = LeaseToken.make(1)
const change: Change = {
  provider: "gitea",
  trigger: "t",
  workspace: "w",
  repo: { fullName: "team/app" },
  target: { kind: "pull_request", number: 7 },
  head: "h1"
}
const key = targetKey(change)
const grave = finding(1, { severity: "critical" })
const minor = finding(2, { severity: "low" })
const failure = {
  state: "failure",
  description: { _tag: "ProblemsFound", severities: [] },
  isShown: true,
  isClean: false
} as const

const config = testSnapshotWith("w", "t", { review: { status_fail_on: "high", output_language: "en" } })
const world = OutputsLayer.layer.pipe(
  Layer.provideMerge(
    Layer.mergeAll(
      actorStores(),
      Layer.succeed(Forges, testForges(Effect.succeed({ head: "h1", state: "open" }))),
      Layer.succeed(ConfigStore, config),
      Cache.layerNone,
      HostTraffic.layer,
      memoryObjects,
      AuthorGuess.layerNone
    )
  )
)

const review = Effect.fnUntraced(function* (head: string, findings: ReadonlyArray<Finding>, startedAt: number) {
  const runs = yield* Runs
  const begun = {
    entryId: head,
    workspace: "w",
    targetKey: key,
    change,
    head,
    base: "b",
    configHash: "c",
    verdict: failure
  }
  const run = yield* runs.begin(begun, token, startedAt)
  assert.isTrue(yield* runs.complete(run?.id ?? "", token, analysis(findings), [], startedAt + 1000, failure))
  return run?.id ?? ""
})

/** A published review of the head `h1` with two findings, of which one fails the status. */
const reviewed = Effect.gen(function* () {
  const id = yield* review("h1", [grave, minor], 1000)
  return { hold: yield* holdTarget(key), id }
})

const rows = (id: string) =>
  Effect.map(
    Outbox.use((outbox) => outbox.ofRun(id)),
    (all) => all.map(({ operation }) => (operation._tag === "Status" ? `Status ${operation.state}` : operation._tag))
  )

const rule = (fp: string, counts: boolean, cause: string, head: string | undefined = "h1") => ({
  fp,
  counts,
  head,
  cause
})

it.effect("changes the verdict, the summary and the status, once per decision", () =>
  Effect.gen(function* () {
    const runs = yield* Runs
    const { hold, id } = yield* reviewed
    assert.strictEqual(yield* ruleFinding(hold, key, rule(grave.fingerprint, false, "one")), "published")
    const dismissed = yield* runs.get(id)
    assert.deepStrictEqual(dismissed?.analysis?.dismissed, [grave.fingerprint])
    assert.strictEqual(dismissed?.verdict?.state, "success")
    assert.deepStrictEqual(yield* rows(id), ["Summary", "Status success"])

    assert.strictEqual(yield* ruleFinding(hold, key, rule(grave.fingerprint, false, "one")), "known")
    assert.strictEqual(yield* ruleFinding(hold, key, rule(grave.fingerprint, true, "two")), "published")
    assert.strictEqual((yield* runs.get(id))?.verdict?.state, "failure")
    assert.deepStrictEqual(yield* rows(id), ["Summary", "Summary", "Status success", "Status failure"])

    // The same decision once more has ids of its own: what people read follows again.
    assert.strictEqual(yield* ruleFinding(hold, key, rule(grave.fingerprint, false, "three")), "published")
    assert.lengthOf(yield* rows(id), 6)
  }).pipe(Effect.provide(world))
)

it.effect("the summary keeps the seconds that the review took, which began with a status", () =>
  Effect.gen(function* () {
    const runs = yield* Runs
    const outbox = yield* Outbox
    const outputs = yield* Outputs
    const workspace = (yield* ConfigStore).current().workspaces.get("w")
    if (workspace === undefined) return assert.fail("no workspace")
    const begun = { entryId: "h1", workspace: "w", targetKey: key, change, head: "h1", base: "b", configHash: "c" }
    const { id = "" } = (yield* runs.begin({ ...begun, verdict: failure }, token, 1000)) ?? {}
    const input = { runId: id, targetKey: key, change, head: "h1", workspace, runUrl: undefined }
    const found = analysis([grave, minor])
    yield* outbox.add(outputs.status(input, "pending", { _tag: "ReviewInProgress" }), 1100)
    const planned = outputs.plan({ ...input, analysis: found, seconds: 7 })
    assert.isTrue(yield* runs.complete(id, token, found, planned, 8000, failure))
    const summaries = Effect.map(outbox.ofRun(id), (all) =>
      all.flatMap(({ operation }) => (operation._tag === "Summary" ? [operation.body] : []))
    )
    const [before] = yield* summaries
    yield* ruleFinding(yield* holdTarget(key), key, rule(grave.fingerprint, false, "one"))
    const after = (yield* summaries).at(-1)
    assert.deepStrictEqual(
      [before, after].map((body) => body?.includes("· 7 s")),
      [true, true]
    )
    assert.notStrictEqual(after, before)
  }).pipe(Effect.provide(world))
)

it.effect("records a decision about another head, and publishes nothing", () =>
  Effect.gen(function* () {
    const { hold, id } = yield* reviewed
    assert.strictEqual(yield* ruleFinding(hold, key, rule(grave.fingerprint, false, "one", "h2")), "published")
    assert.strictEqual((yield* Runs.use((runs) => runs.get(id)))?.verdict?.state, "success")
    assert.deepStrictEqual(yield* rows(id), [])
  }).pipe(Effect.provide(world))
)

it.effect(
  "records a decision about a review after which the branch was reviewed again, where it is named, and publishes nothing",
  () =>
    Effect.gen(function* () {
      const runs = yield* Runs
      const { hold, id } = yield* reviewed
      const newer = yield* review("h2", [minor], 3000)
      const decision = rule(grave.fingerprint, false, "one")
      assert.strictEqual(yield* ruleFinding(hold, key, { ...decision, run: id }), "published")
      assert.deepStrictEqual((yield* runs.get(id))?.analysis?.dismissed, [grave.fingerprint])
      assert.isUndefined((yield* runs.get(newer))?.analysis?.dismissed)
      assert.deepStrictEqual([yield* rows(id), yield* rows(newer)], [[], []])
      assert.strictEqual(yield* ruleFinding(hold, key, { ...decision, run: id }), "known")
      // A finding that the newest review has, too, is decided there.
      assert.strictEqual(
        yield* ruleFinding(hold, key, { ...rule(minor.fingerprint, false, "two", "h2"), run: id }),
        "published"
      )
      assert.deepStrictEqual((yield* runs.get(newer))?.analysis?.dismissed, [minor.fingerprint])
    }).pipe(Effect.provide(world))
)

it.effect("changes nothing for a publisher that lost its target, and nothing without a review", () =>
  Effect.gen(function* () {
    const outbox = yield* Outbox
    const { hold, id } = yield* reviewed
    assert.isTrue(yield* hold.isHeld)
    yield* outbox.takeOver(key, 5)
    assert.strictEqual(yield* ruleFinding(hold, key, rule(grave.fingerprint, false, "one")), "lost")
    assert.isTrue(hold.isDoubtful())
    assert.deepStrictEqual(yield* rows(id), [])
    const other = targetKey({ ...change, target: { kind: "pull_request", number: 8 } })
    assert.strictEqual(yield* ruleFinding(yield* holdTarget(other), other, rule("fp", false, "one")), "unknown")
  }).pipe(Effect.provide(world))
)
