/** Outcomes of findings on real databases: recorded with the end of a run, exactly once. */
import { fileURLToPath } from "node:url"
import { join } from "node:path"
import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { it as test } from "vitest"
import type { Analysis } from "../../src/domain/Analysis.ts"
import { LeaseToken } from "../../src/domain/FencingToken.ts"
import { privateDigest } from "../../src/domain/PrivateDigest.ts"
import { Outbox } from "../../src/store/Outbox.ts"
import { Outcomes } from "../../src/store/Outcomes.ts"
import { Runs } from "../../src/store/Runs.ts"
import * as Store from "../../src/store/StoreLayer.ts"
import { databases } from "./Databases.ts"
import { analysis, publication } from "./Fixtures.ts"
import { folder } from "./Folder.ts"
import { killAfter } from "./KilledChild.ts"
import { findingsPerRun, publishing } from "./Outcomes.ts"

const token = LeaseToken.make(1)
const by = { agent: "native-llm", maxProblems: 50 }
const settle = (id: string, to: "succeeded" | "failed" | "skipped" = "succeeded", now = 10) =>
  Runs.use((runs) => runs.settle(id, to, { partial: false, by }, now))
const counts = Outcomes.use((outcomes) => outcomes.counts(0))
const rows = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  return yield* sql<{
    target_key: string
    outcome: string
    decided_in: string
    head: string
    title: string
    dismissed_by: string | null
  }>`
    SELECT target_key, outcome, decided_in, head, title, dismissed_by FROM finding_outcomes ORDER BY target_key, fingerprint`
})

