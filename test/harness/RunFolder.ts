/**
 * Gives the temporary files of a run of the suites a folder of their own, and removes it with all that tests and their programs left. The
 * processes of the suites keep the code that they compiled, as the service does.
 */
import { execFileSync } from "node:child_process"
import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { compiledCode } from "./BundledScript.ts"
import { reportTimes } from "./TimeReport.ts"

const name = "AICR_TEST_RUN_FOLDER"

/** Returns what removes the folder. */
const makeFolder = (): (() => void) => {
  // Another project of this run has made it.
  if (process.env[name] !== undefined) return () => undefined
  // A short name: paths of sockets are limited to 107 bytes.
  const folder = mkdtempSync(join(tmpdir(), "t-"))
  // Some servers run as users of their own.
  chmodSync(folder, 0o1777)
  process.env[name] = process.env["TMPDIR"] = folder
  return () => {
    try {
      rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
    } catch {
      // A server that ends only now removes its own folder.
    }
  }
}

/** Gives the temporary files of this program a folder that is removed when the program ends, also by a signal. */
export const ownFolder = (): void => {
  process.once("exit", makeFolder())
  for (const signal of ["SIGHUP", "SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1))
}

/** Maximum number of compiled modules to keep: about 150 MB. */
const maxCompiled = 20_000

/** Node compiles the files of tests in each run, because vitest loads them from a new address. Removes what many runs left. */
const limitCompiledCode = (): void => {
  if (!existsSync(compiledCode)) return
  for (const version of readdirSync(compiledCode)) {
    const folder = join(compiledCode, version)
    // Another run may be writing to it.
    if (readdirSync(folder).length > maxCompiled) rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
  }
}

/** The number of the commit, so that the samples of a run can be repeated, and every member of their tables has its turn. */
const seedOfCommit = (): string => {
  try {
    const head = execFileSync("git", ["rev-parse", "HEAD"], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] })
    return String(Number.parseInt(head.slice(0, 7), 16))
  } catch {
    return "1"
  }
}

const setup = (): (() => void) => {
  process.env["AICR_TEST_SEED"] ??= seedOfCommit()
  limitCompiledCode()
  process.env["NODE_COMPILE_CACHE"] ??= compiledCode
  const startedAt = performance.now()
  const isFirst = process.env[name] === undefined
  const remove = makeFolder()
  return () => {
    if (isFirst) reportTimes((performance.now() - startedAt) / 1000)
    remove()
  }
}

export default setup
