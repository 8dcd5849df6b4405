/** Runs test files with fields cut, many cuts in one process, and returns the outcome of each test. */
import { execFile } from "node:child_process"
import { mkdtemp, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"

const root = join(import.meta.dirname, "../..")

/** Nothing is cut. */
export const uncut = "nothing"

export interface Cut {
  readonly path: string
  readonly files: ReadonlyArray<string>
}

export interface TestState {
  readonly path: string
  readonly file: string
  /** Empty where the file did not load. */
  readonly test: string
  readonly state: string
}

export const runCuts = async (cuts: ReadonlyArray<Cut>): Promise<ReadonlyArray<TestState>> => {
  const folder = await mkdtemp(join(tmpdir(), "aicr-mutate-"))
  const report = join(folder, "report.json")
  await new Promise<void>((resolve) => {
    execFile(
      process.execPath,
      [join(root, "node_modules/vitest/vitest.mjs"), "run", "--config", "test/mutate/vitest.config.ts"],
      {
        cwd: root,
        env: { ...process.env, AICR_CUTS: JSON.stringify(cuts), AICR_CUT_REPORT: report },
        maxBuffer: 64 * 1024 * 1024
      },
      () => resolve()
    )
  })
  const text = await readFile(report, "utf8").catch(() => "[]")
  await rm(folder, { recursive: true, force: true })
  const states: ReadonlyArray<TestState> = JSON.parse(text)
  return states
}

/** Number of cuts per process. */
export const waves = <A>(items: ReadonlyArray<A>, size = 20): ReadonlyArray<ReadonlyArray<A>> =>
  Array.from({ length: Math.ceil(items.length / size) }, (_, index) => items.slice(index * size, (index + 1) * size))
