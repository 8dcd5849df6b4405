/**
 * Resolves a branch or tag of a remote to its current commit. The request also verifies that the credential can read the
 * repository.
 */
import { Effect } from "effect"
import { CheckoutError } from "../Checkout.ts"
import { remoteSettings, listSecrets } from "./Fetch.ts"
import type { ProcessLimits } from "../process/ProcessLimits.ts"
import type { Remote } from "./Fetch.ts"
import { runGit } from "./GitProcess.ts"
import { isCommitId } from "./Mirror.ts"
import { formatOfId } from "./ObjectFormat.ts"
import type { ObjectFormat } from "./ObjectFormat.ts"
import { networkTime } from "./TimeLimit.ts"

const noRepository = "/dev/null/none"

/** A remote and the limits for git commands on it. */
type LimitedRemote = Remote & { readonly limits: ProcessLimits }

export interface RemoteRef {
  readonly commit: string
  /** Ref for the fetch where the server does not serve commits by id; undefined for a commit that was given by its id. */
  readonly name: string | undefined
}

/** Lists refs. `home`: a folder without `.netrc`. */
export const remoteRef = Effect.fnUntraced(function* (
  remote: LimitedRemote,
  ref: string | undefined,
  home: string
): Effect.fn.Return<RemoteRef, CheckoutError> {
  const pinned = ref !== undefined && isCommitId(ref.toLowerCase()) ? ref.toLowerCase() : undefined
  const names = pinned !== undefined || ref === undefined ? ["HEAD"] : candidates(ref)
  if (names.length === 0) {
    return yield* new CheckoutError({ reason: "missing", why: { _tag: "InvalidRef", ref: JSON.stringify(ref) } })
  }
  const ids = yield* listRefs(remote, names, home)
  if (pinned !== undefined) {
    const [known = pinned] = ids.values()
    if (formatOfId(known) === formatOfId(pinned)) return { commit: pinned, name: undefined }
    return yield* new CheckoutError({
      reason: "failed",
      why: { _tag: "OtherObjectFormat", id: pinned, format: formatOfId(pinned), other: formatOfId(known) }
    })
  }
  for (const name of names) {
    const commit = ids.get(name)
    if (commit !== undefined) return { commit, name: name.replace(/\^\{\}$/, "") }
  }
  return yield* new CheckoutError({
    reason: "missing",
    why: ref === undefined ? { _tag: "NoDefaultBranch" } : { _tag: "NoSuchRef", ref }
  })
})

/** Ids by ref name. */
const listRefs = Effect.fnUntraced(function* (remote: LimitedRemote, names: ReadonlyArray<string>, home: string) {
  const { stdout } = yield* runGit(
    {
      args: ["ls-remote", "--quiet", "--", remote.url, ...names],
      // Otherwise git would read the configuration of an enclosing repository.
      gitDir: noRepository,
      home,
      limits: remote.limits,
      settings: remoteSettings(remote),
      secrets: listSecrets(remote)
    },
    { time: networkTime(60_000), maxBytes: 1_048_576 }
  )
  return new Map(
    stdout
      .toString("utf8")
      .split("\n")
      .flatMap((line): ReadonlyArray<readonly [string, string]> => {
        const [id = "", name = ""] = line.split("\t")
        return isCommitId(id) ? [[name, id]] : []
      })
  )
})

/** Determines the object format of a remote from the ids of its refs. `names` are read if it has no default branch. */
export const remoteFormat = Effect.fnUntraced(function* (
  remote: LimitedRemote,
  names: ReadonlyArray<string>,
  home: string
): Effect.fn.Return<ObjectFormat, CheckoutError> {
  const [id] = (yield* listRefs(remote, ["HEAD", ...names], home)).values()
  if (id !== undefined) return formatOfId(id)
  return yield* new CheckoutError({ reason: "missing", why: { _tag: "DefaultBranchWithoutCommits" } })
})

/** Prefers a branch to a tag of the same name; an annotated tag is resolved to its commit. */
const candidates = (ref: string): ReadonlyArray<string> => {
  if (/[\p{Cc} ~^:?*[\\]|\.\.|@\{|\/\/|\.lock(\/|$)|\/\.|[./]$/u.test(ref) || ref === "" || ref.length > 500) return []
  if (ref.startsWith("refs/")) return [`${ref}^{}`, ref]
  return [`refs/heads/${ref}`, `refs/tags/${ref}^{}`, `refs/tags/${ref}`]
}
