/** Claims of ended changes on real databases, and the outcomes that they store. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { settleOutcome } from "../../src/domain/FindingOutcome.ts"
import { LeaseToken } from "../../src/domain/FencingToken.ts"
import { DeliveryKey } from "../../src/domain/Keys.ts"
import { Outcomes } from "../../src/store/Outcomes.ts"
import { Receipts } from "../../src/store/Receipts.ts"
import type { EventRecord } from "../../src/store/Receipts.ts"
import { Runs } from "../../src/store/Runs.ts"
import { Settlements } from "../../src/store/Settlements.ts"
import { databases } from "./Databases.ts"
import { analysis, event, ignored } from "./Fixtures.ts"
import { publishing } from "./Outcomes.ts"

const token = LeaseToken.make(1)
const by = { agent: "native-llm", maxProblems: 50 }
const none: ReadonlySet<string> = new Set()

/** Publishes a review with one finding, and stores the end of its pull request. */
const closed = Effect.fnUntraced(function* (number: number, at = 20) {
  const run = yield* publishing(number, token, { findings: analysis.findings })
  yield* (yield* Runs).settle(run.id, "succeeded", { partial: false, by }, 10)
  const record: EventRecord = {
    id: `event-${number}-${at}`,
    deliveryKey: DeliveryKey.make(`gitea:closed-${number}-${at}`),
    provider: "gitea",
    event: "pull_request",
    action: "closed",
    trigger: "main",
    workspace: "app",
    targetKind: "pull_request",
    targetKey: run.targetKey,
    repo: "acme/app",
    facts: { number },
    decision: "ignored",
    reason: "closed",
    work: undefined,
    receivedAt: at
  }
  yield* (yield* Receipts).storeAll([record])
  return run.targetKey
})

const claim = (owner: string, now: number, gone = none) =>
  Settlements.use((settlements) =>
    settlements.claim({ owner, gone, now, until: now + 100, since: now - 1000, limit: 8 })
  )

