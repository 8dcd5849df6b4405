/**
 * Files of tests that take turns in `npm test`: each takes more than six seconds of the processor (`dist/test-times.tsv`), most of them for the programs
 * that they start. A sixth of them runs after each commit, by the number of the run (RunFolder.ts), and those that the commit changes. Files that are next to each other in the list
 * run after different commits: they are sorted by what they test.
 */
import { execFileSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { join } from "node:path"

const files = readFileSync(join(import.meta.dirname, "turns.txt"), "utf8")
  .trimEnd()
  .split("\n")

export const takesTurns = (file: string): boolean => files.includes(file)

/** Least number of files of a run of all: one of fewer files, such as those of a folder, runs each of them. */
export const leastOfAll = 400

const turns = 6

/** Whether a file runs. */
export const isTurn = (file: string, seed = Number(process.env["AICR_TEST_SEED"] ?? 1)): boolean =>
  process.env["AICR_TEST_TURNS"] === "all" || !takesTurns(file) || (files.indexOf(file) + seed) % turns === 0

/** Lists the files of tests that the newest commit and the working tree change, none without a commit before. */
export const changedFiles = (): ReadonlyArray<string> => {
  try {
    return execFileSync("git", ["diff", "--name-only", "HEAD~1", "--", ".."], {
      cwd: import.meta.dirname,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"]
    }).split("\n")
  } catch {
    return []
  }
}
