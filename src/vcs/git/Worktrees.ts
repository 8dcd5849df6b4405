/**
 * Detached worktrees, one per checkout that asks for one, removed with its scope. Those of processes that are gone are swept
 * when the service starts: the folder name says whose it was. The root belongs to one machine (one process namespace).
 */
import { mkdir, readdir, rename, rm } from "node:fs/promises"
import { basename, join } from "node:path"
import { randomBytes } from "node:crypto"
import { Effect } from "effect"
import type { Scope } from "effect"
import type { CheckoutError } from "../Checkout.ts"
import { runGit } from "./GitProcess.ts"
import { io } from "./Mirror.ts"
import type { Mirror } from "./Mirror.ts"

/** Tells this process from an earlier one that had the same process id, as in a restarted container. */
const processToken = randomBytes(6).toString("hex")
let counter = 0

export const addWorktree = Effect.fnUntraced(function* (
  root: string,
  mirror: Mirror,
  commit: string
): Effect.fn.Return<string, CheckoutError, Scope.Scope> {
  yield* io("worktree", () => mkdir(root, { recursive: true }))
  const directory = join(root, `${process.pid}-${processToken}-${++counter}`)
  const record = join(mirror.directory, "worktrees", basename(directory))
  const trash = join(mirror.directory, `gone-${basename(directory)}`)
  // Away in one step and in a writer's turn: git reads the records of all worktrees, and takes one that goes for damage.
  const remove = io("worktree", () => rm(directory, { recursive: true, force: true })).pipe(
    Effect.andThen(mirror.exclusive(io("worktree", () => renameIfThere(record, trash)))),
    Effect.andThen(io("worktree", () => rm(trash, { recursive: true, force: true })))
  )
  yield* Effect.addFinalizer(() =>
    Effect.catch(remove, (error) => Effect.logWarning(`${directory} was not removed: ${error.message}`))
  )
  // For the same reason the record is made in a writer's turn; the files, which take time, are written outside of it.
  yield* mirror.exclusive(
    runGit(
      {
        args: ["worktree", "add", "--quiet", "--detach", "--force", "--no-checkout", directory, commit],
        gitDir: mirror.directory,
        home: mirror.directory
      },
      { timeoutMillis: 60_000, maxBytes: 1_048_576 }
    )
  )
  yield* runGit(
    { args: ["reset", "--quiet", "--hard"], home: mirror.directory, cwd: directory },
    { timeoutMillis: 600_000, maxBytes: 1_048_576 }
  )
  return directory
})

const renameIfThere = (from: string, to: string): Promise<void> =>
  rename(from, to).catch((cause: unknown) => {
    if (!(cause instanceof Error && "code" in cause && cause.code === "ENOENT")) throw cause
  })

/** Removes the worktrees of processes that no longer run. */
export const sweepWorktrees = (root: string): Effect.Effect<void, CheckoutError> =>
  io("worktrees", async () => {
    for (const name of await readdir(root).catch(() => [])) {
      const [, pid, token] = /^(\d+)-([0-9a-f]{12})-\d+$/.exec(name) ?? []
      if (pid === undefined || token === processToken) continue
      if (Number(pid) !== process.pid && isAlive(Number(pid))) continue
      await rm(join(root, name), { recursive: true, force: true })
    }
  })

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch (cause) {
    return cause instanceof Error && "code" in cause && cause.code === "EPERM"
  }
}
