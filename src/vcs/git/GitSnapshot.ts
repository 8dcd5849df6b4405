/**
 * Commits of what is not committed yet, for a review of the work tree or of the index: objects without a reference, which git removes later.
 * The index, the work tree and all references stay as they are. The user's own git runs with the user's own settings, as for `git add`.
 */
import { execFile } from "node:child_process"
import { copyFile, mkdtemp, rm, stat } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { Effect } from "effect"
import type { CheckoutError } from "../Checkout.ts"
import type { UncommittedChanges } from "../LocalRepository.ts"
import { gitFailure } from "./GitFailure.ts"
import { io } from "./Mirror.ts"

const timeout = 120_000
const maxBuffer = 1_048_576

/** Git needs an author for a commit; this one is never pushed. */
const author = {
  GIT_AUTHOR_NAME: "aicr",
  GIT_AUTHOR_EMAIL: "aicr@localhost",
  GIT_COMMITTER_NAME: "aicr",
  GIT_COMMITTER_EMAIL: "aicr@localhost"
}

interface GitEnd {
  readonly failure: string | undefined
  readonly stdout: string
}

const runGit = (root: string, args: ReadonlyArray<string>, index?: string): Effect.Effect<GitEnd> =>
  Effect.callback((resume, signal) => {
    const env = {
      ...process.env,
      ...author,
      GIT_TERMINAL_PROMPT: "0",
      LC_ALL: "C",
      ...(index === undefined ? {} : { GIT_INDEX_FILE: index })
    }
    execFile("git", [...args], { cwd: root, signal, timeout, maxBuffer, env }, (error, stdout, stderr) => {
      const failure = error === null ? undefined : stderr || error.message
      resume(Effect.succeed({ failure, stdout: stdout.trim() }))
    })
  })

const git = (root: string, args: ReadonlyArray<string>, index?: string): Effect.Effect<string, CheckoutError> =>
  Effect.flatMap(runGit(root, args, index), ({ failure, stdout }) =>
    failure === undefined ? Effect.succeed(stdout) : Effect.fail(gitFailure(args[0] ?? "", failure, []))
  )

const commitTree = (root: string, index: string | undefined, parent: string | undefined) =>
  Effect.flatMap(git(root, ["write-tree"], index), (tree) =>
    git(root, [
      "commit-tree",
      "--no-gpg-sign",
      ...(parent === undefined ? [] : ["-p", parent]),
      "-m",
      "Uncommitted changes",
      tree
    ])
  )

/** Runs `use` with the path of an index that does not exist yet. */
const withIndex = <A>(use: (index: string) => Effect.Effect<A, CheckoutError>): Effect.Effect<A, CheckoutError> =>
  Effect.scoped(
    Effect.acquireRelease(
      io("temporary folder", () => mkdtemp(join(tmpdir(), "aicr-index-"))),
      (made) =>
        Effect.ignore(
          io("temporary folder", () => rm(made, { recursive: true, force: true })),
          { log: "Warn" }
        )
    ).pipe(Effect.flatMap((folder) => use(join(folder, "index"))))
  )

/** Returns the id of a commit without files and parents. */
export const commitNothing = (root: string): Effect.Effect<string, CheckoutError> =>
  withIndex((index) => commitTree(root, index, undefined))

/** Maximum number of files whose filter cannot run. */
const maxOmitted = 50

/** Returns the files of which git reports that it cannot add them. */
const listRefused = (stderr: string): ReadonlyArray<string> =>
  [
    ...stderr.matchAll(/^error: (?:'(.+?)\/?' does not have a commit checked out|unable to index file '(.+)')$/gm)
  ].flatMap(([, repository, file]) => repository ?? file ?? [])

/**
 * Adds the work tree to the index. Files that git cannot add do not end the review of the others: untracked repositories without a commit,
 * unreadable files, and files whose filter cannot run, such as that of Git LFS without its program. Returns them.
 */
const addAll = Effect.fnUntraced(function* (root: string, index: string) {
  const omitted: Array<string> = []
  let settings: ReadonlyArray<string> = []
  while (true) {
    const excluded = omitted.map((path) => `:(exclude,top,literal)${path}`)
    const args = ["add", "--all", "--ignore-errors", "--", ":(top)", ...excluded]
    const { failure } = yield* runGit(root, [...settings, ...args], index)
    if (failure === undefined) return omitted
    const isFatal = /^fatal: /m.test(failure)
    const refused = listRefused(failure)
    if (!isFatal && refused.length > 0) return [...omitted, ...refused]
    const filtered = /^fatal: (.+): clean filter '.+' failed$/m.exec(failure)?.[1]
    if (filtered !== undefined && !omitted.includes(filtered) && omitted.length < maxOmitted) omitted.push(filtered)
    else if (settings.length === 0 && filtered === undefined && isFatal) {
      // A filter that runs as one process for all files names no file when it cannot start.
      settings = yield* withoutFilterProcesses(root)
      if (settings.length === 0) return yield* gitFailure("add", failure, [])
    } else return yield* gitFailure("add", failure, [])
  }
})

const withoutFilterProcesses = (root: string) =>
  Effect.map(
    runGit(root, ["config", "--name-only", "--get-regexp", "^filter\\..*\\.process$"]),
    ({ failure, stdout }): ReadonlyArray<string> =>
      failure === undefined && stdout !== "" ? stdout.split("\n").flatMap((name) => ["-c", `${name}=`]) : []
  )

/** Copies the index, and adds the work tree to the copy. */
const commitWorkTree = (root: string, parent: string) =>
  withIndex((index) =>
    Effect.gen(function* () {
      const own = resolve(root, yield* git(root, ["rev-parse", "--git-path", "index"]))
      yield* io("copy of the index", async () => {
        if ((await stat(own).catch(() => undefined)) !== undefined) await copyFile(own, index)
      })
      const omitted = yield* addAll(root, index)
      const notices = omitted.map((path) => `not reviewed, because git cannot add it: ${path}`)
      return { head: yield* commitTree(root, index, parent), notices }
    })
  )

/**
 * Returns the id of a commit on `parent` with the staged changes, or with all changes of the work tree that are not ignored, and notices about
 * what is not in it.
 */
export const commitUncommitted = (
  root: string,
  changes: UncommittedChanges,
  parent: string
): Effect.Effect<{ readonly head: string; readonly notices: ReadonlyArray<string> }, CheckoutError> =>
  changes === "staged"
    ? Effect.map(commitTree(root, undefined, parent), (head) => ({ head, notices: [] }))
    : commitWorkTree(root, parent)
