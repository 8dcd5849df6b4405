/** Texts of lists and pages about a delivery that reviewed nothing. */
import { expect, it } from "vitest"
import { shownOutcome, whyNothing } from "../../../src/dashboard/parts/DeliveryTexts.ts"
import { pageTexts } from "../../../src/text/en/Pages.ts"

it.each([
  ["a review", { outcome: "executed" }, "executed"],
  ["a requested review", { outcome: "executed", command: "review" }, "executed"],
  ["a command that reviews nothing", { outcome: "executed", command: "help" }, "command"],
  ["a command that failed", { outcome: "failed", command: "help" }, "failed"]
])("the outcome of %s", (_, more, expected) => {
  expect(shownOutcome({ decision: "queued", ...more })).toBe(expected)
})

it("a comment without a command has a sentence of its own on every page", () => {
  const comment = { decision: "ignored", event: "issue_comment", reason: "unsupported_action" }
  expect(whyNothing(comment)).toBe("no_command")
  expect(pageTexts["why.no_command"]).toContain("/aicr review")
  expect(whyNothing({ ...comment, event: "pull_request" })).toBe("unsupported_action")
})