describe.each(databases)("outcomes in $name", ({ layer: fresh }) => {
  layer(fresh())("a published run", (it) => {
    it.effect("records its findings, once", () =>
      Effect.gen(function* () {
        const { id } = yield* publishing(1, token, { findings: analysis.findings })
        assert.isTrue(yield* settle(id))
        assert.isFalse(yield* settle(id))
        assert.deepStrictEqual(yield* counts, [
          {
            repository: "main:acme/app",
            agent: "native-llm",
            model: "demo/rules",
            findings: 1,
            fixed: 0,
            dismissed: 0,
            partly: 0,
            withdrawn: 0,
            movedAway: 0,
            openAtMerge: 0,
            open: 1,
            replied: 0,
            changedLater: 0
          }
        ])
        assert.deepStrictEqual(yield* Outcomes.use((outcomes) => outcomes.counts(11)), [])
      })
    )
  })

  layer(fresh())("a decision about a finding", (it) => {
    it.effect("changes the review, its verdict, its outcome and the counts, once, and only by the publisher", () =>
      Effect.gen(function* () {
        const runs = yield* Runs
        const outbox = yield* Outbox
        const run = yield* publishing(3, token, { findings: analysis.findings })
        yield* settle(run.id)
        const fingerprint = analysis.findings[0]?.fingerprint ?? ""
        const dismissed = { ...analysis, dismissed: [fingerprint] }
        const verdict = {
          state: "success",
          description: { _tag: "NoProblemsFound" },
          isShown: true,
          isClean: true
        } as const
        const row = publication({ runId: run.id, targetKey: run.targetKey })
        const ruling = {
          analysis: dismissed,
          verdict,
          fingerprint,
          outcome: "dismissed",
          dismissedBy: "maintainer",
          publications: [row]
        } as const
        const { token: old } = yield* outbox.takeOver(run.targetKey, 4)
        const { token: publisher } = yield* outbox.takeOver(run.targetKey, 5)
        assert.isFalse(yield* runs.rule(run.id, old, ruling, 11))
        assert.deepStrictEqual(yield* outbox.ofRun(run.id), [])
        assert.isTrue(yield* runs.rule(run.id, publisher, ruling, 12))
        assert.isTrue(yield* runs.rule(run.id, publisher, ruling, 13))
        assert.deepInclude(yield* runs.get(run.id), { analysis: dismissed, verdict, status: "succeeded" })
        assert.lengthOf(yield* outbox.ofRun(run.id), 1)
        assert.deepInclude((yield* counts)[0], { findings: 1, dismissed: 1, open: 0 })
        assert.deepInclude((yield* rows)[0], { dismissed_by: "maintainer", title: "Off by one" })
        const open = { analysis, verdict: undefined, fingerprint, outcome: "open", publications: [] } as const
        assert.isTrue(yield* runs.rule(run.id, publisher, open, 14))
        assert.deepInclude(yield* runs.get(run.id), { analysis, verdict })
        assert.deepInclude((yield* counts)[0], { findings: 1, dismissed: 0, open: 1 })
        assert.deepInclude((yield* rows)[0], { dismissed_by: null })
      })
    )
  })

  layer(fresh())("a finding that only maintainers get", (it) => {
    it.effect("is listed by its digest without words and path, decided by its fingerprint, and not judged", () =>
      Effect.gen(function* () {
        const outcomes = yield* Outcomes
        const [one] = analysis.findings
        if (one === undefined) return assert.fail("no finding")
        const delivered = { finding: { ...one, problem: { ...one.problem, rule: "zebra-rule" } }, salt: "5a17" }
        const digest = privateDigest(delivered)
        const heads = ["a", "b", "c"].map((letter) => letter.repeat(40))
        const step = Effect.fnUntraced(function* (at: number, more: Partial<Analysis>) {
          const run = yield* publishing(5, token, { head: heads[at] ?? "", findings: [], more })
          yield* settle(run.id, "succeeded", 10 + at)
          const shown = [yield* outcomes.ofTarget(run.targetKey), yield* outcomes.list({ since: 0, limit: 9 })]
          return { targetKey: run.targetKey, shown, rulings: yield* outcomes.rulings(run.targetKey) }
        })
        const { rulings, shown, targetKey } = yield* step(0, { private: [delivered] })
        for (const [row] of shown)
          assert.deepInclude(row, { fingerprint: digest, private: digest, title: "", path: "", outcome: "open" })
        for (const text of [one.fingerprint, one.problem.file, "Off by one", "zebra"])
          assert.notInclude(JSON.stringify(shown), text)
        assert.deepStrictEqual(rulings, [{ fingerprint: one.fingerprint, outcome: "open", private: digest }])
        assert.deepStrictEqual(
          (yield* outcomes.groups({ by: "rule", since: 0, until: 99 })).map(({ name }) => name),
          []
        )
        const page = { since: 0, limit: 9, after: { targetKey, fingerprint: digest } }
        assert.deepStrictEqual(yield* outcomes.list(page), [])
        // A dismissal that a later review reads, of a person who may; nothing is learnt from it.
        const sql = yield* SqlClient.SqlClient
        yield* sql`UPDATE finding_outcomes SET outcome = 'dismissed', dismissed_by = 'maintainer'`
        assert.deepStrictEqual(yield* outcomes.judged("main:acme/app"), [])
        assert.deepStrictEqual(yield* outcomes.judgedEverywhere, [])
        const again = yield* step(1, { private: [delivered], dismissed: [one.fingerprint] })
        assert.deepInclude(again.rulings[0], { outcome: "dismissed" })
        // Its channel was removed from the configuration.
        const open = yield* step(2, { findings: [one] })
        for (const [row] of open.shown) assert.deepInclude(row, { fingerprint: one.fingerprint, title: "Off by one" })
      })
    )
  })

  layer(fresh())("a later commit", (it) => {
    it.effect("fixes a finding; another of it opens it again; reactions come with the publications", () =>
      Effect.gen(function* () {
        const outbox = yield* Outbox
        const heads = ["a", "b", "c", "d"].map((letter) => letter.repeat(40))
        const step = Effect.fnUntraced(function* (
          at: number,
          present: boolean,
          reaction?: { readonly dismissed: boolean; readonly replied: boolean }
        ) {
          const run = yield* publishing(2, token, {
            head: heads[at] ?? "",
            findings: present ? analysis.findings : []
          })
          const reactions = reaction && [{ fp: "f".repeat(32), ...reaction }]
          yield* outbox.add([publication({ runId: run.id, targetKey: run.targetKey })], 3)
          const { token: publisher } = yield* outbox.takeOver(run.targetKey, 4)
          const [row] = yield* outbox.ofRun(run.id)
          yield* outbox.move(row?.id ?? "", "pending", { status: "sent", reactions }, publisher, 5)
          yield* settle(run.id, "succeeded", 10 + at)
          return (yield* counts).map(({ findings, fixed, dismissed, open, replied }) =>
            [findings, fixed, dismissed, open, replied].join(" ")
          )
        })
        assert.deepStrictEqual(yield* step(0, true), ["1 0 0 1 0"])
        assert.deepStrictEqual(yield* step(1, false, { dismissed: false, replied: true }), ["1 1 0 0 1"])
        assert.deepStrictEqual(yield* step(2, true), ["1 0 0 1 1"])
        assert.deepStrictEqual(yield* step(3, true, { dismissed: true, replied: true }), ["1 0 1 0 1"])
      })
    )
  })

  layer(fresh())("a submitted change", (it) => {
    it.effect("has its outcome from the start, and each finding counts once per branch", () =>
      Effect.gen(function* () {
        const provider = "perforce"
        const first = yield* publishing(8, token, { findings: analysis.findings, kind: "push", provider })
        yield* settle(first.id)
        const again = { findings: analysis.findings, head: "b".repeat(40), kind: "push", provider } as const
        yield* settle((yield* publishing(8, token, again)).id)
        assert.deepInclude((yield* counts)[0], { findings: 1, openAtMerge: 1, open: 0 })
        const outcomes = yield* Outcomes
        const fingerprints = analysis.findings.map(({ fingerprint }) => fingerprint)
        assert.deepInclude((yield* outcomes.ofTarget(first.targetKey, fingerprints))[0], {
          outcome: "open_at_merge",
          settled: "merged",
          mergedBy: "author"
        })
        assert.deepStrictEqual(yield* outcomes.ofTarget(first.targetKey, []), [])
      })
    )
  })

  layer(fresh())("nothing is recorded", (it) => {
    it.effect("of runs that failed or were skipped, nor of pushes", () =>
      Effect.gen(function* () {
        yield* settle((yield* publishing(3, token)).id, "failed")
        yield* settle((yield* publishing(4, token)).id, "skipped")
        yield* settle((yield* publishing(5, token, { kind: "push" })).id)
        assert.deepStrictEqual(yield* counts, [])
      })
    )

    it.effect("and the run does not end, while the outcomes cannot be written", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const { id } = yield* publishing(6, token)
        yield* sql`ALTER TABLE finding_outcomes RENAME TO finding_outcomes_away`
        assert.strictEqual((yield* Effect.flip(settle(id)))._tag, "StoreError")
        assert.strictEqual((yield* Runs.use((runs) => runs.get(id)))?.status, "publishing")
        yield* sql`ALTER TABLE finding_outcomes_away RENAME TO finding_outcomes`
        assert.isTrue(yield* settle(id))
        assert.deepStrictEqual(
          (yield* counts).map(({ findings }) => findings),
          [findingsPerRun]
        )
      })
    )
  })

  layer(fresh())("retention", (it) => {
    it.effect("removes outcomes that no review changed for long", () =>
      Effect.gen(function* () {
        yield* settle((yield* publishing(7, token)).id, "succeeded", 100)
        yield* settle((yield* publishing(8, token)).id, "succeeded", 200)
        yield* Runs.use((runs) => runs.prune({ maxCount: 1000, before: 150 }))
        assert.strictEqual((yield* rows).length, findingsPerRun)
      })
    )
  })
})

