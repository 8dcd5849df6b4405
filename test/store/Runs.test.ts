import { assert, describe, layer } from "@effect/vitest"
import { Effect, Exit } from "effect"
import { verbatimReason } from "../../src/domain/Reason.ts"
import { TargetKey } from "../../src/domain/Keys.ts"
import { OperationId } from "../../src/domain/Keys.ts"
import { Usd } from "../../src/domain/Money.ts"
import { LeaseToken } from "../../src/domain/FencingToken.ts"
import { targetKey } from "../../src/domain/Change.ts"
import { Outbox } from "../../src/store/Outbox.ts"
import { Runs } from "../../src/store/Runs.ts"
import { databases } from "./Databases.ts"
import { analysis, change, publication } from "./Fixtures.ts"

const start = (entryId: string, head = "a".repeat(40)) => ({
  entryId,
  workspace: "app",
  targetKey: targetKey(change()),
  change: change(),
  head,
  base: undefined,
  configHash: "c0ffee"
})

const begun = Effect.fn(function* (entryId: string, token: number, head?: string) {
  const run = yield* (yield* Runs).begin(start(entryId, head), LeaseToken.make(token), token * 10)
  return run ?? (yield* Effect.die(new Error("The run should have begun")))
})

describe.each(databases)("Runs in $name", ({ layer: fresh }) => {
  layer(fresh())("begin", (it) => {
    it.effect("makes a run in preparing and gives it back", () =>
      Effect.gen(function* () {
        const run = yield* begun("one", 1)
        assert.deepStrictEqual(run, {
          ...start("one"),
          id: run.id,
          status: "preparing",
          reason: undefined,
          partial: false,
          analysis: undefined,
          createdAt: 10,
          startedAt: 10,
          finishedAt: undefined,
          team: undefined,
          verdict: undefined,
          waitingSince: undefined,
          waitingUntil: undefined
        })
        assert.deepStrictEqual(yield* (yield* Runs).get(run.id), run)
      })
    )

    it.effect("continues the run that was opened with the first claim, with newer facts of the host", () =>
      Effect.gen(function* () {
        const runs = yield* Runs
        const opened = yield* runs.open({ ...start("opened"), head: "" }, LeaseToken.make(1), 10)
        const id = opened?.id ?? ""
        assert.deepInclude(opened, { status: "queued", startedAt: undefined, head: "" })
        assert.isTrue(
          yield* runs.wait(id, LeaseToken.make(1), {
            since: 10,
            until: 500,
            reason: verbatimReason("the host is down")
          })
        )
        assert.deepInclude(yield* runs.get(id), {
          reason: verbatimReason("the host is down"),
          waitingSince: 10,
          waitingUntil: 500
        })
        // Claimed again: the same run.
        assert.strictEqual((yield* runs.open(start("opened"), LeaseToken.make(2), 20))?.id, id)
        const run = yield* runs.begin(start("opened"), LeaseToken.make(2), 30)
        assert.deepInclude(run, {
          id,
          status: "preparing",
          head: start("opened").head,
          startedAt: 30,
          reason: undefined
        })
        assert.deepInclude(run, { waitingSince: 10, waitingUntil: undefined })
        assert.isFalse(
          yield* runs.wait(id, LeaseToken.make(1), { since: 10, until: 600, reason: verbatimReason("stale") })
        )
        // The outage continues: its start does not change until the analysis begins.
        assert.isTrue(
          yield* runs.wait(id, LeaseToken.make(2), { since: 10, until: 700, reason: verbatimReason("again") })
        )
        assert.isTrue(yield* runs.move(id, LeaseToken.make(2), "preparing", 31))
        assert.isTrue(yield* runs.move(id, LeaseToken.make(2), "analyzing", 32))
        assert.deepInclude(yield* runs.get(id), { waitingSince: undefined, waitingUntil: undefined, reason: undefined })
        assert.isUndefined(yield* runs.open(start("opened"), LeaseToken.make(1), 40))
      })
    )

    it.effect("a newer token takes the unfinished run over; the older changes nothing from then on", () =>
      Effect.gen(function* () {
        const runs = yield* Runs
        const first = yield* begun("two", 1)
        assert.isTrue(yield* runs.move(first.id, LeaseToken.make(1), "analyzing", 11))
        const second = yield* begun("two", 2)
        assert.strictEqual(second.id, first.id)
        assert.strictEqual(second.status, "preparing")
        assert.isUndefined(yield* runs.begin(start("two"), LeaseToken.make(1), 12))
        assert.isUndefined(yield* runs.begin(start("two", "b".repeat(40)), LeaseToken.make(1), 12))
        assert.isFalse(yield* runs.move(first.id, LeaseToken.make(1), "failed", 13, verbatimReason("stale")))
        assert.isTrue(yield* runs.move(first.id, LeaseToken.make(2), "analyzing", 14))
        assert.isFalse(
          yield* runs.complete(first.id, LeaseToken.make(1), analysis, [publication({ runId: first.id })], 15)
        )
        assert.deepStrictEqual(yield* (yield* Outbox).ofRun(first.id), [])
        assert.strictEqual((yield* runs.get(first.id))?.status, "analyzing")
      })
    )

    it.effect("a run that is publishing is taken over unchanged, with its analysis", () =>
      Effect.gen(function* () {
        const runs = yield* Runs
        const first = yield* begun("three", 1)
        yield* runs.move(first.id, LeaseToken.make(1), "analyzing", 11)
        assert.isTrue(yield* runs.complete(first.id, LeaseToken.make(1), analysis, [], 12))
        const second = yield* begun("three", 2)
        assert.deepInclude(second, { id: first.id, status: "publishing", analysis })
      })
    )

    it.effect("an ended run is not taken up again", () =>
      Effect.gen(function* () {
        const runs = yield* Runs
        const first = yield* begun("four", 1)
        yield* runs.move(first.id, LeaseToken.make(1), "failed", 11, verbatimReason("no disk"))
        assert.deepInclude(yield* runs.get(first.id), {
          status: "failed",
          reason: verbatimReason("no disk"),
          finishedAt: 11
        })
        const second = yield* begun("four", 2)
        assert.notStrictEqual(second.id, first.id)
      })
    )
  })

  layer(fresh())("moves", (it) => {
    it.effect("only along the table, and into publishing only by complete", () =>
      Effect.gen(function* () {
        const runs = yield* Runs
        const { id } = yield* begun("one", 1)
        assert.isFalse(yield* runs.move(id, LeaseToken.make(1), "succeeded", 11))
        assert.isFalse(yield* runs.settle(id, "succeeded", { partial: false }, 11))
        assert.isTrue(yield* runs.move(id, LeaseToken.make(1), "analyzing", 12))
        assert.isFalse(yield* runs.move(id, LeaseToken.make(1), "publishing", 12))
        assert.isTrue(yield* runs.complete(id, LeaseToken.make(1), analysis, [], 13))
        assert.isTrue(
          yield* runs.settle(id, "succeeded", { partial: true, reason: verbatimReason("one channel failed") }, 14)
        )
        assert.isFalse(yield* runs.settle(id, "failed", { partial: false }, 15))
        assert.isFalse(yield* runs.move(id, LeaseToken.make(1), "failed", 15))
        assert.deepInclude(yield* runs.get(id), {
          status: "succeeded",
          partial: true,
          reason: verbatimReason("one channel failed"),
          analysis,
          finishedAt: 14
        })
      })
    )

    it.effect("into publishing from preparing too, where the start of the analysis could not be stored", () =>
      Effect.gen(function* () {
        const runs = yield* Runs
        const { id } = yield* begun("early", 1)
        assert.isTrue(yield* runs.complete(id, LeaseToken.make(1), analysis, [], 11))
        assert.isFalse(yield* runs.move(id, LeaseToken.make(1), "analyzing", 12))
        assert.deepInclude(yield* runs.get(id), { status: "publishing", analysis })
        const { id: ended } = yield* begun("ended", 1)
        assert.isTrue(yield* runs.move(ended, LeaseToken.make(1), "failed", 11))
        assert.isFalse(yield* runs.complete(ended, LeaseToken.make(1), analysis, [], 12))
      })
    )

    it.effect("never end a run that is published: its publisher does, whatever was decided before", () =>
      Effect.gen(function* () {
        const runs = yield* Runs
        const { id } = yield* begun("published", 1)
        assert.isTrue(yield* runs.complete(id, LeaseToken.make(1), analysis, [], 11))
        for (const to of ["failed", "timeout", "cancelled", "skipped"] as const)
          assert.isFalse(yield* runs.move(id, LeaseToken.make(9), to, 12))
        assert.deepInclude(yield* runs.get(id), { status: "publishing", analysis })
        assert.isTrue(yield* runs.settle(id, "failed", { partial: false }, 13))
      })
    )

    it.effect("complete stores analysis and publications together, each operation once", () =>
      Effect.gen(function* () {
        const runs = yield* Runs
        const outbox = yield* Outbox
        const { id } = yield* begun("two", 1)
        const there = publication({ runId: "earlier", operationId: OperationId.make("same") })
        yield* outbox.add([there], 1)
        yield* runs.move(id, LeaseToken.make(1), "analyzing", 12)
        const rows = [
          publication({ runId: id, position: 1 }),
          publication({ runId: id, position: 0 }),
          publication({ runId: id, operationId: OperationId.make("same"), position: 2 })
        ]
        assert.isTrue(yield* runs.complete(id, LeaseToken.make(1), analysis, rows, 13))
        assert.deepStrictEqual(
          (yield* outbox.ofRun(id)).map((row) => row.id),
          [rows[1]?.id, rows[0]?.id]
        )
        assert.deepStrictEqual((yield* outbox.ofRun("earlier"))[0]?.id, there.id)
      })
    )

    it.effect("complete stores nothing when a publication cannot be stored", () =>
      Effect.gen(function* () {
        const runs = yield* Runs
        const outbox = yield* Outbox
        const { id } = yield* begun("three", 1)
        yield* runs.move(id, LeaseToken.make(1), "analyzing", 12)
        const row = publication({ runId: id })
        const exit = yield* Effect.exit(
          runs.complete(id, LeaseToken.make(1), analysis, [row, publication({ runId: id, id: row.id })], 13)
        )
        assert.strictEqual(exit._tag, "Failure")
        assert.deepInclude(yield* runs.get(id), { status: "analyzing", analysis: undefined })
        assert.deepStrictEqual(yield* outbox.ofRun(id), [])
      })
    )
  })

  layer(fresh())("find, list, prune", (it) => {
    it.effect("finds the review of a head and the pause of its target, lists the newest first", () =>
      Effect.gen(function* () {
        const runs = yield* Runs
        const a = yield* begun("a", 1)
        const b = yield* begun("b", 1)
        const c = yield* begun("c", 1, "b".repeat(40))
        yield* runs.move(b.id, LeaseToken.make(1), "failed", 2)
        const key = targetKey(change())
        const nothing = { earlier: undefined, pausedBy: undefined }
        assert.deepStrictEqual(yield* runs.findReview(key, "a".repeat(40)), nothing)
        yield* runs.move(a.id, LeaseToken.make(1), "analyzing", 3)
        yield* runs.complete(a.id, LeaseToken.make(1), analysis, [], 4)
        yield* runs.pause(key, "ann", 1)
        yield* runs.pause(key, "ada", 2)
        const { earlier, pausedBy } = yield* runs.findReview(key, "a".repeat(40))
        assert.deepStrictEqual([earlier, pausedBy], [yield* runs.get(a.id), "ada"])
        assert.deepStrictEqual(yield* runs.findReview(key, "b".repeat(40)), { ...nothing, pausedBy: "ada" })
        assert.deepStrictEqual(yield* runs.findReview(TargetKey.make("none"), "a".repeat(40)), nothing)
        yield* runs.resume(key)
        yield* runs.resume(key)
        assert.deepStrictEqual(yield* runs.findReview(key, "b".repeat(40)), nothing)
        const list = (filter: Parameters<typeof runs.list>[0]) =>
          Effect.map(runs.list(filter), (found) => found.map((run) => run.id))
        assert.deepStrictEqual(yield* list({ limit: 9 }), [c.id, b.id, a.id])
        assert.deepStrictEqual(yield* list({ limit: 9, statuses: ["publishing"], before: c.id, workspace: "app" }), [
          a.id
        ])
        assert.deepStrictEqual(yield* list({ limit: 9, targetKey: TargetKey.make("none") }), [])
      })
    )

    it.effect("prune keeps what runs, where a managed summary lives, and the summary that has comments", () =>
      Effect.gen(function* () {
        const runs = yield* Runs
        const outbox = yield* Outbox
        const ended = Effect.fn(function* (entryId: string, token: LeaseToken) {
          const run = yield* begun(entryId, token)
          yield* runs.move(run.id, token, "analyzing", 1)
          const row = publication({ runId: run.id, targetKey: TargetKey.make("prune") })
          const review = publication({
            runId: run.id,
            targetKey: TargetKey.make("prune"),
            position: 1,
            operation: { _tag: "Review", head: "a", event: "COMMENT", body: "", comments: [] }
          })
          yield* runs.complete(run.id, token, analysis, [row, review], 1)
          const { token: publisher } = yield* outbox.takeOver(TargetKey.make("prune"), 1)
          // The first summary has comments.
          for (const { id } of [row, review]) {
            const posted = id === row.id && entryId === "p1" ? { posted: ["x"] } : {}
            yield* outbox.move(id, "pending", { status: "sending" }, publisher, token)
            yield* outbox.move(id, "sending", { status: "sent", hostId: `host-${id}`, ...posted }, publisher, token)
          }
          yield* runs.settle(run.id, "succeeded", { partial: false }, 1)
          return { run, row, review }
        })
        const first = yield* ended("p1", LeaseToken.make(1))
        const second = yield* ended("p2", LeaseToken.make(2))
        const running = yield* begun("p3", 3)
        // Nothing is old enough; all but the newest run are removed by count, and the running ones of the test above remain.
        assert.strictEqual(yield* runs.prune({ maxCount: 1, before: 1 }), 3)
        assert.isUndefined(yield* runs.get(first.run.id))
        assert.isDefined(yield* runs.get(running.id))
        assert.deepStrictEqual(
          (yield* outbox.ofRun(first.run.id)).map(({ id }) => id),
          [first.row.id]
        )
        assert.strictEqual(
          (yield* outbox.lastSent(TargetKey.make("prune"), "Summary", {
            channel: "gitea_pr_review",
            notOf: "another run"
          }))?.id,
          second.row.id
        )
        assert.strictEqual(
          (yield* outbox.lastSent(TargetKey.make("prune"), "Review", {
            channel: "gitea_pr_review",
            notOf: "another run"
          }))?.id,
          second.review.id
        )
        yield* runs.prune({ maxCount: 1, before: 3 })
        assert.isUndefined(
          yield* outbox.lastSent(TargetKey.make("prune"), "Summary", {
            channel: "gitea_pr_review",
            notOf: "another run"
          })
        )
      })
    )
  })

  layer(fresh())("latestAnalysis", (it) => {
    it.effect("is the newest stored one, published or not", () =>
      Effect.gen(function* () {
        const runs = yield* Runs
        assert.isUndefined(yield* runs.latestAnalysis(targetKey(change())))
        const first = yield* begun("la-1", 1)
        assert.isTrue(yield* runs.move(first.id, LeaseToken.make(1), "analyzing", 11))
        const stored = {
          ...analysis,
          patches: [
            { path: "a.ts", id: "1", starts: [[0, 1] as const] },
            { path: "b", id: "2" }
          ]
        }
        assert.isTrue(yield* runs.complete(first.id, LeaseToken.make(1), stored, [], 12))
        assert.isTrue(
          yield* runs.settle(first.id, "skipped", { partial: false, reason: verbatimReason("the head moved on") }, 13)
        )
        yield* begun("la-2", 1, "b".repeat(40))
        const found = yield* runs.latestAnalysis(targetKey(change()))
        assert.strictEqual(found?.id, first.id)
        assert.deepStrictEqual(found?.analysis, stored)
        assert.isUndefined(yield* runs.latestAnalysis(TargetKey.make("another target")))
      })
    )

    it.effect("refuses an analysis that could not be read again, and does not change the run", () =>
      Effect.gen(function* () {
        const runs = yield* Runs
        const { id } = yield* begun("unreadable", 1, "c".repeat(40))
        assert.isTrue(yield* runs.move(id, LeaseToken.make(1), "analyzing", 11))
        const broken = {
          ...analysis,
          usage: { ...analysis.usage, costUsd: Usd.make(Number.NaN, { disableChecks: true }) }
        }
        const exit = yield* Effect.exit(runs.complete(id, LeaseToken.make(1), broken, [], 12))
        assert.isTrue(Exit.hasDies(exit))
        assert.strictEqual((yield* runs.get(id))?.status, "analyzing")
      })
    )
  })
})