describe.each(databases)("ended changes in $name", ({ layer: fresh }) => {
  layer(fresh())("a claim", (it) => {
    it.effect("is of one node, until it ends or its process has ended", () =>
      Effect.gen(function* () {
        const targetKey = yield* closed(1)
        const [end] = yield* claim("one", 30)
        assert.deepInclude(end, { targetKey, eventId: "event-1-20", repo: "acme/app", number: 1, attempts: 0 })
        assert.deepStrictEqual(yield* claim("two", 31), [])
        assert.lengthOf(yield* claim("two", 32, new Set(["one"])), 1)
        assert.deepStrictEqual(yield* claim("one", 33), [])
        yield* Settlements.use((settlements) => settlements.renew("two", 400))
        assert.deepStrictEqual(yield* claim("one", 399), [])
        assert.lengthOf(yield* claim("one", 401), 1)
        if (end === undefined) return assert.fail("claimed")
        yield* Settlements.use((settlements) => settlements.postpone(end, "one", 500, true))
        assert.deepStrictEqual(yield* claim("two", 499, new Set(["one"])), [])
        assert.deepInclude((yield* claim("two", 500))[0], { attempts: 1 })
      })
    )
  })

  layer(fresh())("the end of a change", (it) => {
    it.effect("decides about findings once, and counts them", () =>
      Effect.gen(function* () {
        const settlements = yield* Settlements
        const targetKey = yield* closed(2)
        const [end] = yield* claim("one", 30)
        if (end === undefined) return assert.fail("claimed")
        const records = yield* settlements.undecided({ targetKey, receivedAt: 20 })
        const merged = { end: "merged", mergedBy: "maintainer", head: "b".repeat(40), baseRef: "main" } as const
        const settled = records.map((one) => settleOutcome(one, "open", merged, 40))
        assert.strictEqual(yield* settlements.settle(end, settled, 40), 1)
        assert.strictEqual(yield* settlements.settle(end, settled, 41), 0)
        const [counted] = yield* Outcomes.use((outcomes) => outcomes.counts(0))
        assert.deepInclude(counted, { findings: 1, openAtMerge: 1, open: 0 })
        const sql = yield* SqlClient.SqlClient
        const [row] = yield* sql<{ settled: string; merged_by: string; settled_at: number | string }>`
          SELECT settled, merged_by, settled_at FROM finding_outcomes WHERE target_key = ${targetKey}`
        assert.deepStrictEqual([row?.settled, row?.merged_by, Number(row?.settled_at)], ["merged", "maintainer", 40])
        assert.deepStrictEqual(yield* claim("one", 200), [])
        assert.deepStrictEqual(yield* settlements.undecided({ targetKey, receivedAt: 20 }), [])
        assert.deepStrictEqual(yield* settlements.owners, [])
      })
    )

    it.effect(
      "is kept beyond the number of deliveries that are kept until it is decided about, and not beyond their age",
      () =>
        Effect.gen(function* () {
          const settlements = yield* Settlements
          const receipts = yield* Receipts
          const targetKey = yield* closed(4)
          yield* closed(5)
          const [first, second] = yield* claim("one", 30)
          assert.deepStrictEqual([first?.targetKey, second?.number], [targetKey, 5])
          const decide = (end: typeof first) =>
            end === undefined ? assert.fail("claimed") : settlements.settle(end, [], 40)
          yield* decide(second)
          const exists = () => Effect.map(receipts.get("event-4-20"), (stored) => stored !== undefined)
          yield* receipts.prune({ maxCount: 0, before: 0 })
          assert.isTrue(yield* exists())
          assert.isUndefined(yield* receipts.get("event-5-20"))
          yield* receipts.prune({ maxCount: 0, before: 21 })
          assert.isFalse(yield* exists())
        })
    )

    it.effect("without a merge is decided about again by a later merge, and not by a repeated delivery", () =>
      Effect.gen(function* () {
        const settlements = yield* Settlements
        const targetKey = yield* closed(6)
        const decide = Effect.fnUntraced(function* (
          end: { readonly end: "closed" | "merged"; readonly receivedAt: number },
          now: number
        ) {
          const [claimed] = yield* claim("one", now)
          if (claimed === undefined) return undefined
          const change = { end: end.end, mergedBy: undefined, head: "b".repeat(40), baseRef: "main" }
          const records = yield* settlements.undecided(claimed)
          const settled = records.map((one) => settleOutcome(one, "open", change, now))
          return [claimed.receivedAt, yield* settlements.settle(claimed, settled, now)]
        })
        const again = (at: number) =>
          Receipts.use((receipts) => {
            const about = { provider: "gitea", targetKind: "pull_request", targetKey, receivedAt: at } as const
            return receipts.storeAll([ignored({ ...about, reason: "closed", facts: { number: 6 } })])
          })
        assert.deepStrictEqual(yield* decide({ end: "closed", receivedAt: 20 }, 40), [20, 1])
        // A delivery that was received before the decision reports the same end.
        yield* again(39)
        assert.isUndefined(yield* decide({ end: "closed", receivedAt: 39 }, 50))
        yield* again(60)
        assert.deepStrictEqual(yield* decide({ end: "merged", receivedAt: 60 }, 70), [60, 1])
        const [outcome] = yield* Outcomes.use((outcomes) => outcomes.ofTarget(targetKey))
        assert.deepInclude(outcome, { outcome: "open_at_merge", settled: "merged", settledAt: 70 })
        yield* again(80)
        assert.isUndefined(yield* decide({ end: "merged", receivedAt: 80 }, 90))
      })
    )

    it.effect("needs no run that retention has removed, and the later look needs none", () =>
      Effect.gen(function* () {
        const settlements = yield* Settlements
        const sql = yield* SqlClient.SqlClient
        yield* closed(7)
        yield* closed(8)
        yield* Runs.use((runs) => runs.prune({ maxCount: 0, before: 0 }))
        assert.deepStrictEqual(yield* sql`SELECT id FROM runs`, [])
        const ends = yield* claim("one", 50)
        assert.lengthOf(ends, 2)
        for (const [at, end] of ends.entries()) {
          const merged = {
            end: "merged",
            mergedBy: "maintainer",
            head: String(at).repeat(40),
            baseRef: "main"
          } as const
          const records = yield* settlements.undecided(end)
          assert.deepInclude(records[0], { path: "a.ts", head: "a".repeat(40) })
          const settled = records.map((one) => settleOutcome(one, "open", merged, 100 + at))
          assert.strictEqual(yield* settlements.settle(end, settled, 100 + at), 1)
        }
        const [found, ...others] = yield* settlements.later({ since: 100, until: 1000 })
        assert.deepStrictEqual(others, [])
        assert.deepInclude(found, { settledHead: "0".repeat(40), tip: "1".repeat(40), baseRef: "main" })
      })
    )

    it.effect("is dropped if the change is open again, until it ends again", () =>
      Effect.gen(function* () {
        const settlements = yield* Settlements
        yield* closed(3)
        const [end] = yield* claim("one", 30)
        if (end === undefined) return assert.fail("claimed")
        assert.strictEqual(yield* settlements.settle(end, [], 40), 0)
        assert.deepStrictEqual(yield* claim("one", 200), [])
        yield* Receipts.use((receipts) =>
          Effect.flatMap(receipts.get(end.eventId), (stored) => {
            assert.strictEqual(stored?.outcome, "skipped")
            return Effect.void
          })
        )
      })
    )
  })

  layer(fresh())("a shelved changelist", (it) => {
    it.effect("ends when it is submitted, once no review of it runs or waits", () =>
      Effect.gen(function* () {
        const settlements = yield* Settlements
        const receipts = yield* Receipts
        const findings = analysis.findings
        const run = yield* publishing(12, token, {
          findings,
          kind: "commit",
          provider: "perforce",
          head: "12-0123456789ab"
        })
        assert.isTrue(yield* settlements.isReviewed(run.targetKey))
        yield* (yield* Runs).settle(run.id, "succeeded", { partial: false, by }, 10)
        assert.deepInclude((yield* Outcomes.use((outcomes) => outcomes.counts(0)))[0], { findings: 1, open: 1 })
        const shelves = yield* settlements.openShelves(run.change.trigger)
        assert.deepStrictEqual(
          shelves.map((shelf) => [shelf.targetKey, shelf.workspace]),
          [[run.targetKey, run.workspace]]
        )
        assert.deepStrictEqual(yield* settlements.openShelves(run.change.trigger, [11, 12]), shelves)
        assert.deepStrictEqual(yield* settlements.openShelves(run.change.trigger, [13]), [])
        assert.deepStrictEqual(yield* settlements.openShelves("other"), [])
        const about = { provider: "perforce", targetKind: "commit", targetKey: run.targetKey, receivedAt: 20 } as const
        const waiting = event({ ...about, facts: { number: 12 } })
        const end = ignored({ ...about, reason: "closed", facts: { number: 12, head: "15", branch: "//Ace/main" } })
        yield* receipts.storeAll([waiting, end])
        assert.deepInclude((yield* claim("one", 30))[0], { number: 12, head: "15", branch: "//Ace/main" })
        assert.isTrue(yield* settlements.isReviewed(run.targetKey))
        yield* receipts.settle([waiting.id], { outcome: "executed" }, 40)
        assert.isFalse(yield* settlements.isReviewed(run.targetKey))
      })
    )
  })

  layer(fresh())("a change without findings, or whose end is long ago", (it) => {
    it.effect("is claimed by no node", () =>
      Effect.gen(function* () {
        yield* closed(4, 20)
        assert.deepStrictEqual(yield* claim("one", 5000), [])
        const sql = yield* SqlClient.SqlClient
        yield* sql`DELETE FROM finding_outcomes`
        assert.deepStrictEqual(yield* claim("one", 30), [])
      })
    )
  })
})
