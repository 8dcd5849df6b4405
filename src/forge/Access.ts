/**
 * Checks whether the credentials of a configuration have the permissions that reviews need, by reading from the hosts only; used
 * by `aicr doctor`. Reports one result per trigger (a git host with a credential) and repository that a workspace names.
 */
import { Effect } from "effect"
import type { Snapshot, TriggerProfile } from "../config/Snapshot.ts"
import { noCommit } from "../domain/Change.ts"
import { isForgeKind } from "../domain/Kinds.ts"
import { webhookSetups } from "../domain/WebhookSetup.ts"
import type { ForgeError } from "./ForgeError.ts"
import { findServing, readHook, wantHook } from "./EnsureHook.ts"
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

/** Returns the problems of the webhook that serves a repository, or what the credential needs for reading it. */
const checkWebhooks = Effect.fnUntraced(function* (
  snapshot: Snapshot,
  { hooks }: ForgeClient,
  { kind, name }: TriggerProfile,
  fullName: string | undefined
): Effect.fn.Return<ReadonlyArray<AccessReport>> {
  if (fullName === undefined || !isForgeKind(kind)) return []
  const workspaces = [...snapshot.workspaces.values()].filter(
    ({ instance: { source_repo: source } }) => source?.trigger === name && source.repo === fullName
  )
  const wanted = wantHook(snapshot, kind, workspaces)
  const owner = fullName.slice(0, Math.max(0, fullName.lastIndexOf("/")))
  const warn = (problems: ReadonlyArray<Reason>) => problems.map((reason) => ({ level: "warning", reason }) as const)
  const check = Effect.fnUntraced(function* (): Effect.fn.Return<ReadonlyArray<AccessReport>, ForgeError> {
    const own = yield* Effect.result(readHook(hooks, { _tag: "Repository", fullName }, wanted))
    if (own._tag === "Success" && own.success.hook !== undefined) return warn(own.success.problems)
    const serving = yield* findServing(hooks, owner, wanted)
    if (serving !== undefined) return warn(serving.read.problems)
    return own._tag === "Success" ? warn(own.success.problems) : yield* own.failure
  })
  return yield* Effect.catch(check(), ({ reason, why }) =>
    Effect.succeed<ReadonlyArray<AccessReport>>([
      reason === "forbidden" || reason === "not_found"
        ? { level: "ok", reason: { _tag: "WebhooksNotListed", permission: webhookSetups[kind].hookRights } }
        : { level: "warning", reason: { _tag: "WebhooksUnreadable", why } }
    ])
  )
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
    const webhooks = yield* checkWebhooks(snapshot, client, profile, fullName)
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
