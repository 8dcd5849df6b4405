/**
 * Creates a folder with its parents. `mkdir` of Node with `recursive` never returns below a file system that refuses new folders with "no
 * such file or directory", for example `/proc`, and the process then ignores signals.
 */
import { existsSync, mkdirSync, statSync } from "node:fs"
import { dirname } from "node:path"

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true

/** Creates `folder` (with `mode`, by default for this user only), or throws the error of the first part that cannot be created. Does not change an existing folder. */
export const makeFolder = (folder: string, mode = 0o700): void => {
  const missing: Array<string> = []
  for (let path = folder; !existsSync(path); path = dirname(path)) missing.push(path)
  for (const path of missing.toReversed()) {
    try {
      mkdirSync(path, { mode })
    } catch (cause) {
      // Another process may have created it.
      if (!isFolder(path)) throw cause
    }
  }
}
