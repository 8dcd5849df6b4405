/** Rules of repositories on real databases: uses are counted with the end of a run, and findings from their outcomes. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { LeaseToken } from "../../src/domain/FencingToken.ts"
import type { RuleUse } from "../../src/domain/RuleUse.ts"
import { ProjectRules } from "../../src/store/ProjectRules.ts"
import { Runs } from "../../src/store/Runs.ts"
import { databases } from "./Databases.ts"
import { publishing } from "./Outcomes.ts"

const token = LeaseToken.make(1)
const by = { agent: "native-llm", maxProblems: 50 }

const rule = (id: string, more: Partial<RuleUse> = {}): RuleUse => ({ id, digest: "d1", severity: "high", ...more })

/** Publishes a review of a pull request with these rules, and a finding for each id. */
const reviewed = Effect.fnUntraced(function* (
  number: number,
  rules: ReadonlyArray<RuleUse>,
  cited: ReadonlyArray<string>,
  now: number
) {
  const findings = cited.map((id, at) => ({
    fingerprint: `${number}-${at}`.padStart(32, "0"),
    problem: { file: "a.ts", severity: "high", category: "bug", message: `Breaks ${id}`, rule: id } as const
  }))
  const { id } = yield* publishing(number, token, { findings, rules })
  yield* Runs.use((runs) => runs.settle(id, "succeeded", { partial: false, by }, now))
})

const health = (filter: Parameters<ProjectRules["Service"]["health"]>[0] = {}) =>
  ProjectRules.use((rules) => rules.health(filter))

const zero = { findings: 0, accepted: 0, dismissed: 0, ignored: 0, judged: 0, judgedAccepted: 0 }
const stored = { repository: "main:acme/app", digest: "d1", severity: "high" } as const
const absent = { owner: undefined, floor: undefined, mutedAt: undefined }

describe.each(databases)("rules in $name", ({ layer: fresh }) => {
  layer(fresh())("a rule", (it) => {
    it.effect("is counted with each review, and its findings by what became of them", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const used = [rule("b"), rule("a", { owner: "ada", floor: 0.3 })]
        yield* reviewed(1, used, ["a", "a", "a", "a", "a"], 10)
        yield* reviewed(2, [rule("b")], ["b"], 20)
        yield* reviewed(3, [], [], 30)
        const set = (fingerprint: string, values: Record<string, string>) =>
          sql`UPDATE finding_outcomes SET ${sql.update(values)} WHERE fingerprint = ${fingerprint.padStart(32, "0")}`
        const merged = { settled: "merged", merged_by: "maintainer" }
        yield* set("1-0", { outcome: "fixed", ...merged })
        yield* set("1-1", { outcome: "open_at_merge", ...merged })
        yield* set("1-2", { outcome: "dismissed", dismissed_by: "maintainer" })
        // What an author does is shown and judges nothing.
        yield* set("1-3", { outcome: "dismissed", dismissed_by: "author" })
        yield* set("1-4", { outcome: "partly", settled: "merged", merged_by: "author" })
        assert.deepStrictEqual(yield* health(), [
          {
            ...stored,
            ...absent,
            id: "a",
            owner: "ada",
            floor: 0.3,
            used: 1,
            firstUsedAt: 10,
            lastUsedAt: 10,
            findings: 5,
            accepted: 2,
            dismissed: 2,
            ignored: 1,
            judged: 3,
            judgedAccepted: 1
          },
          { ...stored, ...absent, ...zero, id: "b", used: 2, firstUsedAt: 10, lastUsedAt: 20, findings: 1 }
        ])
        assert.deepStrictEqual(yield* health({ repository: "main:acme/other" }), [])
        assert.lengthOf(yield* health({ repository: "main:acme/app" }), 2)
      })
    )
  })

  layer(fresh())("a muted rule", (it) => {
    it.effect("keeps the time of its muting, and is counted from the beginning with another content", () =>
      Effect.gen(function* () {
        const muted = rule("a", { muted: true })
        yield* reviewed(1, [rule("a")], ["a"], 10)
        yield* reviewed(2, [muted], [], 20)
        yield* reviewed(3, [muted], [], 30)
        const before = { ...stored, ...absent, ...zero, id: "a", used: 1, firstUsedAt: 10, findings: 1 }
        assert.deepStrictEqual(yield* health({ mutedSince: 20 }), [{ ...before, mutedAt: 20, lastUsedAt: 30 }])
        assert.deepStrictEqual(yield* health({ mutedSince: 21 }), [])
        yield* reviewed(4, [rule("a")], [], 40)
        assert.deepStrictEqual(yield* health(), [{ ...before, used: 2, lastUsedAt: 40 }])
        yield* reviewed(5, [muted], [], 50)
        yield* reviewed(6, [rule("a", { digest: "d2", severity: "low" })], ["a"], 60)
        assert.deepStrictEqual(yield* health(), [
          {
            ...before,
            digest: "d2",
            severity: "low",
            used: 1,
            firstUsedAt: 60,
            lastUsedAt: 60,
            findings: 1
          }
        ])
      })
    )

    it.effect("is removed with the runs of its time", () =>
      Effect.gen(function* () {
        yield* Runs.use((runs) => runs.prune({ maxCount: 100, before: 60 }))
        assert.lengthOf(yield* health(), 1)
        yield* Runs.use((runs) => runs.prune({ maxCount: 100, before: 61 }))
        assert.deepStrictEqual(yield* health(), [])
      })
    )
  })
})
