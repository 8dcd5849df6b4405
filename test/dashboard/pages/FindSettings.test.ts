/** Settings that texts of the service name, and their values. */
import { describe, expect, it } from "vitest"
import { findSettings } from "../../../src/dashboard/pages/FindSettings.ts"
import { inEnglish } from "../../../src/text/en.ts"
import { verbatimReason } from "../../../src/domain/Reason.ts"

const value = (path: string, origin: string, given: unknown) => ({ path, origin: verbatimReason(origin), value: given })
const all = [
  value("llm.budget.per_run_usd", "config.yaml:3", 1),
  value("review.exclude", "default", []),
  value("review.skip_drafts", "default", false),
  value("triggers[0].name", "config.yaml:9", "main")
]
const own = [value("review.skip_drafts", "config.yaml:7 (workspaces.instances.a)", true)]

describe("settings in a text", () => {
  it.each([
    ["review.skip_drafts is true", [["review.skip_drafts", "config.yaml:7 (workspaces.instances.a)", false]]],
    ["the budget (llm.budget) is exhausted.", [["llm.budget", "config.yaml:3", true]]],
    ["raise review.exclude, or review.exclude", [["review.exclude", "default", false]]],
    ["GET https://git.example.com/a.b returned 404", []],
    ["review is a word", []],
    ["", []]
  ] as const)("%j: %j", (text, settings) => {
    expect(
      findSettings([text], { all, own }).map(({ isGroup, name, origin }) => [name, inEnglish(origin), isGroup])
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
