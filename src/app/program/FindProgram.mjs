/**
 * Finds the modules to run: the bundle of Build.mjs while its sources are unchanged, else the sources themselves. A release archive has no list of
 * sources: there the bundle is the program. Plain JavaScript, because Node strips no types of files in node_modules, where an archive is installed.
 */
import { existsSync, readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { pathToFileURL } from "node:url"

/** @type {(root: string, sources: import("./FindProgram.mjs").Sources) => boolean} */
const isUnchanged = (root, sources) =>
  sources.root === root &&
  sources.files.every(([path, size, seconds]) => {
    const found = statSync(join(root, path), { throwIfNoEntry: false })
    return found?.size === size && Math.floor(found.mtimeMs / 1000) === seconds
  })

/** @type {(root: string, bundle: string) => boolean} */
const isCurrent = (root, bundle) => {
  const list = join(bundle, "sources.json")
  try {
    return existsSync(list)
      ? isUnchanged(root, JSON.parse(readFileSync(list, "utf8")))
      : existsSync(join(bundle, "main.mjs"))
  } catch {
    // The bundle is just being replaced.
    return false
  }
}

export const findProgram = (root) => {
  const bundle = join(root, "dist/program")
  const isBundled = isCurrent(root, bundle)
  return {
    isBundled,
    url: pathToFileURL(isBundled ? join(bundle, "main.mjs") : join(root, "src/app/Commands.ts")).href
  }
}
