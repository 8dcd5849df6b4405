/**
 * Bundles a script that a suite starts as a process again and again: the bundle starts in a fraction of the time of its two thousand modules.
 * It is kept with the other caches of tests, so that its compiled code is used again, and is made again in every process of tests.
 */
import { renameSync, rmSync } from "node:fs"
import { basename, join } from "node:path"
import { bundleScript, loadBundler, root } from "../../src/app/program/Bundle.mjs"

/** Folder of compiled code. A script that is killed stores it explicitly (`flushCompileCache`). */
export const compiledCode = join(root, "node_modules/.cache/aicr-tests")

const made = new Map<string, Promise<string>>()

const make = async (script: string): Promise<string> => {
  const bundler = await loadBundler()
  if (bundler === undefined) throw new Error("the bundler is not installed; run npm ci")
  const name = basename(script, ".ts")
  const folder = join(compiledCode, "bundles")
  const own = join(folder, String(process.pid))
  await bundleScript(bundler, own, { [name]: script })
  // Other processes of tests may run the same script.
  const path = join(folder, `${name}.mjs`)
  renameSync(join(own, `${name}.mjs`), path)
  rmSync(own, { recursive: true, force: true })
  return path
}

/** Returns the path of the bundle of a script. Its modules find files in the folders of their sources. */
export const bundledScript = (script: string): Promise<string> => {
  const path = made.get(script) ?? make(script)
  made.set(script, path)
  return path
}
