/**
 * `ContextRepositories` over git: one shared mirror per URL with a depth of one commit. The size of a revision is watched during
 * the fetch and measured afterwards. A fetch that is too large is ended and removed, and not repeated while the ref points to the
 * same commit.
 */
import { createHash } from "node:crypto"
import { rm, readdir, stat } from "node:fs/promises"
import { join } from "node:path"
import { Effect } from "effect"
import type { Scope } from "effect"
import type { RevisionSearch } from "../Checkout.ts"
import type { Mount, GitMountRequest, MountedEntry } from "../ContextRepositories.ts"
import type { ProcessLimits } from "../process/ProcessLimits.ts"
import type { GitObject } from "./BlobReader.ts"
import { checkUrl, fetchRefs } from "./Fetch.ts"
import { hasCommit, io, toRef, tidy, inMirror } from "./Mirror.ts"
import type { Mirror } from "./Mirror.ts"
import type { Mirrors } from "./Mirrors.ts"
import { formatOfId } from "./ObjectFormat.ts"
import { remoteRef } from "./RemoteRef.ts"
import type { ReadObject } from "./CommitObject.ts"
import { objectName, decodeBlob, treeEntries } from "./Objects.ts"
import { CheckoutError } from "../Checkout.ts"
import { startGit } from "./GitProcess.ts"
import { localTime, withinTime } from "./TimeLimit.ts"

/** Size of a revision: during its fetch by the received bytes, afterwards by its files. */

const lookEvery = 250

const tooLarge = (bytes: number, limit: number) => {
  const mib = (size: number) => Math.ceil(size / 1_048_576)
  return new CheckoutError({
    reason: "failed",
    why: { _tag: "OverMaxMb", size: mib(bytes), limit: mib(limit) }
  })
}

/** Completes with the received bytes when they exceed the limit; packed data is smaller than the files. */
const tooMuchOnDisk = (mirror: Mirror, limit: number): Effect.Effect<number, CheckoutError> =>
  io("mirror", () => partialBytes(mirror)).pipe(
    Effect.delay(lookEvery),
    Effect.repeat({ until: (bytes) => bytes > limit })
  )

const packFolder = (mirror: Mirror): string => join(mirror.directory, "objects", "pack")
const partialFiles = async (mirror: Mirror): Promise<ReadonlyArray<string>> =>
  (await readdir(packFolder(mirror))).filter((name) => name.startsWith("tmp_"))

const partialBytes = async (mirror: Mirror): Promise<number> => {
  let bytes = 0
  for (const name of await partialFiles(mirror)) {
    // Git renames a complete pack.
    bytes += await stat(join(packFolder(mirror), name)).then(
      ({ size }) => size,
      () => 0
    )
  }
  return bytes
}

const removePartial = async (mirror: Mirror): Promise<void> => {
  for (const name of await partialFiles(mirror)) await rm(join(packFolder(mirror), name), { force: true })
}

/** Returns the bytes of all files of a revision, as in a work tree. */
const treeBytes = Effect.fnUntraced(function* (mirror: Mirror, commit: string) {
  return yield* Effect.scoped(
    Effect.gen(function* () {
      const command = inMirror(mirror, ["ls-tree", "-r", "-l", "-z", "--full-tree", commit])
      const child = yield* startGit(command)
      child.stdin.end()
      let bytes = 0
      let rest = ""
      child.stdout.setEncoding("latin1")
      child.stdout.on("data", (text: string) => {
        const lines = (rest + text).split("\0")
        rest = lines.pop() ?? ""
        // Columns: mode, type, id, size; a submodule has a hyphen as size.
        for (const line of lines) bytes += Number.parseInt(line.split(/ +/, 4)[3] ?? "", 10) || 0
      })
      const { code } = yield* Effect.promise(() => child.ended).pipe(withinTime("ls-tree", localTime("tree")))
      if (code === 0) return bytes
      return yield* new CheckoutError({ reason: "failed", why: { _tag: "SizeUnknown", commit } })
    })
  )
})

/** Paths of a further repository: files and directories are read, links and submodules are only reported. */

const maxTreeBytes = 8_388_608

const refusedEntry = (why: string): MountedEntry => ({ _tag: "Refused", why })

