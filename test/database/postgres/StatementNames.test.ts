import { expect, it } from "vitest"
import { makeStatementNames } from "../../../src/database/postgres/StatementNames.ts"

const limits = { maxNames: 2, maxCounted: 3, longestText: 10, usesBefore: 3 }
const times = (count: number, ask: () => string | undefined) => Array.from({ length: count }, ask)

it("names frequent statements, and keeps the name", () => {
  const nameOf = makeStatementNames(limits)
  expect(times(4, () => nameOf("SELECT 1"))).toEqual([undefined, undefined, "aicr_0", "aicr_0"])
  expect(times(3, () => nameOf("SELECT 2"))).toEqual([undefined, undefined, "aicr_1"])
  expect(nameOf("SELECT 1")).toBe("aicr_0")
})

it("names no more than it may, and nothing long", () => {
  const nameOf = makeStatementNames(limits)
  for (const text of ["a", "b", "c", "long enough not to"]) times(9, () => nameOf(text))
  expect(["a", "b", "c", "long enough not to"].map(nameOf)).toEqual(["aicr_0", "aicr_1", undefined, undefined])
})

it("forgets what it counted when there is too much of it", () => {
  const nameOf = makeStatementNames(limits)
  for (const text of ["a", "a", "b", "c", "d", "a", "a"]) expect(nameOf(text)).toBeUndefined()
  expect(nameOf("a")).toBe("aicr_0")
})
