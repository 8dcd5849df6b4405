/** Preloaded into a process: writes down the packages that it and its threads load, one a line, in the file of `LOADED_PACKAGES`. */
import { appendFileSync } from "node:fs"
import { registerHooks } from "node:module"

const file = process.env["LOADED_PACKAGES"]
const seen = new Set<string>()

registerHooks({
  load(url, context, next) {
    const name = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1]
    if (file !== undefined && name !== undefined && !seen.has(name)) {
      seen.add(name)
      appendFileSync(file, `${name}\n`)
    }
    return next(url, context)
  }
})
