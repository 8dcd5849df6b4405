/** The rule for the tests of `npm run test:fast`. */
import { existsSync } from "node:fs"
import { join } from "node:path"
import { expect, it } from "vitest"
import { fastFiles, isFast, listImports } from "./FastFiles.ts"

const root = join(import.meta.dirname, "../..")

it("what a test imports is followed through files of tests, and not into the sources", () => {
  const imports = listImports("test/scenarios/Deliveries.test.ts")
  expect([...imports]).toEqual(expect.arrayContaining(["node:child_process", "demo/DemoForge.ts"]))
  expect([...imports].filter((name) => name.startsWith("test/") && name.endsWith(".ts"))).toEqual([])
  expect([...listImports("test/harness/RunFolder.ts")]).toContain("src/app/program/Bundle.mjs")
})

it("a test that starts a program, a server or a browser, draws random inputs or takes long, is not fast", () => {
  expect(isFast("test/scenarios/Deliveries.test.ts")).toBe(false)
  expect(isFast("test/scenarios/Dashboard.test.ts")).toBe(false)
  expect(isFast("test/store/Ledger.test.ts")).toBe(false)
  expect(isFast("test/config/Matcher.test.ts")).toBe(false)
  expect(isFast("test/outputs/SafeTextHostile.test.ts")).toBe(false)
  expect(isFast("test/actors/review/ReviewExecutor.test.ts")).toBe(false)
})

it("the others are, and no folder of fuzzing or benchmarks", () => {
  const files = fastFiles()
  expect(files.length).toBeGreaterThan(200)
  expect(files).toContain("test/domain/Verdict.test.ts")
  expect(
    files.filter((file) => !existsSync(join(root, file)) || /^test\/(?:bench|fuzz|scenarios)\//.test(file))
  ).toEqual([])
})
