/**
 * Detached worktrees, one per checkout that requests one, removed with its scope. Worktrees of processes that no longer run are
 * removed at the start and with every run of the cache maintenance; the folder name identifies the owner.
 */
import { readdir, rename, rm } from "node:fs/promises"
import { basename, join } from "node:path"
import { Effect } from "effect"
import type { Scope } from "effect"
import type { CheckoutError } from "../Checkout.ts"
import { runGit } from "./GitProcess.ts"
import { inMirror, io } from "./Mirror.ts"
import type { Mirror } from "./Mirror.ts"
import { newMark, findOwner } from "../ProcessMark.ts"
import { localTime } from "./TimeLimit.ts"

/** `root` exists. */
export const addWorktree = Effect.fnUntraced(function* (
  root: string,
  mirror: Mirror,
  commit: string
): Effect.fn.Return<string, CheckoutError, Scope.Scope> {
  const directory = join(root, newMark())
  const record = join(mirror.directory, "worktrees", basename(directory))
  const trash = join(mirror.directory, `gone-${basename(directory)}`)
  // Removed atomically under the writer lock, because git reads the records of all worktrees and reports one that disappears as
  // damage.
  const remove = io("worktree", () => rm(directory, { recursive: true, force: true })).pipe(
    Effect.andThen(mirror.exclusive(io("worktree", () => renameIfThere(record, trash)))),
    Effect.andThen(io("worktree", () => rm(trash, { recursive: true, force: true })))
  )
  yield* Effect.addFinalizer(() =>
    Effect.catch(remove, (error) => Effect.logWarning("worktree not removed", { directory, error: error.message }))
  )
  // For the same reason the record is created under the writer lock; the files, which take time, are written outside of it.
  yield* mirror.exclusive(
    runGit(
      inMirror(mirror, ["worktree", "add", "--quiet", "--detach", "--force", "--no-checkout", directory, commit]),
      { time: localTime("worktree"), maxBytes: 1_048_576 }
    )
  )
  yield* runGit(
    { args: ["reset", "--quiet", "--hard"], home: mirror.directory, cwd: directory, limits: mirror.limits },
    { time: localTime("files"), maxBytes: 1_048_576 }
  )
  return directory
})

const renameIfThere = (from: string, to: string): Promise<void> =>
  rename(from, to).catch((cause: unknown) => {
    if (!(cause instanceof Error && "code" in cause && cause.code === "ENOENT")) throw cause
  })

/** Removes the worktrees of processes that no longer run; returns their number. */
export const sweepWorktrees = (root: string): Effect.Effect<number, CheckoutError> =>
  io("worktrees", async () => {
    let removed = 0
    for (const name of await readdir(root).catch(() => [])) {
      if (findOwner(name) !== "gone") continue
      // A command of the ended process may create files in its folder for a while: the next run removes that.
      const isRemoved = await rm(join(root, name), { recursive: true, force: true }).then(
        () => true,
        () => false
      )
      if (isRemoved) removed++
    }
    return removed
  })
