/**
 * Preloaded into a process: writes down the packages that it and its threads load, one a line, in the file of `LOADED_PACKAGES`; of a bundle those
 * that are part of it.
 */
import { appendFileSync, readFileSync } from "node:fs"
import { registerHooks } from "node:module"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { observeScripts } from "./ObserveScripts.ts"

const recorded = process.env["LOADED_PACKAGES"]
const seen = new Set<string>()

const bundled = /^(.*\/dist\/program)\/([^/]+\.[cm]js)$/
const packagesOf = (file: string): ReadonlyArray<string> => {
  const [, folder, name = ""] = bundled.exec(file) ?? []
  if (folder !== undefined) return JSON.parse(readFileSync(join(folder, "packages.json"), "utf8"))[name] ?? []
  return /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file)?.slice(1) ?? []
}

const record = (file: string): void => {
  for (const name of packagesOf(file)) {
    if (recorded === undefined || seen.has(name)) continue
    seen.add(name)
    appendFileSync(recorded, `${name}\n`)
  }
}

observeScripts((file) => void record(file))
registerHooks({
  load(url, context, next) {
    if (url.startsWith("file:")) record(fileURLToPath(url))
    return next(url, context)
  }
})
