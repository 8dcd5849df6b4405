/** Installs the program of a commit outside of the repository, with the packages of its own lock file. It is kept for later runs. */
import { execFileSync } from "node:child_process"
import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs"
import { homedir } from "node:os"
import { join } from "node:path"

const root = join(import.meta.dirname, "../../..")
const cache = join(process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"), "aicr-bench")

const run = (cwd: string, file: string, ...args: ReadonlyArray<string>): string =>
  execFileSync(file, args, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"], maxBuffer: 1 << 30 })

/** Returns the folder of the installation. Its program and its dashboard are built as after `npm ci`. */
export const installCommit = (commit: string): string => {
  const id = run(root, "git", "rev-parse", "--verify", "--end-of-options", `${commit}^{commit}`).trim()
  const folder = join(cache, id)
  if (existsSync(folder)) return folder
  process.stderr.write(`installing ${id.slice(0, 12)} in ${folder}\n`)
  const made = `${folder}.${process.pid}`
  mkdirSync(made, { recursive: true })
  try {
    run(root, "sh", "-c", 'git archive "$0" | tar --extract --directory "$1"', id, made)
    run(made, "npm", "ci", "--no-audit", "--no-fund")
    renameSync(made, folder)
    // The bundle names the folder that it was made in.
    run(folder, join(folder, "node_modules/.bin/node"), "src/app/program/Build.mjs")
  } finally {
    rmSync(made, { recursive: true, force: true })
  }
  return folder
}
