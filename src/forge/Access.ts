/**
 * Checks whether the credentials of a configuration have the permissions that reviews need, by reading from the hosts only; used
 * by `aicr doctor`. Reports one result per trigger (a git host with a credential) and repository that a workspace names.
 */
import { Effect } from "effect"
import type { Snapshot, TriggerProfile } from "../config/Snapshot.ts"
import { isForgeKind } from "../domain/Kinds.ts"
import type { ForgeKind } from "../domain/Kinds.ts"
import { publicUrl } from "../domain/RunLink.ts"
import { listSpellings } from "../domain/Vocabulary.ts"
import type { ForgeError } from "./ForgeError.ts"
import { listWebhookProblems, webhookPermission } from "./HostWebhook.ts"
import type { ForgeClient } from "./Forge.ts"
import { Forges } from "./Forges.ts"
import { hasCredential } from "./Profile.ts"

export interface AccessReport {
  readonly level: "ok" | "warning" | "error"
  readonly text: string
}

/** Upper bound for the repositories that are checked per trigger; more would add no information about the credential. */
const maxRepositories = 50

const listRepositories = (snapshot: Snapshot, trigger: string): ReadonlyArray<string> =>
  [
    ...new Set(
      [...snapshot.workspaces.values()].flatMap(({ instance }) =>
        instance.source_repo?.trigger === trigger ? [instance.source_repo.repo] : []
      )
    )
  ].slice(0, maxRepositories)

/** Returns whether a workspace of the repository reads artifacts of CI. */
const readsCi = (snapshot: Snapshot, trigger: string, fullName: string | undefined): fullName is string =>
  fullName !== undefined &&
  [...snapshot.workspaces.values()].some(
    ({ instance: { source_repo: source }, review }) =>
      source?.trigger === trigger && source.repo === fullName && (review.evidence.ci.artifacts ?? []).length > 0
  )

/** No commit has this id, so the host lists no run and checks only the permission. */
const noCommit = "0".repeat(40)

/** Returns what prevents the service from reading CI of a repository. */
const missingCi = Effect.fnUntraced(function* ({ ci }: ForgeClient, { kind }: TriggerProfile, fullName: string) {
  if (ci === undefined) return [`review.evidence.ci reads nothing: the API of ${kind} has no artifacts of CI`]
  const listed = yield* Effect.result(ci.runs({ fullName }, noCommit))
  return listed._tag === "Success" ? [] : [`review.evidence.ci reads nothing: ${listed.failure.message}`]
})

/** Returns the URLs at which the service receives deliveries of a host, the preferred one first; empty if its address is not configured. */
const listAddresses = (server: Snapshot["document"]["server"], kind: ForgeKind): ReadonlyArray<string> =>
  [kind, ...listSpellings("webhookPath", kind)].flatMap((name) => publicUrl(server, `/webhooks/${name}`) ?? [])

/** Returns the problems of the webhooks of a repository, or what the credential needs for listing them. */
const checkWebhooks = Effect.fnUntraced(function* (
  { document: { server } }: Snapshot,
  { webhooks }: ForgeClient,
  kind: TriggerProfile["kind"],
  fullName: string | undefined
): Effect.fn.Return<ReadonlyArray<AccessReport>> {
  if (webhooks === undefined || fullName === undefined || !isForgeKind(kind)) return []
  const listed = yield* Effect.result(webhooks({ fullName }))
  if (listed._tag === "Success")
    return listWebhookProblems(kind, listed.success, listAddresses(server, kind)).map(
      (text) => ({ level: "warning", text }) as const
    )
  const { message, reason } = listed.failure
  const isRefused = reason === "forbidden" || reason === "not_found"
  const text = `webhooks not checked: ${isRefused ? `the credential may not list them, which needs ${webhookPermission(kind)}` : message}`
  return [{ level: isRefused ? "ok" : "warning", text } as const]
})

const checkAccess = Effect.fnUntraced(function* (
  snapshot: Snapshot,
  profile: TriggerProfile,
  fullName: string | undefined
) {
  const client = (yield* Forges).client(profile)
  const suffix = fullName === undefined ? "" : ` on ${fullName}`
  const warn = (text: string): AccessReport => ({ level: "warning", text })
  const check = Effect.fnUntraced(function* (): Effect.fn.Return<ReadonlyArray<AccessReport>, ForgeError> {
    const { username } = yield* client.self
    const lacks = fullName === undefined ? [] : yield* client.missing({ fullName })
    const ci = readsCi(snapshot, profile.name, fullName) ? yield* missingCi(client, profile, fullName) : []
    const webhooks = yield* checkWebhooks(snapshot, client, profile.kind, fullName)
    const problems = [...[...lacks, ...ci].map(warn), ...webhooks]
    return problems.some(({ level }) => level === "warning")
      ? problems
      : [{ level: "ok", text: `authenticated as ${username}` }, ...problems]
  })
  const reports = yield* Effect.catch(check(), ({ message }) =>
    Effect.succeed<ReadonlyArray<AccessReport>>([{ level: "error", text: message }])
  )
  return reports.map(({ level, text }) => ({ level, text: `trigger ${profile.name}${suffix}: ${text}` }))
})

/** Checks the credentials of all triggers, or of the one with this name. */
export const reportAccess = Effect.fnUntraced(function* (
  snapshot: Snapshot,
  only?: string
): Effect.fn.Return<ReadonlyArray<AccessReport>, never, Forges> {
  const profiles = [...snapshot.triggers.values()].filter(
    (profile) =>
      profile.enabled &&
      isForgeKind(profile.kind) &&
      hasCredential(profile) &&
      (only === undefined || profile.name === only)
  )
  const targets = profiles.flatMap((profile) => {
    const repositories = listRepositories(snapshot, profile.name)
    return (repositories.length === 0 ? [undefined] : repositories).map((fullName) => ({ profile, fullName }))
  })
  const reports = yield* Effect.forEach(targets, ({ profile, fullName }) => checkAccess(snapshot, profile, fullName), {
    concurrency: 4
  })
  return reports.flat()
})
