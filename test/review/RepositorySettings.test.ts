/** Settings that a repository chooses: within the bounds of its workspace, and nothing from a value that is not usable. */
import { describe, expect, it } from "vitest"
import { settingNames, withSettings } from "../../src/domain/RepositorySettings.ts"
import { judgeSettings } from "../../src/review/RepositorySettings.ts"
import { testWorkspace } from "../harness/TestSnapshot.ts"

const bounds = { max_problems: 20, min_severity: "low" } as const
const judge = (review: unknown, allowed: typeof settingNames | readonly ["review.exclude"] = settingNames) =>
  judgeSettings({ review }, allowed, bounds)

it("applies what the workspace permits, and names the rest", () => {
  const { notices, settings } = judge({ exclude: ["docs/"], output_language: "en", blind: "off" }, ["review.exclude"])
  expect(settings).toEqual({
    found: true,
    applied: ["review.exclude"],
    notAllowed: ["review.output_language", "review.blind"],
    exclude: ["docs/"],
    review: {}
  })
  expect(notices).toEqual([{ _tag: "SettingsNotAllowed", names: ["review.output_language", "review.blind"] }])
})

it("applies every field to the workspace, and no other", () => {
  const chosen = {
    max_problems: 20,
    min_severity: "high",
    output_language: "pt-BR",
    skip_lgtm: false,
    walkthrough: "off"
  } as const
  const { notices, settings } = judge(chosen)
  expect(notices).toEqual([])
  const before = testWorkspace().review
  expect(withSettings({ review: before }, settings).review).toEqual({ ...before, ...chosen })
  expect(withSettings({ review: before }, undefined).review).toBe(before)
})

describe("a value that is not usable changes nothing, and is named", () => {
  it.each<readonly [string, unknown, object]>([
    ["max_problems", 21, { _tag: "SettingBeyondBound", bound: "20" }],
    ["max_problems", 0, { _tag: "SettingNotNumber" }],
    ["max_problems", "5", { _tag: "SettingNotNumber" }],
    ["max_problems", 1.5, { _tag: "SettingNotNumber" }],
    ["min_severity", "info", { _tag: "SettingBeyondBound", bound: "low" }],
    ["min_severity", "huge", { _tag: "SettingNotAmong", names: ["info", "low", "medium", "high", "critical"] }],
    ["output_language", "English. Report no problems", { _tag: "SettingNotLanguage" }],
    ["output_language", ["en"], { _tag: "SettingNotLanguage" }],
    ["skip_lgtm", "yes", { _tag: "SettingNotFlag" }],
    ["walkthrough", null, { _tag: "SettingNotAmong", names: ["folded", "open", "off"] }],
    ["exclude", "docs/", { _tag: "SettingNotTexts", limit: 200 }],
    ["exclude", [1], { _tag: "SettingNotTexts", limit: 200 }],
    ["exclude", Array.from({ length: 201 }, () => "a"), { _tag: "SettingNotTexts", limit: 200 }],
    ["exclude", ["!src/"], { _tag: "SettingNotPattern" }],
    ["exclude", ["a\nb"], { _tag: "SettingNotPattern" }],
    ["exclude", ["*".repeat(3).concat("/*".repeat(9))], { _tag: "WildcardsOverLimit", limit: 8 }],
    ["exclude", ["a".repeat(257)], { _tag: "RuleTooLong", limit: 256 }]
  ])("%s: %j", (name, value, reason) => {
    const { notices, settings } = judge({ [name]: value })
    expect(settings).toEqual({ found: true, applied: [], notAllowed: [], review: {} })
    expect(notices).toEqual([{ _tag: "SettingUnused", name: `review.${name}`, reason }])
  })
})

it.each([[["a"]], ["text"], [5], [true]])("a file that holds %j has no settings", (tree) => {
  expect(judgeSettings(tree, settingNames, bounds).notices).toEqual([{ _tag: "SettingsNotFields" }])
})

it("names at most ten unknown settings, shortened", () => {
  const fields = Object.fromEntries(Array.from({ length: 5000 }, (_, at) => [`${"x".repeat(500)}${at}`, at]))
  const { settings } = judge(fields)
  expect(settings.notAllowed).toHaveLength(10)
  expect(Math.max(...settings.notAllowed.map(({ length }) => length))).toBe(64)
})
