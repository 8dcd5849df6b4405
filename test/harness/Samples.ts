/**
 * `npm test` tries a sample of what is more than 12 kills, 40 cases or ten seconds of waiting. These variables extend it to the whole, and so
 * does `npm run soak -- NAME`, with the name of the variable after its prefix: `host-kills` for `AICR_TEST_HOST_KILLS`.
 */
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { takesTurns } from "./Turns.ts"

const prefix = "AICR_TEST_"
const root = join(import.meta.dirname, "../..")

/** The value with which a suite is tried as a whole. */
export const wholes = {
  AICR_TEST_AGENTS: "all",
  AICR_TEST_BACKENDS: "all",
  AICR_TEST_CASES: "all",
  AICR_TEST_CATCH_UP: "all",
  AICR_TEST_CHANGES: "500",
  AICR_TEST_CHAT: "10000",
  AICR_TEST_CLOCKS: "all",
  AICR_TEST_COMMITS: "300",
  AICR_TEST_CONVERSATIONS: "all",
  AICR_TEST_FAULTS: "all",
  AICR_TEST_FILE_MB: "1024",
  AICR_TEST_HOOK_KILLS: "all",
  AICR_TEST_HOSTILE_REPLIES: "all",
  AICR_TEST_HOSTS: "all",
  AICR_TEST_HOST_KILLS: "all",
  AICR_TEST_KILLS: "500",
  AICR_TEST_MICROVM: "all",
  AICR_TEST_PAGES: "all",
  AICR_TEST_PENDING: "all",
  AICR_TEST_PUSHED_ISSUES: "all",
  AICR_TEST_QUESTIONS: "1000",
  AICR_TEST_REPLAYS: "1000",
  AICR_TEST_RESPONSES: "1000",
  AICR_TEST_REVISIONS: "500",
  AICR_TEST_SANDBOX: "all",
  AICR_TEST_SCALE: "10",
  AICR_TEST_TEXTS: "all",
  AICR_TEST_TURNS: "all"
} as const

export type Sampled = keyof typeof wholes

export const isSampled = (variable: string): variable is Sampled => Object.hasOwn(wholes, variable)

/** Whether the variable is set to `all`. */
export const isWhole = (variable: Sampled): boolean => process.env[variable] === "all"

/** Every `step`-th item, or all of them. */
export const takeSample = <A>(variable: Sampled, items: ReadonlyArray<A>, step: number): ReadonlyArray<A> =>
  isWhole(variable) ? items : items.filter((_, index) => index % step === 0)

/** Number of the run, which decides whose turn it is. */
const seed = Number(process.env["AICR_TEST_SEED"] ?? 1)

/**
 * One item, or all of them: what is tested at several hosts or stores runs at one of them in `npm test`, and at another one after another commit
 * (RunFolder.ts). Suites with different offsets take different ones.
 */
export const takeTurn = <A>(variable: Sampled, items: ReadonlyArray<A>, offset = 0): ReadonlyArray<A> =>
  isWhole(variable) ? items : items.filter((_, index) => index === (seed + offset) % items.length)

/** Whether a pair of a table is tried: every `step`-th one of each row and of each column, or all of them. */
export const isPairTried = (variable: Sampled, row: number, column: number, step: number): boolean =>
  isWhole(variable) || (row + column) % step === 0

export const toName = (variable: Sampled): string => variable.slice(prefix.length).toLowerCase().replaceAll("_", "-")

/** Returns the variable of a name. */
export const findSample = (name: string): Sampled | undefined => {
  const variable = `${prefix}${name.toUpperCase().replaceAll("-", "_")}`
  return isSampled(variable) && toName(variable) === name ? variable : undefined
}

/** Lists the files of tests that a variable extends: they name it, or take turns. */
export const listFiles = (variable: Sampled): ReadonlyArray<string> =>
  readdirSync(join(root, "test"), { recursive: true, encoding: "utf8" })
    .map((name) => `test/${name}`)
    .filter((name) => name.endsWith(".test.ts"))
    .filter((name) =>
      variable === "AICR_TEST_TURNS" ? takesTurns(name) : readFileSync(join(root, name), "utf8").includes(variable)
    )
