/** The commit status after a complete review, by the settings of its workspace, and what is counted of it. */
import { PassThrough } from "node:stream"
import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Metric } from "effect"
import { TestClock } from "effect/testing"
import * as Publisher from "../../../actors/publishing/ChangePublisher.ts"
import { completeRun } from "../../../actors/review/EndRun.ts"
import type { Analysis } from "../../../src/domain/Analysis.ts"
import { LeaseToken } from "../../../src/domain/FencingToken.ts"
import { ConfigStore } from "../../../src/config/ConfigStore.ts"
import { targetKey } from "../../../src/domain/Change.ts"
import type { Change } from "../../../src/domain/Change.ts"
import { NodeIdentity } from "../../../src/domain/NodeIdentity.ts"
import { verbatimReason } from "../../../src/domain/Reason.ts"
import { Forges } from "../../../src/forge/Forges.ts"
import * as Logging from "../../../src/observability/logs/Logging.ts"
import { Outputs } from "../../../src/outputs/Outputs.ts"
import { Queue } from "../../../src/queue/Queue.ts"
import { Outbox } from "../../../src/store/Outbox.ts"
import { Receipts } from "../../../src/store/Receipts.ts"
import { Runs } from "../../../src/store/Runs.ts"
import { actorStores, testForges, testSnapshotWith } from "../../harness/ActorParts.ts"
import { testCluster } from "../../harness/TestCluster.ts"
import { until } from "../../harness/UntilOnTestClock.ts"
import { analysis, change, event as storedEvent } from "../../store/Fixtures.ts"

const states: Array<string> = []
const log = new PassThrough()
let logged = ""
log.on("data", (chunk) => (logged += String(chunk)))
const world = Publisher.layer.pipe(
  Layer.provideMerge(
    Layer.mergeAll(
      actorStores(),
      NodeIdentity.layer("node"),
      Layer.mock(Outputs, {
        issueCode: () => Effect.succeed([]),
        anyFor: () => true,
        reactions: () => Effect.succeed([]),
        plan: () => [],
        status: (_input, state) => {
          states.push(state)
          return []
        }
      }),
      Layer.succeed(Forges, testForges(Effect.die("no pull request is requested"))),
      Layer.succeed(ConfigStore, testSnapshotWith("app", "main"))
    )
  ),
  Layer.provideMerge(testCluster),
  Layer.provideMerge(Logging.layerWith({ level: "info", pretty: false, destination: log }))
)

type Review = NonNullable<Parameters<typeof testSnapshotWith>[2]>["review"]

const high = analysis
const clean = { ...analysis, findings: [] }
const unread = {
  ...clean,
  coverage: { ...clean.coverage, skipped: [{ path: "b.ts", reason: "max_files" as const, unread: true }] }
}

/** The configuration excludes all files. */
const nothingRead: Analysis = {
  ...clean,
  coverage: { reviewed: [], skipped: [{ path: "a.ts", reason: "ignored" }], lines: 0 },
  skipped: verbatimReason("nothing to review")
}

/** Nine of ten files were read. */
const mostlyRead = {
  ...unread,
  coverage: { ...unread.coverage, reviewed: Array.from({ length: 9 }, (_, at) => `a${at}.ts`) }
}

/** Starting the publisher takes some seconds of the test's clock. */
const passTime = Effect.forever(
  Effect.andThen(
    TestClock.adjust("1 seconds"),
    Effect.callback<void>((done) => {
      setImmediate(() => done(Effect.void))
    })
  )
)

/** Ends a review of a change with this analysis. */
const complete = Effect.fnUntraced(function* (reviewed: Change, review: Review, result: Analysis) {
  const snapshot = testSnapshotWith("app", "main", { review }).current()
  const workspace = snapshot.workspaces.get("app")
  const profile = snapshot.triggers.get("main")
  const queue = yield* Queue
  const receipt = storedEvent()
  yield* (yield* Receipts).store(receipt)
  const event = { change: reviewed, configHash: "c", priority: 10, dueAt: 0, admittedAt: 0, eventId: receipt.id }
  const [admitted] = yield* queue.admit([event])
  const entry = yield* queue.get(admitted?.entryId ?? "")
  if (workspace === undefined || profile === undefined || entry === undefined) return yield* Effect.die("no work")
  const runs = yield* Runs
  const key = targetKey(reviewed)
  const begun = { workspace: "app", targetKey: key, change: reviewed, head: "h", base: "b", configHash: "c" }
  const run = yield* runs.begin({ ...begun, entryId: entry.id }, LeaseToken.make(1), 1)
  if (run === undefined) return yield* Effect.die("the run has not begun")
  yield* runs.move(run.id, LeaseToken.make(1), "analyzing", 2)
  states.length = 0
  const outcome = yield* completeRun(
    run,
    { entry, lease: { entryId: entry.id, token: LeaseToken.make(1) }, snapshot, workspace, profile },
    result
  )
  return { run: run.id, eventId: receipt.id, outcome }
})

/** Returns the state that the commit gets when a review ends with this analysis. */
const statusAfter = Effect.fnUntraced(function* (number: number, review: Review, result: typeof unread | typeof high) {
  const { eventId } = yield* complete(change(number), review, result)
  return { states: states.join(" "), eventId }
})

