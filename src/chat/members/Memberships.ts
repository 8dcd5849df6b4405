/**
 * Determines in which scopes of command bindings a person is. A scope whose directory cannot be read contains no one: rights fail closed.
 * Rights use listings of at most 15 minutes, however long listings are kept for other purposes.
 */
import { Duration, Effect } from "effect"
import type { Snapshot } from "../../config/Snapshot.ts"
import { listScopes } from "../Authorise.ts"
import type { Requester } from "../Authorise.ts"
import { appOfConnection } from "./DirectoryApps.ts"
import { Directories } from "./Directories.ts"
import { scopeKey } from "./Scope.ts"

const maxAgeMillis = Duration.toMillis("15 minutes")

/** Ids by which the directory lists a person; those of other corporations are not in it. */
const directoryId = ({ id, type }: Requester["sender"]): string | undefined =>
  type === "wecom_encrypted_userid" ? undefined : id

/** Runs an effect that awaits listings. */
export type AwaitListing = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

/** Returns the keys of the scopes that contain the person. */
export const findMemberships = Effect.fnUntraced(function* (
  snapshot: Pick<Snapshot, "credential" | "document">,
  connection: string,
  requester: Requester,
  now: number,
  awaitListing: AwaitListing
) {
  const scopes = listScopes(snapshot.document.im, connection, requester, now)
  const id = directoryId(requester.sender)
  const app = scopes.length === 0 ? undefined : appOfConnection(snapshot, connection)
  if (app === undefined || id === undefined) return new Set<string>()
  const directories = yield* Directories
  const ttl = Duration.toMillis(
    Duration.seconds(snapshot.document.outputs.author_resolution.directory_cache_ttl_seconds)
  )
  // Several directories that do not respond delay a person for the time of one.
  const found = yield* awaitListing(
    Effect.forEach(
      scopes,
      (scope) =>
        directories.listScope(app, scope, Math.min(ttl, maxAgeMillis)).pipe(
          Effect.map((people) => (people.has(id) ? [scopeKey(scope)] : [])),
          Effect.orElseSucceed(() => [])
        ),
      { concurrency: 8 }
    )
  )
  return new Set<string>(found.flat())
})
