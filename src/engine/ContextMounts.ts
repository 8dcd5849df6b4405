/**
 * The further repositories of a workspace (`context_repositories`), made readable for one review. One that cannot be
 * read is skipped with a notice, and the review continues without it.
 */
import { Effect, Redacted } from "effect"
import type { Scope } from "effect"
import type { ConfigIssue } from "../config/ConfigIssue.ts"
import type { Snapshot, Workspace } from "../config/Snapshot.ts"
import type { ContextRepository } from "../config/schema/Workspaces.ts"
import { scrubSecrets } from "../review/Secrets.ts"
import { ContextRepositories } from "../vcs/ContextRepositories.ts"
import { toContextServer } from "../vcs/ConfiguredServer.ts"
import type { MountedContext, MountRequest } from "../vcs/ContextRepositories.ts"
import { verbatimReason } from "../domain/Reason.ts"

export interface ContextMounts {
  readonly mounted: ReadonlyArray<MountedContext>
  readonly notices: ReadonlyArray<string>
}

export const noContext: ContextMounts = { mounted: [], notices: [] }

const atOnce = 4

/** Returns problems for the start of the service and doctor. */
export const contextProblems = (snapshot: Snapshot): ReadonlyArray<ConfigIssue> =>
  [...snapshot.workspaces.values()].flatMap(({ id, enabled, contextRepositories }) =>
    contextRepositories.flatMap((repository): ReadonlyArray<ConfigIssue> => {
      const server = enabled ? toContextServer(repository, snapshot) : undefined
      return typeof server !== "string"
        ? []
        : [
            {
              severity: "warning",
              path: `workspaces.instances.${id}.context_repositories`,
              reason: verbatimReason(`${repository.alias} is not read in reviews: ${server}`)
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
        : Effect.succeed(
            without(one, `${outsider} has no write access to this repository, and only members may have it read`)
          ),
    { concurrency: atOnce }
  )
  const notices = found.flatMap((one) => (typeof one === "string" ? [one] : []))
  for (const notice of notices) yield* Effect.logWarning("context repository not mounted", { reason: notice })
  return { mounted: found.flatMap((one) => (typeof one === "string" ? [] : [one])), notices }
})

const without = ({ alias }: ContextRepository, why: string): string =>
  `The context repository ${alias} was not read: ${why}.`

const mountOne = Effect.fnUntraced(function* (snapshot: Snapshot, repository: ContextRepository) {
  const { alias, token_env } = repository
  const token = snapshot.credential(repository, "token")
  if (token === undefined && token_env !== undefined) {
    return without(repository, `the variable ${token_env} is not set`)
  }
  const request = requestOf(repository, snapshot, token)
  if (typeof request === "string") return without(repository, request)
  const mounted = yield* Effect.result((yield* ContextRepositories).mount(request))
  if (mounted._tag === "Failure") {
    const { reason, message } = mounted.failure
    return without(
      repository,
      reason === "unauthorized" && repository.kind === "git"
        ? `its host does not let us in; set its token_env to a token that may read it (${message})`
        : message
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
): MountRequest | string => {
  const { depot_path, max_mb, ref, revision, url } = repository
  const maxBytes = max_mb * 1_048_576
  const server = toContextServer(repository, snapshot)
  if (typeof server === "string") return server
  if (server !== undefined) {
    return {
      vcs: server.vcs,
      server,
      path: server.vcs === "perforce" ? (depot_path ?? "") : "",
      revision: revision === undefined ? undefined : String(revision),
      maxBytes
    }
  }
  return url === undefined
    ? "its URL is missing"
    : { url, ref, authorization: token === undefined ? undefined : authorization(token), maxBytes }
}

/** The form all git hosts take: any user, the token as password. */
const authorization = (token: Redacted.Redacted): Redacted.Redacted =>
  Redacted.make(
    `Authorization: Basic ${Buffer.from(`x-access-token:${Redacted.value(token)}`, "utf8").toString("base64")}`
  )
