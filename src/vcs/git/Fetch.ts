/**
 * Fetches the two commits of a review into a mirror: by id, which needs no list of the server's refs and so costs the same with
 * forty pull requests as with four thousand; by the named refs where the server does not serve ids.
 */
import { Effect, Redacted } from "effect"
import type { GitCheckoutRequest } from "../Checkout.ts"
import { CheckoutError } from "../Checkout.ts"
import type { GitSetting } from "./GitEnvironment.ts"
import { runGit } from "./GitProcess.ts"
import { hasCommit, inMirror, isCommitId, toRef, tidy } from "./Mirror.ts"
import type { Mirror } from "./Mirror.ts"
import { localTime, networkTime } from "./TimeLimit.ts"

/** URL of the remote and the credential for it. */
export type Remote = Pick<GitCheckoutRequest, "url" | "authorization"> &
  Partial<Pick<GitCheckoutRequest, "tlsCaPath" | "proxy">>

export const isZero = (id: string): boolean => /^0+$/.test(id)

/** Fails for anything but full ids: they become arguments and file names. */
export const checkIds = (request: GitCheckoutRequest): CheckoutError | undefined => {
  for (const [name, id] of [
    ["head", request.head],
    ["base", request.base],
    ["rules", request.rules?.commit]
  ] as const) {
    if (id !== undefined && !isCommitId(id))
      return new CheckoutError({ reason: "failed", why: { _tag: "NotCommitId", name, id: show(id) } })
    if (id !== undefined && !isZero(id) && id.length !== request.head.length)
      return new CheckoutError({
        reason: "failed",
        why: { _tag: "MixedObjectFormats", name, digits: id.length, other: request.head.length }
      })
  }
  return isZero(request.head) ? new CheckoutError({ reason: "failed", why: { _tag: "BranchDeleted" } }) : undefined
}

const show = (text: string): string => JSON.stringify(text.slice(0, 100))

/** Returns `refs/…` unchanged and a bare name as a branch; undefined for an invalid ref name. */
export const refName = (name: string | undefined): string | undefined => {
  if (name === undefined || name === "HEAD") return name
  const full = name.startsWith("refs/") ? name : `refs/heads/${name}`
  return /[\p{Cc} ~^:?*[\\]|\.\.|@\{|\/\/|\.lock(\/|$)|\/\.|[./]$/u.test(full) || full.length > 512 ? undefined : full
}

/**
 * Returns the settings for one remote. The header is bound to the origin of the URL, and redirects are disabled with a
 * credential, so that it never reaches another host.
 */
export const remoteSettings = (request: Remote): ReadonlyArray<GitSetting> => {
  const settings: Array<GitSetting> = []
  const origin = new URL(request.url).origin
  if (request.authorization !== undefined) {
    settings.push([`http.${origin}/.extraHeader`, Redacted.value(request.authorization)])
    settings.push(["http.followRedirects", "false"])
  }
  if (request.tlsCaPath !== undefined) settings.push(["http.sslCAInfo", request.tlsCaPath])
  if (request.proxy !== undefined) settings.push(["http.proxy", Redacted.value(request.proxy)])
  return settings
}

export const listSecrets = (request: Remote): ReadonlyArray<string> =>
  [request.authorization, request.proxy].flatMap((secret) => (secret === undefined ? [] : [Redacted.value(secret)]))

/** Fails unless the URL is an http(s) one without credentials. */
export const checkUrl = (text: string): CheckoutError | undefined => {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || (url.protocol !== "https:" && url.protocol !== "http:")) {
    return new CheckoutError({
      reason: "failed",
      why: { _tag: "CloneUrlNotHttp" }
    })
  }
  return url.username === "" && url.password === ""
    ? undefined
    : new CheckoutError({
        reason: "failed",
        why: { _tag: "CloneUrlWithCredentials" }
      })
}

export const fetchCommits = Effect.fn("fetchCommits")(function* (
  mirror: Mirror,
  request: GitCheckoutRequest,
  timeoutMillis: number
): Effect.fn.Return<void, CheckoutError> {
  const wanted = [
    ...new Set([request.head, request.base, ...(request.rules === undefined ? [] : [request.rules.commit])])
  ].filter((id) => !isZero(id))
  if (yield* allHere(mirror, wanted)) return
  if (request.isOffline === true)
    return yield* new CheckoutError({
      reason: "absent",
      why: { _tag: "CommitNotInRefs", commit: wanted.join(", "), refs: [] }
    })
  yield* mirror.exclusive(
    Effect.gen(function* () {
      const missing: Array<string> = []
      for (const id of wanted) if (!(yield* hasCommit(mirror, id))) missing.push(id)
      if (missing.length === 0) return
      yield* fetchRefs(
        mirror,
        request,
        missing.map((id) => `+${id}:${toRef(id)}`),
        timeoutMillis
      ).pipe(
        Effect.catchIf(
          (error) => error.reason === "absent",
          (error) => byName(mirror, request, missing, error, timeoutMillis)
        )
      )
      yield* tidy(mirror).pipe(
        // The commits are fetched; failed maintenance of the mirror is repeated after a later fetch.
        Effect.catch((error) =>
          Effect.logWarning("mirror not cleaned", { directory: mirror.directory, error: error.message })
        )
      )
    })
  )
})

const allHere = Effect.fnUntraced(function* (mirror: Mirror, ids: ReadonlyArray<string>) {
  for (const id of ids) if (!(yield* hasCommit(mirror, id))) return false
  return true
})

export const fetchRefs = (
  mirror: Mirror,
  request: Remote,
  refspecs: ReadonlyArray<string>,
  timeoutMillis: number,
  more: ReadonlyArray<string> = []
): Effect.Effect<void, CheckoutError> => {
  const options = [
    "--quiet",
    "--no-tags",
    "--no-write-fetch-head",
    "--no-auto-gc",
    "--no-recurse-submodules",
    "--refmap=",
    ...more
  ]
  return runGit(
    {
      ...inMirror(mirror, ["fetch", ...options, "--", request.url, ...refspecs]),
      settings: remoteSettings(request),
      secrets: listSecrets(request)
    },
    { time: networkTime(timeoutMillis), maxBytes: 1_048_576 }
  ).pipe(Effect.asVoid)
}

/** The server refused an id, so fetch the refs that should contain the commits and check that they do. */
const byName = Effect.fnUntraced(function* (
  mirror: Mirror,
  request: GitCheckoutRequest,
  missing: ReadonlyArray<string>,
  refusal: CheckoutError,
  timeoutMillis: number
): Effect.fn.Return<void, CheckoutError> {
  const names = [
    missing.includes(request.head) ? request.headRef : undefined,
    missing.includes(request.base) ? request.baseRef : undefined,
    request.rules !== undefined && missing.includes(request.rules.commit) ? request.rules.ref : undefined
  ]
  const refs = [...new Set(names.flatMap((name) => refName(name) ?? []))]
  if (refs.length === 0) return yield* refusal
  yield* fetchRefs(
    mirror,
    request,
    refs.map((ref, index) => `+${ref}:refs/aicr/by-name-${index}`),
    timeoutMillis
  )
  for (const id of missing) {
    yield* runGit(inMirror(mirror, ["update-ref", toRef(id), id]), {
      time: localTime("history"),
      maxBytes: 65_536
    }).pipe(
      Effect.mapError((error) =>
        error.reason === "limit"
          ? error
          : new CheckoutError({
              reason: "absent",
              why: { _tag: "CommitNotInRefs", commit: id, refs }
            })
      )
    )
  }
})
