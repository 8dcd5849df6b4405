import { describe, expect, it } from "vitest"
import type { SkippedFile } from "../../../src/domain/Coverage.ts"
import { cleanPolicy } from "../../../src/outputs/review/NoProblems.ts"
import { analysis, channel, workspace } from "../Fixtures.ts"

describe("a review that shows no problem", () => {
  const policy = (skipped: ReadonlyArray<SkippedFile>, unread: "neutral" | "fail" | "ignore", partial = false) => {
    const own = workspace({}, { output_language: "en", skip_lgtm: true, unread })
    const of = analysis([], { coverage: { reviewed: ["a"], skipped, lines: 1 }, partial })
    return cleanPolicy(own, channel({}), of)
  }

  it.each(["publish_if_summary", "suppress", undefined] as const)(
    "is published where reports were lost: %s",
    (action) => {
      const coverage = { reviewed: [], skipped: [], lines: 1, unusable: [{ reason: "report" as const, count: 1 }] }
      const of = analysis([], { coverage, partial: true, summary: "" })
      expect(cleanPolicy(workspace(), channel(action === undefined ? {} : { no_problems: { action } }), of)).toBe(
        "publish"
      )
    }
  )

  it.each([
    ["all was read", [], "neutral", "update"],
    ["what was left out is as configured", [{ path: "b", reason: "excluded" }], "fail", "update"],
    ["added text was not read", [{ path: "b", reason: "max_files", unread: true }], "neutral", "publish"],
    ["added text was not read", [{ path: "b", reason: "max_files", unread: true }], "fail", "publish"],
    ["added text was not read", [{ path: "b", reason: "max_files", unread: true }], "ignore", "update"]
  ] as const)("is passed over only where it was read: %s", (_, skipped, unread, expected) => {
    expect(policy(skipped, unread)).toBe(expected)
  })
})
