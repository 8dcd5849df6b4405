/**
 * Bundles the program before suites that start it, if its sources have changed since: processes then start in half the processor time. Without the
 * bundler, or if the sources cannot be bundled, the suites run the sources.
 */
import { spawnSync } from "node:child_process"
import { join } from "node:path"
import { findProgram } from "../../src/app/program/FindProgram.mjs"

const root = join(import.meta.dirname, "../..")

export const bundleProgram = (): void => {
  if (findProgram(root).isBundled) return
  spawnSync(process.execPath, [join(root, "src/app/program/Build.mjs"), "--warm"], { stdio: "ignore" })
}
