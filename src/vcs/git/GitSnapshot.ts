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

const git = (root: string, args: ReadonlyArray<string>, index?: string): Effect.Effect<string, CheckoutError> =>
  Effect.callback((resume, signal) => {
    const env = {
      ...process.env,
      ...author,
      GIT_TERMINAL_PROMPT: "0",
      LC_ALL: "C",
      ...(index === undefined ? {} : { GIT_INDEX_FILE: index })
    }
    execFile("git", [...args], { cwd: root, signal, timeout, maxBuffer, env }, (error, stdout, stderr) => {
      resume(
        error === null
          ? Effect.succeed(stdout.trim())
          : Effect.fail(gitFailure(args[0] ?? "", stderr || error.message, []))
      )
    })
  })

const commitTree = (root: string, index: string | undefined, parent: string) =>
  Effect.flatMap(git(root, ["write-tree"], index), (tree) =>
    git(root, ["commit-tree", "--no-gpg-sign", "-p", parent, "-m", "Uncommitted changes", tree])
  )

/** Copies the index, and adds the work tree to the copy. */
const commitWorkTree = (root: string, parent: string) =>
  Effect.scoped(
    Effect.gen(function* () {
      const folder = yield* Effect.acquireRelease(
        io("temporary folder", () => mkdtemp(join(tmpdir(), "aicr-index-"))),
        (made) =>
          Effect.ignore(
            io("temporary folder", () => rm(made, { recursive: true, force: true })),
            { log: "Warn" }
          )
      )
      const index = join(folder, "index")
      const own = resolve(root, yield* git(root, ["rev-parse", "--git-path", "index"]))
      yield* io("copy of the index", async () => {
        if ((await stat(own).catch(() => undefined)) !== undefined) await copyFile(own, index)
      })
      yield* git(root, ["add", "--all"], index)
      return yield* commitTree(root, index, parent)
    })
  )

/** Returns the id of a commit on `parent` with the staged changes, or with all changes of the work tree that are not ignored. */
export const commitUncommitted = (
  root: string,
  changes: UncommittedChanges,
  parent: string
): Effect.Effect<string, CheckoutError> =>
  changes === "staged" ? commitTree(root, undefined, parent) : commitWorkTree(root, parent)
