/** A fence whose result comes late is run again: by then another process may have written. */
import { Effect } from "effect"
import { afterEach, expect, it, vi } from "vitest"
import { verbatimReason } from "../../src/domain/Reason.ts"
import { ForgeError } from "../../src/forge/ForgeError.ts"
import { checkFence, WriteOwner } from "../../src/forge/WriteOwner.ts"

afterEach(() => vi.restoreAllMocks())

/** Runs the check of a fence whose runs take so many milliseconds each. */
const check = (durations: ReadonlyArray<number>, result: (run: number) => Effect.Effect<void, ForgeError>) => {
  let now = 0
  let runs = 0
  vi.spyOn(performance, "now").mockImplementation(() => now)
  const fence = Effect.suspend(() => {
    now += durations[runs] ?? 0
    return result(runs++)
  })
  const outcome = Effect.runSync(
    Effect.result(Effect.provideService(checkFence, WriteOwner, { fence, guard: Effect.void }))
  )
  return { runs, outcome: outcome._tag }
}
const holds = () => Effect.void
const lost = new ForgeError({
  reason: "unavailable",
  operation: "publish",
  why: verbatimReason("another node publishes")
})

it.each([
  ["fresh", [2999], 1],
  ["as old as it may be", [3000], 1],
  ["too old", [3001, 10], 2],
  ["too old again and again", [60_000, 4000, 3001, 0], 4]
] as const)("a result that is %s", (_, durations, runs) => {
  expect(check(durations, holds)).toEqual({ runs, outcome: "Success" })
})

it("a process that was frozen during the check learns that another one has taken over", () => {
  const outcome = check([60_000, 1], (run) => (run === 0 ? Effect.void : Effect.fail(lost)))
  expect(outcome).toEqual({ runs: 2, outcome: "Failure" })
})

it("a fence that fails ends the check", () => {
  expect(check([60_000], () => Effect.fail(lost))).toEqual({ runs: 1, outcome: "Failure" })
})
