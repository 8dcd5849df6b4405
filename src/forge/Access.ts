/**
 * Checks whether the credentials of a configuration have the permissions that reviews need, by reading from the hosts only; used
 * by `aicr doctor`. Reports one result per trigger (a git host with a credential) and repository that a workspace names.
 */
import { Effect } from "effect"
import type { Snapshot, TriggerProfile } from "../config/Snapshot.ts"
import { noCommit } from "../domain/Change.ts"
import { isForgeKind } from "../domain/Kinds.ts"
import type { ForgeKind } from "../domain/Kinds.ts"
import { publicUrl } from "../domain/RunLink.ts"
import { listSpellings } from "../domain/Vocabulary.ts"
import { webhookSetups } from "../domain/WebhookSetup.ts"
import type { ForgeError } from "./ForgeError.ts"
import { listWebhookProblems } from "./hosts/HostWebhook.ts"
import type { ForgeClient } from "./Forge.ts"
import { Forges } from "./Forges.ts"
import { hasCredential } from "./http/Profile.ts"
import type { Reason } from "../domain/Reason.ts"

export interface AccessReport {
  readonly level: "ok" | "warning" | "error"
  readonly reason: Reason
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

/** Returns what prevents the service from reading CI of a repository. */
const missingCi = Effect.fnUntraced(function* (
  { ci }: ForgeClient,
  { kind }: TriggerProfile,
  fullName: string
): Effect.fn.Return<ReadonlyArray<Reason>> {
  if (ci === undefined) return [{ _tag: "NoCiAtHost", kind }]
  // The host lists no run of no commit, and checks only the permission.
  const listed = yield* Effect.result(ci.runs({ fullName }, noCommit))
  return listed._tag === "Success" ? [] : [{ _tag: "CiUnreadable", why: listed.failure.why }]
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
      (reason) => ({ level: "warning", reason }) as const
    )
  const { reason, why } = listed.failure
  return reason === "forbidden" || reason === "not_found"
    ? [{ level: "ok", reason: { _tag: "WebhooksNotListed", permission: webhookSetups[kind].hookRights } }]
    : [{ level: "warning", reason: { _tag: "WebhooksUnreadable", why } }]
})

const checkAccess = Effect.fnUntraced(function* (
  snapshot: Snapshot,
  profile: TriggerProfile,
  fullName: string | undefined
) {
  const client = (yield* Forges).client(profile)
  const warn = (reason: Reason): AccessReport => ({ level: "warning", reason })
  const check = Effect.fnUntraced(function* (): Effect.fn.Return<ReadonlyArray<AccessReport>, ForgeError> {
    const { username } = yield* client.self
    const lacks = fullName === undefined ? [] : yield* client.missing({ fullName })
    const ci = readsCi(snapshot, profile.name, fullName) ? yield* missingCi(client, profile, fullName) : []
    const webhooks = yield* checkWebhooks(snapshot, client, profile.kind, fullName)
    const problems = [...[...lacks, ...ci].map(warn), ...webhooks]
    return problems.some(({ level }) => level === "warning")
      ? problems
      : [{ level: "ok", reason: { _tag: "AuthenticatedAs", user: username } }, ...problems]
  })
  const reports = yield* Effect.catch(check(), ({ why }) =>
    Effect.succeed<ReadonlyArray<AccessReport>>([{ level: "error", reason: why }])
  )
  return reports.map(({ level, reason }): AccessReport => ({
    level,
    reason: { _tag: "OfTrigger", trigger: profile.name, repo: fullName, reason }
  }))
})

/** Returns the enabled triggers of git hosts whose credential is not set: every review of theirs fails. Pure. */
export const listWithoutCredential = ({ triggers }: Pick<Snapshot, "triggers">): ReadonlyArray<Reason> =>
  [...triggers.values()]
    .filter((profile) => profile.enabled && isForgeKind(profile.kind) && !hasCredential(profile))
    .map(({ name }) => ({ _tag: "TriggerWithoutCredential", trigger: name }))

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
