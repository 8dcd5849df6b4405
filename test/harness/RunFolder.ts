/**
 * Gives the temporary files of a run of the suites a folder of their own, and removes it with all that tests and their programs left. The
 * processes of the suites keep the code that they compiled, as the service does.
 */
import { chmodSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { compiledCode } from "./BundledScript.ts"

const name = "AICR_TEST_RUN_FOLDER"

const setup = (): (() => void) => {
  // Another project of this run has made it.
  if (process.env[name] !== undefined) return () => undefined
  // A short name: paths of sockets are limited to 107 bytes.
  const folder = mkdtempSync(join(tmpdir(), "t-"))
  // Some servers run as users of their own.
  chmodSync(folder, 0o1777)
  process.env[name] = process.env["TMPDIR"] = folder
  process.env["NODE_COMPILE_CACHE"] ??= compiledCode
  return () => {
    try {
      rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
    } catch {
      // A server that ends only now removes its own folder.
    }
  }
}

export default setup
