/** Texts about the relation of a finding to earlier rounds. */
import { expect, it } from "vitest"
import { shownRound } from "../../../src/dashboard/parts/RoundText.ts"

it.each([
  ["a finding of the first round", { kind: "new", since: 1 }, undefined],
  ["a new finding of a later round", { kind: "new", since: 2 }, "new"],
  ["a late finding", { kind: "late", since: 2 }, "late"],
  ["a finding that an earlier round reported", { kind: "carried", since: 1 }, undefined],
  ["a finding of a review without rounds", undefined, undefined]
] as const)("%s", (_, round, expected) => {
  expect(shownRound(round)).toBe(expected)
})
