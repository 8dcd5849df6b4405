/** Counts of findings by group on real databases, in a period and in the one before it. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { LeaseToken } from "../../../src/domain/FencingToken.ts"
import type { Finding } from "../../../src/domain/Problem.ts"
import { Outcomes } from "../../../src/store/Outcomes.ts"
import { Runs } from "../../../src/store/Runs.ts"
import { databases } from "../Databases.ts"
import { by, publishRun, settle } from "../EndedRuns.ts"
import { publishing } from "../Outcomes.ts"

const finding = (name: string, category: string, rule?: string): Finding => ({
  fingerprint: name.repeat(32),
  problem: { file: "a.ts", severity: "high", category, message: name, ...(rule === undefined ? {} : { rule }) },
  anchor: undefined
})

/** Publishes a review of a pull request with findings at a time. */
const found = Effect.fnUntraced(function* (number: number, at: number, findings: ReadonlyArray<Finding>) {
  const run = yield* publishing(number, LeaseToken.make(1), { findings })
  yield* (yield* Runs).settle(run.id, "succeeded", { partial: false, by }, at)
})

describe.each(databases)("findings by group in $name", ({ layer }) => {
  it.effect("count once, in the period in which they were found", () =>
    Effect.gen(function* () {
      yield* found(1, 50, [finding("a", "bug", "no-eval")])
      yield* found(2, 150, [finding("b", "logic error"), finding("c", "security", "no-eval")])
      yield* found(3, 250, [finding("d", "bug")])
      yield* found(4, 300, [finding("e", "style")])
      const outcomes = yield* Outcomes
      const groups = (name: "category" | "rule" | "workspace" | "severity" | "repository") =>
        Effect.map(outcomes.groups({ by: name, since: 100, until: 200 }), (all) =>
          all.map((group) => [group.name, group.found, group.foundBefore])
        )
      assert.deepStrictEqual(yield* groups("category"), [
        ["correctness", 1, 1],
        ["security", 1, 0]
      ])
      assert.deepStrictEqual(yield* groups("rule"), [["no-eval", 1, 1]])
      assert.deepStrictEqual(yield* groups("severity"), [["high", 2, 1]])
      assert.deepStrictEqual(yield* groups("workspace"), [["app", 2, 1]])
      assert.deepStrictEqual(yield* groups("repository"), [["main:acme/app", 2, 1]])
      const later = yield* outcomes.groups({ by: "category", since: 200, until: 400 })
      assert.deepStrictEqual(
        later.map((group) => [group.name, group.found, group.foundBefore]),
        [
          ["correctness", 1, 2],
          ["maintainability", 1, 0],
          ["security", 0, 1]
        ]
      )
      assert.deepInclude(later[0], { fixed: 0, dismissed: 0, withdrawn: 0, dismissedBefore: 0 })
    }).pipe(Effect.provide(layer()))
  )

  it.effect("count by the author of the change in the record of the run", () =>
    Effect.gen(function* () {
      for (const [number, author] of ["Ada", "ada", "o'Brien", "n\u0000l\ud800"].entries())
        yield* settle(yield* publishRun({ number, author }), 150)
      yield* settle(yield* publishRun({ number: 9 }), 150)
      const groups = yield* Outcomes.use(({ authors }) => authors({ since: 100, until: 200 }))
      const names = groups.map((group) => `${group.name} ${group.found}`)
      assert.strictEqual(names[0], "main:ada 2")
      assert.include(names, "main:o'brien 1")
      assert.lengthOf(names, 3)
    }).pipe(Effect.provide(layer()))
  )
})
