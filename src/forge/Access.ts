/**
 * Whether the credentials of a configuration can do what reviews need, asked of the hosts by reading only: for doctor. One answer for
 * each trigger that is a git host with a credential, on each repository that a workspace names.
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

/** More repositories say nothing more about a credential. */
const mostRepositories = 50

const repositoriesOf = (snapshot: Snapshot, trigger: string): ReadonlyArray<string> =>
  [
    ...new Set(
      [...snapshot.workspaces.values()].flatMap(({ instance }) =>
        instance.source_repo?.trigger === trigger ? [instance.source_repo.repo] : []
      )
    )
  ].slice(0, mostRepositories)

const accessOf = Effect.fnUntraced(function* (profile: TriggerProfile, fullName: string | undefined) {
  const client = (yield* Forges).client(profile)
  const where = fullName === undefined ? "" : ` on ${fullName}`
  return yield* client.self.pipe(
    Effect.flatMap(({ username }) =>
      Effect.map(fullName === undefined ? Effect.succeed([]) : client.missing({ fullName }), (lacks) =>
        lacks.length === 0
          ? [{ level: "ok", text: `trigger ${profile.name}: authenticated as ${username}${where}` } as const]
          : lacks.map((text) => ({ level: "warning", text: `trigger ${profile.name}${where}: ${text}` }) as const)
      )
    ),
    Effect.catch((error) =>
      Effect.succeed([{ level: "error", text: `trigger ${profile.name}${where}: ${error.message}` } as const])
    )
  )
})

export const accessReports = Effect.fnUntraced(function* (
  snapshot: Snapshot
): Effect.fn.Return<ReadonlyArray<AccessReport>, never, Forges> {
  const profiles = [...snapshot.triggers.values()].filter(
    (profile) => profile.enabled && isForgeKind(profile.kind) && hasCredential(profile)
  )
  const asked = profiles.flatMap((profile) => {
    const repositories = repositoriesOf(snapshot, profile.name)
    return (repositories.length === 0 ? [undefined] : repositories).map((fullName) => ({ profile, fullName }))
  })
  const reports = yield* Effect.forEach(asked, ({ profile, fullName }) => accessOf(profile, fullName), {
    concurrency: 4
  })
  return reports.flat()
})
