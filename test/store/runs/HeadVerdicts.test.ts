/** The verdicts about a commit: through every end of a run and the removal of old runs. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { verbatimReason } from "../../../src/domain/Reason.ts"
import { LeaseToken } from "../../../src/domain/FencingToken.ts"
import { pendingVerdict } from "../../../src/domain/HeadVerdict.ts"
import type { RunVerdict } from "../../../src/domain/HeadVerdict.ts"
import { targetKey } from "../../../src/domain/Change.ts"
import { newId } from "../../../src/domain/Ids.ts"
import type { RunStatus } from "../../../src/domain/Run.ts"
import { Outbox } from "../../../src/store/Outbox.ts"
import { Runs } from "../../../src/store/Runs.ts"
import { databases } from "../Databases.ts"
import { analysis, change, publication } from "../Fixtures.ts"

const token = LeaseToken.make(1)
const found: RunVerdict = {
  state: "failure",
  description: verbatimReason("1 problem found"),
  isShown: true,
  isClean: false
}
const clean: RunVerdict = {
  state: "success",
  description: verbatimReason("No problems found"),
  isShown: true,
  isClean: true
}

let made = 0
const newHead = () => String(++made).padStart(40, "0")

const begin = Effect.fnUntraced(function* (head: string, baseRef: string | undefined, number = 7, status?: RunVerdict) {
  const subject = { ...change(number, head), ...(baseRef === undefined ? {} : { baseRef }) }
  const verdict = status ?? pendingVerdict(verbatimReason("Review in progress"))
  const begun = { entryId: newId(), workspace: "app", change: subject, head, base: "b", configHash: "c", verdict }
  const run = yield* (yield* Runs).begin({ ...begun, targetKey: targetKey(subject) }, token, 10)
  assert(run !== undefined)
  return run.id
})
const complete = Effect.fnUntraced(function* (id: string, verdict: RunVerdict, to: "succeeded" | "failed" | "skipped") {
  const runs = yield* Runs
  yield* runs.move(id, token, "analyzing", 11)
  assert.isTrue(yield* runs.complete(id, token, analysis, [], 12, verdict))
  assert.isTrue(yield* runs.settle(id, to, { partial: false }, 13))
})
const read = (head: string) =>
  Effect.flatMap(Runs, (runs) =>
    Effect.map(runs.headVerdicts(head, "acme/APP"), (verdicts) =>
      verdicts.map(({ baseRef, number, verdict: { state } }) => `${number} ${baseRef} ${state}`).toSorted()
    )
  )

describe.each(databases)("HeadVerdicts in $name", ({ layer: fresh }) => {
  layer(fresh())("of runs", (it) => {
    it.effect("is pending from the beginning, then what the review found, for each base branch", () =>
      Effect.gen(function* () {
        const head = newHead()
        const first = yield* begin(head, "main")
        assert.deepStrictEqual(yield* read(head), ["7 main pending"])
        yield* complete(first, found, "succeeded")
        const second = yield* begin(head, "side", 8)
        yield* complete(second, clean, "succeeded")
        yield* begin(newHead(), "main")
        assert.deepStrictEqual(yield* read(head), ["7 main failure", "8 side success"])
        assert.deepStrictEqual(yield* (yield* Runs).headVerdicts(head, "acme/other"), [])
      })
    )

    for (const [to, state] of [
      ["failed", "failure"],
      ["timeout", "failure"],
      ["cancelled", "failure"],
      ["skipped", undefined]
    ] as const satisfies ReadonlyArray<readonly [RunStatus, string | undefined]>) {
      it.effect(`of a run that ends as ${to} is ${state ?? "none"}`, () =>
        Effect.gen(function* () {
          const head = newHead()
          const id = yield* begin(head, "main")
          assert.isTrue(yield* (yield* Runs).move(id, token, to, 20))
          assert.deepStrictEqual(yield* read(head), state === undefined ? [] : [`7 main ${state}`])
        })
      )
    }

    it.effect(
      "of a review that was not published is a failure; one that a newer head replaced keeps what it found",
      () =>
        Effect.gen(function* () {
          const [refused, replaced] = [newHead(), newHead()]
          yield* complete(yield* begin(refused, "main"), clean, "failed")
          yield* complete(yield* begin(replaced, "main"), found, "skipped")
          assert.deepStrictEqual(yield* read(refused), ["7 main failure"])
          assert.deepStrictEqual(yield* read(replaced), ["7 main failure"])
        })
    )

    it.effect(
      "of a run that waits and begins again stays pending, and its result is not replaced by the beginning",
      () =>
        Effect.gen(function* () {
          const runs = yield* Runs
          const head = newHead()
          const id = yield* begin(head, "main")
          yield* runs.wait(id, token, { since: 11, until: 12, reason: verbatimReason("the host is down") })
          assert.deepStrictEqual(yield* read(head), ["7 main pending"])
          const stored = yield* runs.get(id)
          assert(stored !== undefined)
          yield* runs.begin(
            { ...stored, verdict: pendingVerdict(verbatimReason("Review in progress")) },
            LeaseToken.make(2),
            13
          )
          assert.isTrue(yield* runs.complete(id, LeaseToken.make(2), analysis, [], 14, found))
          yield* runs.begin(
            { ...stored, verdict: pendingVerdict(verbatimReason("Review in progress")) },
            LeaseToken.make(3),
            15
          )
          assert.deepStrictEqual(yield* read(head), ["7 main failure"])
        })
    )
  })

  layer(fresh())("of an entry that waits for its first review", (it) => {
    const waitFor = Effect.fnUntraced(function* (head: string, baseRef: string, entryId = newId()) {
      const subject = { ...change(7, head), baseRef }
      const verdict = pendingVerdict(verbatimReason("Waits for a review"))
      const waiting = { entryId, workspace: "app", change: subject, head, base: "b", configHash: "c", verdict }
      const row = publication({ targetKey: targetKey(subject) })
      const plan = (runId: string) => [{ ...row, runId }]
      const run = yield* (yield* Runs).openUnreviewed({ ...waiting, targetKey: targetKey(subject) }, plan, 5)
      return { waiting: { ...waiting, targetKey: targetKey(subject) }, run }
    })

    it.effect("is pending with its status, once, and belongs to the run that the first claim continues", () =>
      Effect.gen(function* () {
        const runs = yield* Runs
        const head = newHead()
        const { run, waiting } = yield* waitFor(head, "main")
        assert(run !== undefined)
        assert.deepStrictEqual(yield* read(head), ["7 main pending"])
        assert.strictEqual((yield* (yield* Outbox).ofRun(run.id)).length, 1)
        assert.isUndefined((yield* waitFor(head, "main", waiting.entryId)).run)
        const opened = yield* runs.open(waiting, token, 90)
        assert.deepInclude(opened, { id: run.id, status: "queued", createdAt: 90 })
        const begun = yield* runs.begin(
          { ...waiting, verdict: pendingVerdict(verbatimReason("Review in progress")) },
          token,
          91
        )
        assert.strictEqual(begun?.id, run.id)
        assert.isUndefined((yield* waitFor(head, "main", waiting.entryId)).run)
        assert.strictEqual((yield* (yield* Outbox).ofRun(run.id)).length, 1)
      })
    )

    it.effect("is added to a run that was claimed and has not begun", () =>
      Effect.gen(function* () {
        const runs = yield* Runs
        const head = newHead()
        const subject = { ...change(7, head), baseRef: "main" }
        const begun = { workspace: "app", targetKey: targetKey(subject), change: subject, head, base: "b" }
        const opened = yield* runs.open({ ...begun, entryId: newId(), configHash: "c" }, token, 1)
        assert(opened !== undefined)
        assert.strictEqual((yield* waitFor(head, "main", opened.entryId)).run?.id, opened.id)
        assert.deepStrictEqual(yield* read(head), ["7 main pending"])
      })
    )

    it.effect("ends with its run when the review is of another head or base branch", () =>
      Effect.gen(function* () {
        const runs = yield* Runs
        const [head, next] = [newHead(), newHead()]
        for (const [reviewed, base] of [
          [next, "main"],
          [head, "side"]
        ] as const) {
          const { run, waiting } = yield* waitFor(head, "main")
          yield* runs.open(waiting, token, 6)
          const subject = { ...change(7, reviewed), baseRef: base }
          const begun = yield* runs.begin({ ...waiting, change: subject, head: reviewed }, token, 7)
          assert.notStrictEqual(begun?.id, run?.id)
          assert.deepInclude(yield* runs.get(run?.id ?? ""), { status: "skipped", verdict: undefined })
        }
        assert.deepStrictEqual(yield* read(head), ["7 side pending"])
        assert.deepStrictEqual(yield* read(next), ["7 main pending"])
      })
    )

    it.effect("is found by its head, in runs and in kept verdicts", () =>
      Effect.gen(function* () {
        const runs = yield* Runs
        const [kept, head] = [newHead(), newHead()]
        yield* complete(yield* begin(kept, "main"), clean, "succeeded")
        yield* begin(newHead(), "main")
        yield* runs.prune({ maxCount: 1, before: 0 })
        yield* waitFor(head, "side")
        const heads = yield* runs.reviewedHeads([kept, head, newHead()])
        assert.deepStrictEqual(
          heads.map((row) => `${row.head} ${row.repo} ${row.targetKey} ${row.baseRef}`).toSorted(),
          [`${kept} acme/app ${targetKey(change(7))} main`, `${head} acme/app ${targetKey(change(7))} side`]
        )
      })
    )
  })

  layer(fresh())("of removed runs", (it) => {
    it.effect("stays by pull request and base branch, until its age", () =>
      Effect.gen(function* () {
        const runs = yield* Runs
        const head = newHead()
        yield* complete(yield* begin(head, "main"), found, "succeeded")
        yield* complete(yield* begin(head, "side"), found, "succeeded")
        yield* complete(yield* begin(head, undefined, 9), found, "succeeded")
        yield* begin(newHead(), "main")
        assert.strictEqual(yield* runs.prune({ maxCount: 1, before: 0 }), 3)
        assert.deepStrictEqual(yield* read(head), ["7 main failure", "7 side failure", "9 undefined failure"])
        // A later review that is on record takes precedence, and replaces the kept verdict when it is removed.
        const repaired = yield* begin(head, "side")
        yield* complete(repaired, clean, "succeeded")
        const verdicts = yield* runs.headVerdicts(head, "acme/app")
        assert.strictEqual(verdicts.filter(({ baseRef }) => baseRef === "side").length, 2)
        yield* begin(newHead(), "main")
        yield* runs.prune({ maxCount: 1, before: 0 })
        assert.deepStrictEqual(yield* read(head), ["7 main failure", "7 side success", "9 undefined failure"])
        yield* runs.prune({ maxCount: 1, before: 14 })
        assert.deepStrictEqual(yield* read(head), [])
      })
    )
  })

  layer(fresh())("of commits whose status is written", (it) => {
    it.effect("one row of a commit is being sent at a time", () =>
      Effect.gen(function* () {
        const outbox = yield* Outbox
        const head = newHead()
        const status = (number: number, of = head) =>
          publication({
            targetKey: targetKey(change(number)),
            operation: { _tag: "Status", head: of, state: "success", description: verbatimReason("") }
          })
        const [one, two, other] = [status(1), status(2), status(3, newHead())]
        yield* outbox.add([one, two, other], 0)
        const tokens = yield* Effect.forEach([one, two, other], (row) =>
          Effect.map(outbox.takeOver(row.targetKey, 0), (taken) => taken.token)
        )
        const start = (at: 0 | 1 | 2) => {
          const row = [one, two, other][at]
          const held = tokens[at]
          assert(row !== undefined && held !== undefined)
          return outbox.startStatus(row, "pending", held, 1)
        }
        // At the same time, as two nodes do it.
        const both = yield* Effect.all([start(0), start(1)], { concurrency: "unbounded" })
        assert.deepStrictEqual(both.toSorted(), ["busy", "started"])
        const first = both[0] === "started" ? 0 : 1
        assert.strictEqual(yield* start(2), "started")
        assert.strictEqual(yield* start(first === 0 ? 1 : 0), "busy")
        const [row, held] = [[one, two][first], tokens[first]]
        assert(row !== undefined && held !== undefined)
        yield* outbox.move(row.id, "sending", { status: "sent" }, held, 2)
        assert.strictEqual(yield* start(first === 0 ? 1 : 0), "started")
        yield* outbox.takeOver(other.targetKey, 3)
        assert.strictEqual(yield* start(2), "lost")
      })
    )
  })
})