test("a killed process: an ended run has all its outcomes, another one has none, and continuing doubles nothing", async () => {
  const child = fileURLToPath(new URL("OutcomesChild.ts", import.meta.url))
  await Effect.gen(function* () {
    const path = join(yield* folder, "svc.db")
    for (const lines of [1, 2, 3, 20, 41]) yield* Effect.promise(() => killAfter(child, [path], lines))
    yield* Effect.gen(function* () {
      const runs = yield* Runs
      const all = yield* runs.list({ limit: 1000 })
      const of = Effect.fnUntraced(function* (id: string) {
        return (yield* rows).filter((row) => row.decided_in === id).length
      })
      for (const { id, status } of all)
        assert.strictEqual(yield* of(id), status === "succeeded" ? findingsPerRun : 0, status)
      for (const { id } of all.filter(({ status }) => status === "publishing")) assert.isTrue(yield* settle(id))
      for (const { id } of all) assert.isFalse(yield* settle(id))
      const published = (yield* runs.list({ limit: 1000, statuses: ["succeeded"] })).length
      assert.isAtLeast(published, 3)
      assert.strictEqual((yield* rows).length, published * findingsPerRun)
    }).pipe(Effect.provide(Store.layerSqlite({ path, migrate: "verify" })))
  }).pipe(Effect.scoped, Effect.runPromise)
}, 60_000)
