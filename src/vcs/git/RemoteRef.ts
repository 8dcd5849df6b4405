/** What a branch or tag of a remote is now. Asking also proves that the credential opens the repository. */
import { Effect } from "effect"
import { CheckoutError } from "../Checkout.ts"
import { remoteSettings, secretsOf } from "./Fetch.ts"
import type { Remote } from "./Fetch.ts"
import { runGit } from "./GitProcess.ts"
import { isCommitId } from "./Mirror.ts"

const noRepository = "/dev/null/none"

export interface RemoteRef {
  readonly commit: string
  /** To fetch by, where the server does not serve commits by id; undefined for a commit that was named by its id. */
  readonly name: string | undefined
}

/** `home`: a folder that holds no `.netrc`. */
export const remoteRef = Effect.fnUntraced(function* (
  remote: Remote,
  ref: string | undefined,
  home: string
): Effect.fn.Return<RemoteRef, CheckoutError> {
  const pinned = ref !== undefined && isCommitId(ref.toLowerCase()) ? ref.toLowerCase() : undefined
  const names = pinned !== undefined || ref === undefined ? ["HEAD"] : candidates(ref)
  if (names.length === 0) {
    return yield* new CheckoutError({ reason: "missing", message: `${JSON.stringify(ref)} is no name of a git ref` })
  }
  const { stdout } = yield* runGit(
    {
      args: ["ls-remote", "--quiet", "--", remote.url, ...names],
      // Without this git would read the configuration of a repository around the folder.
      gitDir: noRepository,
      home,
      settings: remoteSettings(remote),
      secrets: secretsOf(remote)
    },
    { timeoutMillis: 60_000, maxBytes: 1_048_576 }
  )
  if (pinned !== undefined) return { commit: pinned, name: undefined }
  const ids = new Map(
    stdout
      .toString("utf8")
      .split("\n")
      .map((line) => {
        const [id = "", name = ""] = line.split("\t")
        return [name, id]
      })
  )
  for (const name of names) {
    const commit = ids.get(name)
    if (commit !== undefined && isCommitId(commit)) return { commit, name: name.replace(/\^\{\}$/, "") }
  }
  return yield* new CheckoutError({
    reason: "missing",
    message: ref === undefined ? "the remote has no default branch" : `there is no branch or tag ${ref}`
  })
})

/** A branch before a tag of the same name; of an annotated tag the commit it is about. */
const candidates = (ref: string): ReadonlyArray<string> => {
  if (/[\p{Cc} ~^:?*[\\]|\.\.|@\{|\/\/|\.lock(\/|$)|\/\.|[./]$/u.test(ref) || ref === "" || ref.length > 500) return []
  if (ref.startsWith("refs/")) return [`${ref}^{}`, ref]
  return [`refs/heads/${ref}`, `refs/tags/${ref}^{}`, `refs/tags/${ref}`]
}