/** Reads a path of a commit directly from the object store. */
const readPath = Effect.fnUntraced(function* (
  read: ReadObject,
  commit: string,
  path: string,
  limits: { readonly maxBytes: number; readonly maxNames: number }
): Effect.fn.Return<MountedEntry, CheckoutError> {
  const findTree = (directory: string) => {
    const object = directory === "" ? `${commit}^{tree}` : objectName(commit, directory)
    return object === undefined
      ? Effect.succeed([])
      : Effect.map(read(object, maxTreeBytes), (tree) => treeEntries(tree, commit.length / 2))
  }
  if (path !== "") {
    const slash = path.lastIndexOf("/")
    const name = path.slice(slash + 1)
    const object = objectName(commit, path)
    const entry = (yield* findTree(slash < 0 ? "" : path.slice(0, slash))).find((one) => one.name === name)
    if (entry === undefined || object === undefined) return refusedEntry("no such file or directory")
    if (entry.mode === "120000") return refusedEntry("it is a symbolic link, which is not followed")
    if (entry.mode === "160000") return refusedEntry("it is another repository (a submodule), which is not read")
    if (entry.mode !== "40000") {
      const text = decodeBlob(yield* read(object, limits.maxBytes))
      return text === undefined ? refusedEntry("it is not text, or it is too large") : { _tag: "File", text }
    }
  }
  const names = (yield* findTree(path)).map((one) => (one.mode === "40000" ? `${one.name}/` : one.name))
  const shown = names.slice(0, limits.maxNames)
  return { _tag: "Directory", names: shown, more: names.length - shown.length }
})

interface ContextMirrorsOptions {
  readonly mirrors: Mirrors
  /** An existing folder without `.netrc`. */
  readonly home: Effect.Effect<string, CheckoutError>
  readonly read: (
    mirror: Mirror,
    object: string,
    maxBytes: number
  ) => Effect.Effect<GitObject | undefined, CheckoutError>
  readonly searchRevision: (mirror: Mirror, commit: string) => RevisionSearch
  readonly limits: () => ProcessLimits
  readonly fetchTimeoutMillis: number
}

interface Size {
  readonly bytes: number
  readonly exact: boolean
}

export const makeContextMirrors = (options: ContextMirrorsOptions) => {
  /** Sizes by mirror and commit: the bytes, or a lower bound. */
  const sizes = new Map<string, Size>()
  const remember = (key: string, size: Size): void => {
    if (sizes.get(key)?.exact !== true) sizes.set(key, size)
    const [oldest] = sizes.keys()
    if (sizes.size > 1000 && oldest !== undefined) sizes.delete(oldest)
  }

  const bring = Effect.fnUntraced(function* (
    mirror: Mirror,
    request: GitMountRequest,
    commit: string,
    name: string | undefined
  ) {
    const key = `${mirror.directory} ${commit}`
    const remote = { ...request, headRef: name, baseRef: undefined }
    const fetch = (spec: string) => fetchRefs(mirror, remote, [spec], options.fetchTimeoutMillis, ["--depth=1"])
    const byId = fetch(`+${commit}:${toRef(commit)}`).pipe(
      Effect.catchIf(
        (error) => error.reason === "absent" && name !== undefined,
        () => fetch(`+${name}:${toRef(commit)}`)
      )
    )
    yield* mirror.exclusive(
      Effect.gen(function* () {
        if (yield* hasCommit(mirror, commit)) return
        const bytes = yield* byId.pipe(
          Effect.as(0),
          Effect.raceFirst(tooMuchOnDisk(mirror, request.maxBytes)),
          Effect.onError(() => io("mirror", () => removePartial(mirror)).pipe(Effect.ignore({ log: "Warn" })))
        )
        if (bytes > 0) {
          remember(key, { bytes, exact: false })
          yield* io("mirror", () => removePartial(mirror))
          return yield* tooLarge(bytes, request.maxBytes)
        }
        yield* tidy(mirror).pipe(
          Effect.catch((error) =>
            Effect.logWarning("mirror not cleaned", { directory: mirror.directory, error: error.message })
          )
        )
      })
    )
    const measured = sizes.get(key)
    const bytes = measured?.exact === true ? measured.bytes : yield* treeBytes(mirror, commit)
    remember(key, { bytes, exact: true })
    if (bytes <= request.maxBytes) return
    yield* mirror.exclusive(io("mirror", () => rm(join(mirror.directory, toRef(commit)), { force: true })))
    return yield* tooLarge(bytes, request.maxBytes)
  })

  const mount = Effect.fn("ContextRepositories.mount")(function* (
    request: GitMountRequest
  ): Effect.fn.Return<Mount, CheckoutError, Scope.Scope> {
    const refused = checkUrl(request.url)
    if (refused !== undefined) return yield* refused
    const { commit, name } = yield* remoteRef(
      { ...request, limits: options.limits() },
      request.ref,
      yield* options.home
    )
    const folder = `context/${new URL(request.url).host}/${createHash("sha256").update(request.url).digest("hex")}`
    const mirror = yield* options.mirrors.open(folder, formatOfId(commit), Effect.succeed(formatOfId(commit)))
    const seen = sizes.get(`${mirror.directory} ${commit}`)
    if (seen !== undefined && seen.bytes > request.maxBytes) return yield* tooLarge(seen.bytes, request.maxBytes)
    yield* bring(mirror, request, commit, name)
    return {
      commit,
      read: (path, limits) =>
        readPath((object, maxBytes) => options.read(mirror, object, maxBytes), commit, path, limits),
      search: options.searchRevision(mirror, commit)
    }
  })
  return { mount }
}
