/** Fields that reasons name, and their values. */
import { describe, expect, it } from "vitest"
import { findSettings } from "../../../src/dashboard/pages/FindSettings.ts"
import { en, inEnglish } from "../../../src/text/en.ts"
import { listFields } from "../../../src/text/Render.ts"
import { verbatimReason } from "../../../src/domain/Reason.ts"
import type { Reason } from "../../../src/domain/Reason.ts"

const value = (path: string, origin: string, given: unknown) => ({ path, origin: verbatimReason(origin), value: given })
const all = [
  value("llm.budget.per_run_usd", "config.yaml:3", 1),
  value("review.exclude", "default", []),
  value("review.skip_drafts", "default", false),
  value("triggers[0].name", "config.yaml:9", "main")
]
const own = [value("review.skip_drafts", "config.yaml:7 (workspaces.instances.a)", true)]

const budget: Reason = { _tag: "BudgetUsedUp", spent: "1", limit: "1", cap: "per_run_usd" }

describe("settings of a reason", () => {
  it.each<readonly [Reason, ReadonlyArray<readonly [name: string, origin: string, isGroup: boolean]>]>([
    [{ _tag: "DraftsSkipped" }, [["review.skip_drafts", "config.yaml:7 (workspaces.instances.a)", false]]],
    [{ _tag: "BudgetEndedReview" }, [["llm.budget", "config.yaml:3", true]]],
    [budget, [["llm.budget.per_run_usd", "config.yaml:3", false]]],
    [{ _tag: "GivenUp", reason: budget, hours: 4 }, [["llm.budget.per_run_usd", "config.yaml:3", false]]],
    [
      { _tag: "FilesExcluded", fields: ["review.exclude", "review.skip_drafts", "review.exclude"] },
      [
        ["review.exclude", "default", false],
        ["review.skip_drafts", "config.yaml:7 (workspaces.instances.a)", false]
      ]
    ],
    [verbatimReason("review.skip_drafts is true"), []]
  ])("%j: %j", (reason, settings) => {
    const names = listFields(en, reason)
    expect(
      findSettings(names, { all, own }).map(({ isGroup, name, origin }) => [name, inEnglish(origin), isGroup])
    ).toEqual(settings)
  })

  it("are at most four", () => {
    const many = Array.from({ length: 9 }, (_, index) => value(`a.b${index}`, "default", index))
    expect(
      findSettings(
        many.map(({ path }) => path),
        { all: many, own: [] }
      )
    ).toHaveLength(4)
  })
})