layer(world)("the status of a reviewed commit", (it) => {
  const cases: ReadonlyArray<readonly [string, Review, typeof unread | typeof high, string]> = [
    ["problems, nothing set", {}, high, "success"],
    ["problems, status_fail_on", { status_fail_on: "high" }, high, "failure"],
    ["problems below status_fail_on", { status_fail_on: "critical" }, high, "success"],
    ["text that was not read, nothing set", {}, unread, "neutral"],
    ["text that was not read, unread: fail", { unread: "fail" }, unread, "failure"],
    ["a tenth that was not read, nothing set", {}, mostlyRead, "neutral"],
    ["a tenth that was not read, unread: ignore", { unread: "ignore" }, mostlyRead, "success"],
    ["more than a tenth that was not read, unread: ignore", { unread: "ignore" }, unread, "neutral"]
  ]
  cases.forEach(([name, review, result, expected], index) =>
    it.effect(name, () =>
      Effect.gen(function* () {
        yield* Effect.forkChild(passTime)
        assert.strictEqual((yield* statusAfter(index + 1, review, result)).states, expected)
      })
    )
  )

  it.effect("the outcome of the delivery is stored with the analysis", () =>
    Effect.gen(function* () {
      yield* Effect.forkChild(passTime)
      const receipts = yield* Receipts
      const read = yield* complete(change(50), {}, clean)
      assert.include(yield* receipts.get(read.eventId), { outcome: "executed", runId: read.run })
      assert.deepInclude(read.outcome, { _tag: "Reviewed", settled: [read.eventId] })
      const skipped = yield* complete(change(51), {}, nothingRead)
      assert.include(yield* receipts.get(skipped.eventId), { outcome: "skipped", runId: skipped.run })
    })
  )

  it.effect("a run that publishes nothing is logged with its delivery when it ends", () =>
    Effect.gen(function* () {
      const { eventId } = yield* statusAfter(cases.length + 1, {}, clean)
      const ended = () => logged.split("\n").find((line) => line.includes(`"event_id":["${eventId}"]`))
      yield* until(
        "the run has ended",
        Effect.sync(() => ended() !== undefined),
        { step: "1 second" }
      )
      assert.include(ended(), '"msg":"run ended"')
      assert.include(ended(), '"status":"succeeded"')
    })
  )

  it.effect("the next review of a shelf does not count a finding that was withdrawn, without reading a host", () =>
    Effect.gen(function* () {
      yield* Effect.forkChild(passTime)
      const shelf: Change = { ...change(), provider: "perforce", target: { kind: "commit", branch: "//Ace/main@=7" } }
      const runs = yield* Runs
      const { run } = yield* complete(shelf, {}, high)
      yield* runs.settle(run, "succeeded", { partial: false }, 3)
      assert.isUndefined((yield* runs.get(run))?.analysis?.dismissed)
      const fingerprint = high.findings[0]?.fingerprint ?? ""
      const { token } = yield* (yield* Outbox).takeOver(targetKey(shelf), 4)
      const ruling = {
        analysis: high,
        verdict: undefined,
        fingerprint,
        outcome: "withdrawn",
        publications: []
      } as const
      assert.isTrue(yield* runs.rule(run, token, ruling, 5))
      const next = yield* complete(shelf, {}, high)
      assert.deepStrictEqual((yield* runs.get(next.run))?.analysis?.dismissed, [fingerprint])
    })
  )

  it.effect("its late and folded findings, files that were not read blind, and rules are counted", () =>
    Effect.gen(function* () {
      yield* Effect.forkChild(passTime)
      const [found = yield* Effect.die("no finding")] = high.findings
      const isNew = { ...found, round: { kind: "new", since: 2 } } as const
      const rule = { id: "r", digest: "d", severity: "low" } as const
      yield* complete(
        change(90),
        {},
        {
          ...high,
          round: { number: 2, key: "k", read: [], reported: [] },
          findings: [
            { ...found, fingerprint: "1".repeat(32), round: { kind: "late", since: 2, missed: 1 } },
            { ...isNew, fingerprint: "2".repeat(32), probe: true },
            { ...found, fingerprint: "3".repeat(32), round: { kind: "carried", since: 1 }, probe: true }
          ],
          late: [found],
          folded: [
            { finding: isNew, why: verbatimReason("rarely accepted") },
            { finding: { ...found, round: { kind: "carried", since: 1 } }, why: verbatimReason("rarely accepted") }
          ],
          notices: [{ _tag: "FilesFramed", paths: ["a.sql", "b.sql"], more: 3 }],
          rules: [rule, rule, { ...rule, muted: true }]
        }
      )
      const severity = found.problem.severity
      const counts = (yield* Metric.snapshot).flatMap(({ attributes, id, state }) =>
        /^aicr_(?:late_problems|folded_problems|framed_files|rules_applied)_total$/.test(id) && "count" in state
          ? [[id, attributes?.["severity"], attributes?.["published"], attributes?.["muted"], state.count].join(" ")]
          : []
      )
      assert.deepStrictEqual(counts.toSorted(), [
        `aicr_folded_problems_total ${severity} no  1`,
        `aicr_folded_problems_total ${severity} yes  1`,
        "aicr_framed_files_total    5",
        `aicr_late_problems_total ${severity} no  1`,
        `aicr_late_problems_total ${severity} yes  1`,
        "aicr_rules_applied_total   no 2",
        "aicr_rules_applied_total   yes 1"
      ])
    })
  )
})
