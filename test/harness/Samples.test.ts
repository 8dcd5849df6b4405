/** The suites of which `npm test` tries a sample: each one can be tried as a whole, and CONTRIBUTING.md lists them. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, it } from "vitest"
import { listFiles, findSample, isSampled, toName, wholes } from "./Samples.ts"
import { isTurn } from "./Turns.ts"

const variables = Object.keys(wholes).filter(isSampled)

it("a suite is named by its variable", () => {
  for (const variable of variables) expect(findSample(toName(variable))).toBe(variable)
  expect(findSample("host-kills")).toBe("AICR_TEST_HOST_KILLS")
  expect(findSample("HOST_KILLS")).toBeUndefined()
  expect(findSample("others")).toBeUndefined()
})

it("each variable has a test, and CONTRIBUTING.md lists it with its whole value", () => {
  expect(variables.filter((variable) => listFiles(variable).length === 0)).toEqual([])
  const text = readFileSync(join(import.meta.dirname, "../../CONTRIBUTING.md"), "utf8")
  const listed = [...text.matchAll(/^\| `(AICR_TEST_\w+=\w+)` \|/gm)].map(([, row]) => row)
  expect(listed.toSorted()).toEqual(variables.map((variable) => `${variable}=${wholes[variable]}`))
})

it("expensive files exist, in the order of their names, and each runs after one of four commits", () => {
  const files = listFiles("AICR_TEST_TURNS")
  const text = readFileSync(join(import.meta.dirname, "turns.txt"), "utf8").trimEnd()
  expect(files.toSorted().join("\n")).toBe(text)
  for (const file of files) expect([1, 2, 3, 4, 5, 6].filter((seed) => isTurn(file, seed))).toHaveLength(1)
  expect([1, 2, 3].every((seed) => isTurn("test/harness/Samples.test.ts", seed))).toBe(true)
})
