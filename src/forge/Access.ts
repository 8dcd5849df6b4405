/**
 * Checks whether the credentials of a configuration have the permissions that reviews need, by reading from the hosts only; used
 * by `aicr doctor`. Reports one result per trigger (a git host with a credential) and repository that a workspace names.
 */
import { Effect } from "effect"
import type { Snapshot, TriggerProfile } from "../config/Snapshot.ts"
import { isForgeKind } from "../domain/Kinds.ts"
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

const checkAccess = Effect.fnUntraced(function* (profile: TriggerProfile, fullName: string | undefined) {
  const client = (yield* Forges).client(profile)
  const suffix = fullName === undefined ? "" : ` on ${fullName}`
  return yield* client.self.pipe(
    Effect.flatMap(({ username }) =>
      Effect.map(fullName === undefined ? Effect.succeed([]) : client.missing({ fullName }), (lacks) =>
        lacks.length === 0
          ? [{ level: "ok", text: `trigger ${profile.name}: authenticated as ${username}${suffix}` } as const]
          : lacks.map((text) => ({ level: "warning", text: `trigger ${profile.name}${suffix}: ${text}` }) as const)
      )
    ),
    Effect.catch((error) =>
      Effect.succeed([{ level: "error", text: `trigger ${profile.name}${suffix}: ${error.message}` } as const])
    )
  )
})

export const reportAccess = Effect.fnUntraced(function* (
  snapshot: Snapshot
): Effect.fn.Return<ReadonlyArray<AccessReport>, never, Forges> {
  const profiles = [...snapshot.triggers.values()].filter(
    (profile) => profile.enabled && isForgeKind(profile.kind) && hasCredential(profile)
  )
  const targets = profiles.flatMap((profile) => {
    const repositories = listRepositories(snapshot, profile.name)
    return (repositories.length === 0 ? [undefined] : repositories).map((fullName) => ({ profile, fullName }))
  })
  const reports = yield* Effect.forEach(targets, ({ profile, fullName }) => checkAccess(profile, fullName), {
    concurrency: 4
  })
  return reports.flat()
})
