/** Reviews that wait for the CI runs of their head, and notices about runs that they did not wait for. */
import { describe, expect, it } from "vitest"
import { decideCiWait, describeCiRuns } from "../../../actors/review/AwaitCi.ts"
import type { CiProgress } from "../../../actors/review/AwaitCi.ts"
import { inEnglish } from "../../../src/text/en.ts"

const known = (runs: number, ended: number): CiProgress => ({ _tag: "Known", runs, ended })
const unknown: CiProgress = { _tag: "Unknown" }
const unreadable: CiProgress = { _tag: "Unreadable" }
const second = 1000
const minute = 60 * second

describe("decideCiWait", () => {
  it.each<readonly [string, number, number, CiProgress, number | undefined]>([
    ["does not wait without a limit", 0, 0, known(2, 1), undefined],
    ["waits for runs that have not ended", 10, 0, known(2, 1), 5 * second],
    ["does not wait for runs that have ended", 10, 0, known(2, 2), undefined],
    ["waits longer between attempts the longer it lasts", 10, 2 * minute, known(2, 1), 30 * second],
    ["waits at most a minute between attempts", 30, 20 * minute, known(2, 1), minute],
    ["ends with the limit", 10, 9.9 * minute, known(2, 1), 0.1 * minute],
    ["goes on at the limit", 10, 10 * minute, known(2, 1), undefined],
    ["waits a minute for the first run", 10, 59 * second, known(0, 0), 14.75 * second],
    ["goes on where there is no run after a minute", 10, minute, known(0, 0), undefined],
    ["waits for a host that does not respond", 10, 2 * minute, unknown, 30 * second],
    ["goes on where the host refuses", 10, 0, unreadable, undefined]
  ])("%s", (_, waitMinutes, lasted, progress, delay) => {
    const until = decideCiWait({ since: 5000, now: 5000 + lasted, waitMinutes, progress, random: 0.5 })
    expect(until === undefined ? undefined : until - 5000 - lasted).toBe(delay)
  })

  it("spreads attempts by a quarter", () => {
    const at = (random: number) =>
      decideCiWait({ since: 0, now: 2 * minute, waitMinutes: 10, progress: known(1, 0), random })
    expect([at(0), at(0.999)]).toEqual([2 * minute + 22.5 * second, 2 * minute + Math.round(37.485 * second)])
  })
})

describe("describeCiRuns", () => {
  it.each<readonly [CiProgress, number, string | undefined]>([
    [known(0, 0), 0, "The host has no CI run of this commit."],
    [known(3, 3), 0, undefined],
    [known(3, 1), 0, "2 of 3 CI runs of this commit had not ended; what they store later was not read."],
    [
      known(3, 2),
      20,
      "1 of 3 CI runs of this commit had not ended after 20 minutes (review.evidence.ci.wait_minutes); what they store later was not read."
    ],
    [unreadable, 0, undefined]
  ])("%j after %i minutes: %s", (progress, minutes, notice) => {
    const reason = describeCiRuns(progress, minutes)
    expect(reason && inEnglish(reason)).toBe(notice)
  })
})
