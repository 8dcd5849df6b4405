/** Real git repositories made on the fly. */
import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { readProgram } from "../harness/RunProgram.ts"

const environment = {
  PATH: process.env["PATH"],
  HOME: "/nonexistent",
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_AUTHOR_NAME: "Ada",
  GIT_AUTHOR_EMAIL: "ada@example.com",
  GIT_COMMITTER_NAME: "Ada",
  GIT_COMMITTER_EMAIL: "ada@example.com"
}

export interface Repository {
  readonly path: string
  readonly git: (...args: ReadonlyArray<string>) => string
  readonly write: (path: string, content: string | Buffer) => void
  readonly remove: (path: string) => void
  /** Stages everything and commits; returns the id. */
  readonly commit: (message?: string) => string
}

/** A folder that is removed with the folder of the run (RunFolder.ts): files of tests that share a process share this module. */
export const temporaryFolder = (): string => mkdtempSync(join(tmpdir(), "aicr-test-"))

const settings = `[core]
	autocrlf = false
[gc]
	auto = 0
[maintenance]
	auto = false
`

/** Makes what `git init` makes, without starting it. */
const makeEmpty = (own: string): void => {
  for (const folder of ["objects", "refs/heads"]) mkdirSync(join(own, folder), { recursive: true })
  writeFileSync(join(own, "config"), "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n")
  writeFileSync(join(own, "HEAD"), "ref: refs/heads/main\n")
}

export const makeRepository = (path: string = temporaryFolder(), ...init: ReadonlyArray<string>): Repository => {
  const own = init.includes("--bare") ? path : join(path, ".git")
  const git = (...args: ReadonlyArray<string>): string =>
    readProgram("git", args, { cwd: path, environment }).toString("utf8").trimEnd()
  if (init.length === 0) makeEmpty(own)
  else {
    mkdirSync(path, { recursive: true })
    git("init", "-q", "-b", "main", ...init)
  }
  appendFileSync(join(own, "config"), settings)
  const readHead = (): string => {
    const [, ref] = /^ref: (.*)\n$/.exec(readFileSync(join(own, "HEAD"), "utf8")) ?? []
    return ref === undefined ? git("rev-parse", "HEAD") : readFileSync(join(own, ref), "utf8").trim()
  }
  return {
    path,
    git,
    write: (name, content) => {
      mkdirSync(dirname(join(path, name)), { recursive: true })
      writeFileSync(join(path, name), content)
    },
    remove: (name) => rmSync(join(path, name)),
    commit: (message = "change") => {
      git("add", "-A", "--force")
      git("commit", "-q", "--allow-empty", "--no-verify", "-m", message)
      return readHead()
    }
  }
}
