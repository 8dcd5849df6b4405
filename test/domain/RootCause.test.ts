import { expect, it } from "vitest"
import { causeName, rootCause } from "../../src/domain/RootCause.ts"
import type { Reason } from "../../src/domain/Reason.ts"

const refused: Reason = { _tag: "BudgetEndedReview" }

it.each<readonly [name: string, reason: Reason, cause: Reason]>([
  ["a reason by itself", refused, refused],
  ["what a reason passes on", { _tag: "NoResult", reason: { _tag: "NoSummary", reason: refused } }, refused],
  [
    "the first of several",
    { _tag: "Several", reasons: [{ _tag: "NoSummary", reason: refused }, { _tag: "NoModelGroups" }] },
    refused
  ],
  ["no reason of several", { _tag: "Several", reasons: [] }, { _tag: "Several", reasons: [] }]
])("the cause is %s", (_, reason, cause) => {
  expect(rootCause(reason)).toEqual(cause)
})

it("groups have the names of tags, and reasons in the words of a program differ by their words", () => {
  expect([causeName(refused), causeName({ _tag: "Text", text: "a" }), causeName({ _tag: "Text", text: "b" })]).toEqual([
    "BudgetEndedReview",
    "Text a",
    "Text b"
  ])
})
