/**
 * Checks for `aicr doctor` what a checkout does first: git lists the refs of a repository of each trigger, with its own environment, the
 * certificate, the proxy and the credential of the trigger. The HTTP client of the service differs in proxies and certificates.
 */
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect } from "effect"
import { usesHosts } from "../config/credentials/RoleCredentials.ts"
import type { Snapshot, TriggerProfile } from "../config/Snapshot.ts"
import { cloneUrl } from "../domain/HostUrls.ts"
import { isForgeKind } from "../domain/Kinds.ts"
import type { Reason } from "../domain/Reason.ts"
import type { Role } from "../domain/Role.ts"
import type { AccessReport } from "../forge/Access.ts"
import { Forges } from "../forge/Forges.ts"
import { hasCredential } from "../forge/http/Profile.ts"
import { processLimits } from "../vcs/process/ProcessLimits.ts"
import { remoteRef } from "../vcs/git/RemoteRef.ts"
import { gitTransport } from "../vcs/GitTransport.ts"

const temporaryHome = Effect.acquireRelease(
  Effect.promise(() => mkdtemp(join(tmpdir(), "aicr-doctor-"))),
  (folder) => Effect.promise(() => rm(folder, { recursive: true, force: true }))
)

/** Returns the first repository of a trigger that a workspace names. The transport is the same for all of them. */
const findRepository = ({ workspaces }: Snapshot, trigger: string): string | undefined =>
  [...workspaces.values()].find(({ enabled, instance }) => enabled && instance.source_repo?.trigger === trigger)
    ?.instance.source_repo?.repo

const checkTrigger = Effect.fnUntraced(function* (snapshot: Snapshot, profile: TriggerProfile, home: string) {
  const { baseUrl, kind, name } = profile
  const fullName = findRepository(snapshot, name)
  if (!profile.enabled || !isForgeKind(kind) || !hasCredential(profile)) return []
  if (baseUrl === undefined || fullName === undefined) return []
  const report = (level: AccessReport["level"], reason: Reason): ReadonlyArray<AccessReport> => [
    { level, reason: { _tag: "OfTrigger", trigger: name, repo: fullName, reason } }
  ]
  const repo = { fullName }
  const authorization = yield* Effect.result((yield* Forges).client(profile).gitAuthorization(repo))
  // The check of the host has reported it.
  if (authorization._tag === "Failure") return []
  const remote = {
    url: cloneUrl(baseUrl, repo),
    authorization: authorization.success,
    ...gitTransport(profile),
    limits: processLimits(snapshot.document.workspaces.limits)
  }
  const listed = yield* Effect.result(remoteRef(remote, undefined, home))
  if (listed._tag === "Success") return report("ok", { _tag: "GitReads" })
  const { reason, why } = listed.failure
  // A repository without commits has no default branch.
  return report(reason === "missing" ? "warning" : "error", { _tag: "GitFails", why })
})

export const gitAccess = (snapshot: Snapshot, roles: ReadonlySet<Role>): Effect.Effect<ReadonlyArray<AccessReport>> =>
  Effect.gen(function* () {
    if (!usesHosts(roles)) return []
    const home = yield* temporaryHome
    const reports = yield* Effect.forEach(snapshot.triggers.values(), (one) => checkTrigger(snapshot, one, home), {
      concurrency: 4
    })
    return reports.flat()
  }).pipe(Effect.scoped, Effect.provide(Forges.layer))
