import { expect, it } from "vitest"
import { renderTimes } from "./TimeReport.ts"

it("the times of a run are its sums and the files that use the processor most", () => {
  const times = Array.from({ length: 30 }, (_, at) => ({ file: `test/${at}`, wallSeconds: 4, processorSeconds: at }))
  const [sums, head, first, ...others] = renderTimes(times, 300, 2).split("\n")
  expect(sums).toBe(
    "30 files of tests took 435 s of the processor and 120 s one after the other, in 300 s: 73 % of 2 processors"
  )
  expect(head).toBe("processor     wall")
  expect(first).toBe("     29.0      4.0  test/29")
  expect(others).toHaveLength(19)
  expect(others.at(-1)).toBe("     10.0      4.0  test/10")
})
