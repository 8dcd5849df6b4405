/** Real git repositories made on the fly. */
import { execFileSync } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"

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

export const makeRepository = (path: string = temporaryFolder(), ...init: ReadonlyArray<string>): Repository => {
  mkdirSync(path, { recursive: true })
  const git = (...args: ReadonlyArray<string>) =>
    execFileSync("git", args, {
      cwd: path,
      env: environment,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
      maxBuffer: 1 << 28
    }).trimEnd()
  git("init", "-q", "-b", "main", ...init)
  git("config", "core.autocrlf", "false")
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
      return git("rev-parse", "HEAD")
    }
  }
}
