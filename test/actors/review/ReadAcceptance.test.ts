/** Earlier findings of the repository as input of a review, and the statements that they cost. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Logger } from "effect"
import { readAcceptance } from "../../../actors/review/ReadAcceptance.ts"
import { StoreError } from "../../../src/database/StoreError.ts"
import type { Change } from "../../../src/domain/Change.ts"
import type { JudgedFinding } from "../../../src/domain/JudgedFinding.ts"
import { Outcomes } from "../../../src/store/Outcomes.ts"
import { verbatimReason } from "../../../src/domain/Reason.ts"
import type { GivenDocument } from "../../../src/config/Document.ts"
import { testWorkspace } from "../../harness/TestSnapshot.ts"

const change: Change = {
  provider: "gitea",
  trigger: "t",
  workspace: "w",
  repo: { fullName: "Team/App" },
  target: { kind: "pull_request", number: 1 }
}
const judged = Array.from({ length: 20 }, (_, at): JudgedFinding => ({
  targetKey: `t:team/app#${at}`,
  category: "style",
  severity: "low",
  model: "p/m",
  path: "a.ts",
  title: "Name it better",
  judgement: "ignored",
  decidedAt: at,
  restricted: false
}))
const outcomes = (calls: Array<string>, isBroken = false) =>
  Layer.mock(Outcomes, {
    judged: (repository) => {
      calls.push(repository)
      return isBroken
        ? Effect.fail(
            new StoreError({ reason: "unavailable", operation: "outcomes.judged", why: verbatimReason("gone") })
          )
        : Effect.succeed(judged)
    },
    judgedEverywhere: Effect.sync(() => {
      calls.push("everywhere")
      return []
    })
  })
const read = (review: GivenDocument["review"], calls: Array<string>, isBroken = false) =>
  readAcceptance({ change }, testWorkspace({ review })).pipe(
    Effect.provide([outcomes(calls, isBroken), Logger.layer([])])
  )

describe("review.acceptance_floor", () => {
  it.effect("selects the kinds of findings that are folded", () =>
    Effect.gen(function* () {
      const calls: Array<string> = []
      const folded = yield* read({ acceptance_floor: 0.2 }, calls)
      assert.deepInclude(folded, { floor: 0.2, wordings: [], examples: [] })
      assert.deepStrictEqual(
        folded?.groups.map(({ category, isFolded, share }) => [category, share, isFolded]),
        [["maintainability", 0.115, true]]
      )
      assert.deepStrictEqual(calls, ["t:team/app", "everywhere"])
      assert.isFalse((yield* read({ acceptance_floor: 0.1 }, []))?.groups[0]?.isFolded)
    })
  )

  it.effect("reads nothing without one", () =>
    Effect.gen(function* () {
      const calls: Array<string> = []
      assert.isUndefined(yield* read({}, calls))
      assert.deepStrictEqual(calls, [])
    })
  )

  it.effect("folds nothing if the records cannot be read", () =>
    Effect.gen(function* () {
      assert.isUndefined(yield* read({ acceptance_floor: 0.2 }, [], true))
    })
  )
})
