/**
 * The further repositories of a workspace (`context_repositories`), made readable for one review. One that cannot be
 * read is skipped with a notice, and the review continues without it.
 */
import { Effect, Redacted } from "effect"
import type { Scope } from "effect"
import type { ConfigIssue } from "../../config/ConfigIssue.ts"
import type { Snapshot, Workspace } from "../../config/Snapshot.ts"
import type { ContextRepository } from "../../config/schema/Workspaces.ts"
import { scrubSecrets } from "../../review/Secrets.ts"
import { ContextRepositories } from "../../vcs/ContextRepositories.ts"
import { toContextServer } from "../../vcs/ConfiguredServer.ts"
import type { MountedContext, MountRequest } from "../../vcs/ContextRepositories.ts"
import type { Reason } from "../../domain/Reason.ts"

export interface ContextMounts {
  readonly mounted: ReadonlyArray<MountedContext>
  readonly notices: ReadonlyArray<Reason>
}

export const noContext: ContextMounts = { mounted: [], notices: [] }

const atOnce = 4

/** Returns problems for the start of the service and doctor. */
export const contextProblems = (snapshot: Snapshot): ReadonlyArray<ConfigIssue> =>
  [...snapshot.workspaces.values()].flatMap(({ id, enabled, contextRepositories }) =>
    contextRepositories.flatMap((repository): ReadonlyArray<ConfigIssue> => {
      const server = enabled ? toContextServer(repository, snapshot) : undefined
      return server === undefined || !("_tag" in server)
        ? []
        : [
            {
              severity: "warning",
              path: `workspaces.instances.${id}.context_repositories`,
              reason: { _tag: "ContextNotReadInReviews", alias: repository.alias, reason: server }
            }
          ]
    })
  )

/**
 * Mounts the context repositories. `outsider` names the requester of a review who is not a member of its repository;
 * undefined for members.
 */
export const mountContext = Effect.fn("mountContext")(function* (
  snapshot: Snapshot,
  workspace: Workspace,
  outsider: string | undefined
): Effect.fn.Return<ContextMounts, never, ContextRepositories | Scope.Scope> {
  const found = yield* Effect.forEach(
    workspace.contextRepositories,
    (one) =>
      outsider === undefined || one.visibility === "any_author"
        ? mountOne(snapshot, one)
        : Effect.succeed(without(one, { _tag: "NotMember", person: outsider })),
    { concurrency: atOnce }
  )
  const notices = found.flatMap((one) => ("_tag" in one ? [one] : []))
  for (const notice of notices) yield* Effect.logWarning("context repository not mounted", { reason: notice })
  return { mounted: found.flatMap((one) => ("_tag" in one ? [] : [one])), notices }
})

const without = ({ alias }: ContextRepository, reason: Reason): Reason => ({ _tag: "ContextUnread", alias, reason })

const mountOne = Effect.fnUntraced(function* (snapshot: Snapshot, repository: ContextRepository) {
  const { alias, token_env } = repository
  const token = snapshot.credential(repository, "token")
  if (token === undefined && token_env !== undefined) {
    return without(repository, { _tag: "TokenVariableUnset", variable: token_env })
  }
  const request = requestOf(repository, snapshot, token)
  if ("_tag" in request) return without(repository, request)
  const mounted = yield* Effect.result((yield* ContextRepositories).mount(request))
  if (mounted._tag === "Failure") {
    const { reason, why } = mounted.failure
    return without(
      repository,
      reason === "unauthorized" && repository.kind === "git" ? { _tag: "ContextRefused", reason: why } : why
    )
  }
  const { commit, read, search } = mounted.success
  return {
    alias,
    commit,
    search,
    read: (path, limits) =>
      Effect.map(read(path, limits), (entry) =>
        entry._tag === "File" ? { ...entry, text: scrubSecrets(entry.text) } : entry
      )
  } satisfies MountedContext
})

const requestOf = (
  repository: ContextRepository,
  snapshot: Snapshot,
  token: Redacted.Redacted | undefined
): MountRequest | Reason => {
  const { depot_path, max_mb, ref, revision, url } = repository
  const maxBytes = max_mb * 1_048_576
  const server = toContextServer(repository, snapshot)
  if (server !== undefined) {
    if ("_tag" in server) return server
    return {
      vcs: server.vcs,
      server,
      path: server.vcs === "perforce" ? (depot_path ?? "") : "",
      revision: revision === undefined ? undefined : String(revision),
      maxBytes
    }
  }
  return url === undefined
    ? { _tag: "UrlMissing" }
    : { url, ref, authorization: token === undefined ? undefined : authorization(token), maxBytes }
}

/** The form all git hosts take: any user, the token as password. */
const authorization = (token: Redacted.Redacted): Redacted.Redacted =>
  Redacted.make(
    `Authorization: Basic ${Buffer.from(`x-access-token:${Redacted.value(token)}`, "utf8").toString("base64")}`
  )
