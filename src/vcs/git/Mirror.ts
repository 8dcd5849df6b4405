/**
 * Bare mirrors, one per repository, made on first use. A mirror holds the commits that were reviewed, each under
 * `refs/aicr/<commit>`: the file of that ref says without a process that a commit and its history are here, keeps it for
 * negotiation ("have" lines) and names nothing of the host. Writers take turns per mirror, readers need no turn.
 *
 * Fetches bring the full history of the two commits, with blobs, and nothing else: the first one costs a clone of one
 * branch, every later one only what is new, the merge base is always found, and no object is ever fetched on demand.
 */
import { access, mkdir, readdir, readFile, rm, stat, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { Effect } from "effect"
import { CheckoutError } from "../Checkout.ts"
import { runGit } from "./GitProcess.ts"

export interface Mirror {
  readonly directory: string
  /** One writer at a time. */
  readonly exclusive: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
}

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

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false
  )

export const create = Effect.fnUntraced(function* (directory: string, sha256: boolean) {
  const marker = join(directory, "info", "attributes")
  if (yield* io("mirror", () => exists(marker))) return
  yield* io("mirror", () => mkdir(directory, { recursive: true }))
  yield* runGit(
    {
      args: ["init", "--quiet", "--bare", "--template=", ...(sha256 ? ["--object-format=sha256"] : []), directory],
      home: directory
    },
    { timeoutMillis: 30_000, maxBytes: 65_536 }
  )
  yield* io("mirror", async () => {
    await mkdir(join(directory, "info"), { recursive: true })
    await mkdir(join(directory, "refs", "aicr"), { recursive: true })
    // Written last: a mirror without it is begun anew.
    await writeFile(marker, attributes)
  })
})

/** What a killed process left behind: locks of refs, half-received packs, records of worktrees that are gone. */
export const sweepLeftovers = (directory: string) =>
  io("mirror", async () => {
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
  yield* runGit(
    { args: ["repack", "-d", "-l", "-q", "--geometric=2"], gitDir: mirror.directory, home: mirror.directory },
    { timeoutMillis: 600_000, maxBytes: 65_536 }
  )
})
