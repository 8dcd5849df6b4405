/**
 * Bare mirrors, one per repository, created on first use. A mirror holds the reviewed commits, each under `refs/aicr/<commit>`:
 * the file of that ref shows without a process that a commit and its history exist, keeps it for negotiation ("have" lines) and
 * contains no names of the host. Writers lock the mirror, readers do not.
 *
 * Fetches transfer the full history of the two commits, with blobs, and nothing else: the first one costs a clone of one branch,
 * every later one only new objects, the merge base is always available, and no object is ever fetched on demand.
 */
import { access, chmod, mkdir, readdir, readFile, rm, stat, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { Effect } from "effect"
import { hasProperty } from "effect/Predicate"
import { verbatimReason } from "../../domain/Reason.ts"
import { CheckoutError } from "../Checkout.ts"
import { runGit } from "./GitProcess.ts"
import type { GitCommand } from "./GitProcess.ts"
import { formatOfRepository } from "./ObjectFormat.ts"
import type { ObjectFormat } from "./ObjectFormat.ts"
import { localTime } from "./TimeLimit.ts"
import type { ProcessLimits } from "../process/ProcessLimits.ts"

export interface Mirror {
  readonly directory: string
  /** Options of git commands that work on the mirror. */
  readonly limits: ProcessLimits
  /** Serialises writers. */
  readonly exclusive: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
}

/** Runs a git command on a mirror. */
export const inMirror = ({ directory, limits }: Mirror, args: ReadonlyArray<string>): GitCommand => ({
  args,
  gitDir: directory,
  home: directory,
  limits
})

/** Overrides every `.gitattributes` of the reviewed tree: no conversion, no filter, no driver, and no hiding by `-diff`. */
const attributes = "* -text !eol -ident !filter !working-tree-encoding !diff !merge\n"

/**
 * Maximum number of refs for negotiation; the oldest are deleted first. Objects remain until the mirror is evicted as a whole.
 */
const keptRefs = 256
const packLimit = 40

export const isCommitId = (id: string): boolean => /^([0-9a-f]{40}|[0-9a-f]{64})$/.test(id)

/** Codes of a disk that takes no writes. */
const diskCodes: ReadonlySet<unknown> = new Set(["ENOSPC", "EDQUOT", "EFBIG", "EROFS", "EIO"])

export const io = <A>(what: string, run: () => Promise<A>): Effect.Effect<A, CheckoutError> =>
  Effect.tryPromise({
    try: run,
    catch: (cause) =>
      new CheckoutError({
        reason: hasProperty(cause, "code") && diskCodes.has(cause.code) ? "disk" : "failed",
        why: {
          _tag: "ProgramFailed",
          command: what,
          why: verbatimReason(cause instanceof Error ? cause.message : String(cause))
        }
      })
  })

/** Restricts access to the service's own user, also for a folder that an earlier version created. */
export const privateFolder = async (path: string): Promise<void> => {
  await mkdir(path, { recursive: true, mode: 0o700 })
  await chmod(path, 0o700)
}

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false
  )

const toMarkerPath = (directory: string): string => join(directory, "info", "attributes")

/** Returns the object format of the mirror in a folder; undefined if it does not exist, is incomplete or is damaged. */
export const formatOfMirror = (directory: string): Effect.Effect<ObjectFormat | undefined, CheckoutError> =>
  io("mirror", async () => ((await exists(toMarkerPath(directory))) ? await formatOfRepository(directory) : undefined))

/** Creates a mirror, or completes an unfinished one. */
export const create = Effect.fnUntraced(function* (directory: string, format: ObjectFormat, limits: ProcessLimits) {
  // A finished mirror that is no longer valid is damaged and is not used.
  if (yield* io("mirror", () => exists(toMarkerPath(directory)))) {
    yield* io("mirror", () => rm(directory, { recursive: true, force: true }))
  }
  yield* io("mirror", () => privateFolder(directory))
  yield* runGit(
    {
      args: ["init", "--quiet", "--bare", "--template=", `--object-format=${format}`, directory],
      home: directory,
      limits
    },
    { time: localTime("init"), maxBytes: 65_536 }
  )
  yield* io("mirror", async () => {
    await mkdir(join(directory, "info"), { recursive: true })
    await mkdir(join(directory, "refs", "aicr"), { recursive: true })
    // Written last: a mirror without it is created again.
    await writeFile(toMarkerPath(directory), attributes)
  })
})

/** Removes leftovers of killed processes: locks of refs, incomplete packs, records of missing worktrees. */
export const sweepLeftovers = (directory: string) =>
  io("mirror", async () => {
    await chmod(directory, 0o700)
    const refs = join(directory, "refs", "aicr")
    for (const name of await readdir(refs)) if (name.endsWith(".lock")) await rm(join(refs, name), { force: true })
    for (const lock of ["packed-refs.lock", "shallow.lock", "config.lock"])
      await rm(join(directory, lock), { force: true })
    const packs = join(directory, "objects", "pack")
    for (const name of await readdir(packs)) if (name.startsWith("tmp_")) await rm(join(packs, name), { force: true })
    for (const name of await readdir(directory)) {
      if (name.startsWith("gone-")) await rm(join(directory, name), { recursive: true, force: true })
    }
    const worktrees = join(directory, "worktrees")
    for (const name of await readdir(worktrees).catch(() => [])) {
      const gitFile = await readFile(join(worktrees, name, "gitdir"), "utf8").catch(() => "")
      if (gitFile === "" || !(await exists(gitFile.trim())))
        await rm(join(worktrees, name), { recursive: true, force: true })
    }
  })

export const toRef = (commit: string): string => `refs/aicr/${commit}`

export const hasCommit = (mirror: Mirror, commit: string): Effect.Effect<boolean, CheckoutError> =>
  io("mirror", () => exists(join(mirror.directory, toRef(commit))))

/** Deletes the oldest refs and merges small packs. Called by writers, between reviews. */
export const tidy = Effect.fnUntraced(function* (mirror: Mirror) {
  const packs = yield* io("mirror", async () => {
    const refs = join(mirror.directory, "refs", "aicr")
    const names = await readdir(refs)
    if (names.length > keptRefs) {
      const aged = await Promise.all(names.map(async (name) => ({ name, at: (await stat(join(refs, name))).mtimeMs })))
      aged.sort((a, b) => a.at - b.at)
      for (const { name } of aged.slice(0, names.length - keptRefs / 2)) await rm(join(refs, name), { force: true })
    }
    const found = await readdir(join(mirror.directory, "objects", "pack"))
    return found.filter((name) => name.endsWith(".pack")).length
  })
  if (packs <= packLimit) return
  // Merges small packs and loose objects, reachable or not, and keeps large packs (geometric repacking).
  yield* runGit(inMirror(mirror, ["repack", "-d", "-l", "-q", "--geometric=2"]), {
    time: localTime("repack"),
    maxBytes: 65_536
  })
})
