/** Changes without a report are reviewed, wait for the next search, or are too old or too many. */
import { expect, it } from "vitest"
import { reportMillis, selectMissed } from "../../../actors/depots/MissedReports.ts"

const hour = 3_600_000
const now = 1_800_000_000_000

/** Selects among changes of these ages in milliseconds, by their number; undefined: the server names no time. */
const select = (
  ages: Readonly<Record<number, number | undefined>>,
  over: Partial<Parameters<typeof selectMissed>[1]> = {}
) => {
  const changes = Object.entries(ages)
    .map(([revision, age]) => ({
      revision: Number(revision),
      author: "ada",
      at: age === undefined ? undefined : now - age
    }))
    .toReversed()
  const limits = { isReported: () => false, waitsForReports: false, maxAgeMillis: 72 * hour, maxChanges: 3, now }
  const { chosen, mark, skipped } = selectMissed(changes, { ...limits, ...over })
  return [chosen.map(({ revision }) => revision), skipped, mark === Number.MAX_SAFE_INTEGER ? "all" : mark]
}

it("the newest ones are chosen, and the others are counted", () => {
  expect(select({ 5: hour, 6: hour, 7: hour, 8: hour, 9: hour })).toEqual([[7, 8, 9], 2, "all"])
  expect(select({})).toEqual([[], 0, "all"])
})

it("reported ones are neither chosen nor counted", () => {
  const isReported = ({ revision }: { readonly revision: number }) => revision % 2 === 1
  expect(select({ 5: hour, 6: hour, 7: hour, 8: 100 * hour }, { isReported })).toEqual([[6], 1, "all"])
})

it("the age is that of the server's clock; one without a time is young enough", () => {
  expect(select({ 5: 72 * hour, 6: 72 * hour + 1, 7: undefined })).toEqual([[5, 7], 1, "all"])
})

it("one whose report may still come is left by a beat, and listed again in any case", () => {
  const ages = { 5: hour, 6: reportMillis, 7: reportMillis - 1, 8: 0 }
  expect(select(ages, { waitsForReports: true })).toEqual([[5, 6], 0, 6])
  expect(select(ages, { maxChanges: 9 })).toEqual([[5, 6, 7, 8], 0, 6])
  // The clock of the server is ahead.
  expect(select({ 5: -1, 6: -hour }, { waitsForReports: true })).toEqual([[5, 6], 0, "all"])
})
