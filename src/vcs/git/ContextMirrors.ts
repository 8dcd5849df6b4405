/**
 * `ContextRepositories` over git: one shared mirror per URL with a depth of one commit. The size of a revision is watched during
 * the fetch and measured afterwards. A fetch that is too large is ended and removed, and not repeated while the ref points to the
 * same commit.
 */
import { createHash } from "node:crypto"
import { rm } from "node:fs/promises"
import { join } from "node:path"
import { Effect } from "effect"
import type { Scope } from "effect"
import type { CheckoutError, RevisionSearch } from "../Checkout.ts"
import type { Mount, GitMountRequest } from "../ContextRepositories.ts"
import type { ProcessLimits } from "../process/ProcessLimits.ts"
import type { GitObject } from "./BlobReader.ts"
import { readPath } from "./ContextPath.ts"
import { checkUrl, fetchRefs } from "./Fetch.ts"
import { hasCommit, io, toRef, tidy } from "./Mirror.ts"
import type { Mirror } from "./Mirror.ts"
import type { Mirrors } from "./Mirrors.ts"
import { formatOfId } from "./ObjectFormat.ts"
import { remoteRef } from "./RemoteRef.ts"
import { removePartial, tooLarge, tooMuchOnDisk, treeBytes } from "./RevisionSize.ts"

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
