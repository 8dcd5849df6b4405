/** The priority of a command follows the processor time that it used recently. */
import { expect, it } from "vitest"
import { addUsedTime, unused } from "../../../src/vcs/process/ProcessPriority.ts"

/** Returns the steps below the service after each period of 200 ms with so much processor time. */
const stepsAfter = (used: ReadonlyArray<number>): ReadonlyArray<number> => {
  let state = unused
  return used.map((millis) => (state = addUsedTime(state, state.totalMillis + millis, 200)).below)
}

it.each([
  ["a process that starts keeps its priority", [50, 50], [10, 10]],
  ["a process that computes without a pause falls in two steps", [200, 200, 200, 200], [15, 15, 15, 19]],
  ["a process that serves small requests for long keeps its priority", Array(50).fill(20), Array(50).fill(10)],
  ["a priority does not rise again", [200, 0, 0, 0, 0, 0], [15, 15, 15, 15, 15, 15]]
] as const)("%s", (_, used, steps) => {
  expect(stepsAfter(used)).toEqual(steps)
})
