/**
 * Preloaded into a process: writes down the packages that it and its threads load, one a line, in the file of `LOADED_PACKAGES`; of a bundle those
 * that are part of it.
 */
import { appendFileSync, readFileSync } from "node:fs"
import { registerHooks } from "node:module"

const file = process.env["LOADED_PACKAGES"]
const seen = new Set<string>()

const bundled = /^(.*\/dist\/program\/)([^/]+\.mjs)$/
const packagesOf = (url: string): ReadonlyArray<string> => {
  const [, folder, name = ""] = bundled.exec(url) ?? []
  if (folder !== undefined) return JSON.parse(readFileSync(new URL("packages.json", folder), "utf8"))[name] ?? []
  return /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.slice(1) ?? []
}

registerHooks({
  load(url, context, next) {
    for (const name of packagesOf(url)) {
      if (file === undefined || seen.has(name)) continue
      seen.add(name)
      appendFileSync(file, `${name}\n`)
    }
    return next(url, context)
  }
})
