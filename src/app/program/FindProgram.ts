/** Finds the modules to run: the bundle of Build.mjs while its sources are unchanged, else the sources themselves. */
import { readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { pathToFileURL } from "node:url"

interface Sources {
  readonly root: string
  /** Path in `root`, size in bytes, and time of change in whole seconds. */
  readonly files: ReadonlyArray<readonly [string, number, number]>
}

const isUnchanged = (root: string, sources: Sources): boolean =>
  sources.root === root &&
  sources.files.every(([path, size, seconds]) => {
    const found = statSync(join(root, path), { throwIfNoEntry: false })
    return found?.size === size && Math.floor(found.mtimeMs / 1000) === seconds
  })

/** Returns the URL of the module that exports `main`. `root`: the folder of the installation. */
export const findProgram = (root: string): string => {
  const bundle = join(root, "dist/program")
  try {
    const sources: Sources = JSON.parse(readFileSync(join(bundle, "sources.json"), "utf8"))
    if (isUnchanged(root, sources)) return pathToFileURL(join(bundle, "main.mjs")).href
  } catch {
    // No bundle, or one that is just being replaced.
  }
  return pathToFileURL(join(root, "src/app/Commands.ts")).href
}
