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

export interface ContextMounts {
  readonly mounted: ReadonlyArray<MountedContext>
  readonly notices: ReadonlyArray<string>
}

export const noContext: ContextMounts = { mounted: [], notices: [] }

const atOnce = 4
const kinds: Readonly<Record<ContextRepository["kind"], { readonly name: string; readonly read: boolean }>> = {
  git: { name: "git", read: true },
  perforce: { name: "Perforce", read: false },
  subversion: { name: "Subversion", read: true }
}
const unread = (kind: ContextRepository["kind"]): string =>
  `this build reads git and Subversion repositories as context, not ${kinds[kind].name} ones`

/** Returns problems for the start of the service and doctor. */
export const contextProblems = (snapshot: Snapshot): ReadonlyArray<ConfigIssue> =>
  [...snapshot.workspaces.values()].flatMap(({ id, enabled, contextRepositories }) =>
    contextRepositories.flatMap(({ alias, kind }): ReadonlyArray<ConfigIssue> =>
      !enabled || kinds[kind].read
        ? []
        : [
            {
              severity: "warning",
              path: `workspaces.instances.${id}.context_repositories`,
              message: `${alias} is not read in reviews: ${unread(kind)}`
            }
          ]
    )
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
  const { alias, kind, token_env } = repository
  if (!kinds[kind].read) return without(repository, unread(kind))
  const token = snapshot.credential(repository, "token")
  if (token === undefined && token_env !== undefined) {
    return without(repository, `the variable ${token_env} is not set`)
  }
  const request = requestOf(repository, token)
  if (request === undefined) return without(repository, "its URL is missing")
  const mounted = yield* Effect.result((yield* ContextRepositories).mount(request))
  if (mounted._tag === "Failure") {
    const { reason, message } = mounted.failure
    return without(
      repository,
      reason === "unauthorized"
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

const requestOf = (repository: ContextRepository, token: Redacted.Redacted | undefined): MountRequest | undefined => {
  const { max_mb, ref, revision, url } = repository
  const maxBytes = max_mb * 1_048_576
  const server = toContextServer(repository)
  if (server !== undefined) {
    return {
      vcs: server.vcs,
      server,
      path: "",
      revision: revision === undefined ? undefined : String(revision),
      maxBytes
    }
  }
  return url === undefined
    ? undefined
    : { url, ref, authorization: token === undefined ? undefined : authorization(token), maxBytes }
}

/** The form all git hosts take: any user, the token as password. */
const authorization = (token: Redacted.Redacted): Redacted.Redacted =>
  Redacted.make(
    `Authorization: Basic ${Buffer.from(`x-access-token:${Redacted.value(token)}`, "utf8").toString("base64")}`
  )
