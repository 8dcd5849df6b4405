/**
 * Bare mirrors, one per repository, made on first use. A mirror holds the commits that were reviewed, each under
 * `refs/aicr/<commit>`: the file of that ref says without a process that a commit and its history are here, keeps it for
 * negotiation ("have" lines) and names nothing of the host. Writers take turns per mirror, readers need no turn.
 *
 * Fetches bring the full history of the two commits, with blobs, and nothing else: the first one costs a clone of one
 * branch, every later one only what is new, the merge base is always found, and no object is ever fetched on demand.
 */
import { access, chmod, mkdir, readdir, readFile, rm, stat, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { Effect } from "effect"
import { CheckoutError } from "../Checkout.ts"
import { runGit } from "./GitProcess.ts"
import type { GitCommand } from "./GitProcess.ts"
import { formatOfRepository } from "./ObjectFormat.ts"
import type { ObjectFormat } from "./ObjectFormat.ts"
import { localTime } from "./TimeLimit.ts"
import type { ProcessLimits } from "../ProcessLimits.ts"

export interface Mirror {
  readonly directory: string
  /** Of git commands that work on it. */
  readonly limits: ProcessLimits
  /** One writer at a time. */
  readonly exclusive: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
}

/** A git command on a mirror. */
export const inMirror = ({ directory, limits }: Mirror, args: ReadonlyArray<string>): GitCommand => ({
  args,
  gitDir: directory,
  home: directory,
  limits
})

/** Overrides every `.gitattributes` of the reviewed tree: no conversion, no filter, no driver, and no hiding by `-diff`. */
const attributes = "* -text !eol -ident !filter !working-tree-encoding !diff !merge\n"

/** Refs kept for negotiation; the oldest go first. Objects stay until the mirror is evicted as a whole. */
const keptRefs = 256
const packLimit = 40

export const isCommitId = (id: string): boolean => /^([0-9a-f]{40}|[0-9a-f]{64})$/.test(id)

export const io = <A>(what: string, run: () => Promise<A>): Effect.Effect<A, CheckoutError> =>
  Effect.tryPromise({
    try: run,
    catch: (cause) =>
      new CheckoutError({
        reason: "failed",
        message: `${what}: ${cause instanceof Error ? cause.message : String(cause)}`
      })
  })

/** Code of others is for this service's own user alone; also in a folder that an earlier version made. */
export const privateFolder = async (path: string): Promise<void> => {
  await mkdir(path, { recursive: true, mode: 0o700 })
  await chmod(path, 0o700)
}

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false
  )

const markerOf = (directory: string): string => join(directory, "info", "attributes")

/** Format of the mirror in a folder; undefined: there is none, or it was never finished, or parts of it are gone. */
export const formatOfMirror = (directory: string): Effect.Effect<ObjectFormat | undefined, CheckoutError> =>
  io("mirror", async () => ((await exists(markerOf(directory))) ? await formatOfRepository(directory) : undefined))

/** Makes a mirror, or completes one that was begun. */
export const create = Effect.fnUntraced(function* (directory: string, format: ObjectFormat, limits: ProcessLimits) {
  // What was finished once and is no mirror now is damaged: nothing of it is used.
  if (yield* io("mirror", () => exists(markerOf(directory)))) {
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
    // Written last: a mirror without it is begun anew.
    await writeFile(markerOf(directory), attributes)
  })
})

/** What a killed process left behind: locks of refs, half-received packs, records of worktrees that are gone. */
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

export const refOf = (commit: string): string => `refs/aicr/${commit}`

export const hasCommit = (mirror: Mirror, commit: string): Effect.Effect<boolean, CheckoutError> =>
  io("mirror", () => exists(join(mirror.directory, refOf(commit))))

/** Drops the oldest refs and rolls small packs up. For writers, between reviews. */
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
  // Geometric: merges the small packs and leaves the large ones, loose objects included whether reachable or not.
  yield* runGit(inMirror(mirror, ["repack", "-d", "-l", "-q", "--geometric=2"]), {
    time: localTime("repack"),
    maxBytes: 65_536
  })
})
