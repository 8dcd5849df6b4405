/** Reads configurations for commands, and looks up their values; a command ends with the available names if a value is missing. */
import { Console, Context, Effect } from "effect"
import { formatIssue } from "../config/ConfigIssue.ts"
import type { Env } from "../config/Credentials.ts"
import type { EffectiveFile, ReadRevisions } from "../config/revisions/EffectiveFile.ts"
import type { Snapshot } from "../config/Snapshot.ts"
import { ExitWith, refused } from "./Exit.ts"
import { exitCodes } from "./ExitCodes.ts"

/** The newest revisions of the database that a configuration enables. */
export class StoredRevisions extends Context.Service<StoredRevisions, { readonly read: ReadRevisions }>()(
  "aicr/cli/StoredRevisions"
) {}

export interface ReadOptions {
  /** Ignores the database. */
  readonly fileOnly: boolean
  readonly env?: Env | undefined
}

/** Opens a file and the newest revision of its database. Schema and YAML modules are loaded on demand. */
export const openFile = Effect.fnUntraced(function* (file: string, { env = process.env, fileOnly }: ReadOptions) {
  const { openEffective } = yield* Effect.promise(() => import("../config/revisions/EffectiveFile.ts"))
  const { read } = yield* StoredRevisions
  return yield* openEffective(file, env, fileOnly ? undefined : read)
})

/** Next step of an operator whose database cannot be read. */
export const databaseAdvice = "make the database reachable, or use the file alone with --file-only"

/** Names what a configuration consists of; undefined if it is the file alone. */
export const describeSource = (file: string, { source }: Pick<EffectiveFile, "source">): string | undefined =>
  source._tag !== "Revision"
    ? undefined
    : source.number === 0
      ? `${file}; its database has no revision yet`
      : `${file} with revision ${source.number} of its database`

const listErrors = ({ read, source }: EffectiveFile): string =>
  read({ unset: "warnings" })
    .issues.filter(({ severity }) => severity === "error")
    .map(formatIssue)
    .concat(source._tag === "Unavailable" ? [databaseAdvice] : [])
    .join("\n")

/**
 * Returns the effective snapshot, whichever variables are set, and prints the revision that it contains. A refused configuration ends the
 * command with every error, a database that cannot be read with its reason.
 */
export const requireValid = Effect.fnUntraced(function* (
  file: string,
  found: EffectiveFile
): Effect.fn.Return<Snapshot, ExitWith> {
  const { snapshot } = found.read({ unset: "warnings" })
  const source = describeSource(file, found)
  if (snapshot === undefined) {
    const code = found.source._tag === "Unavailable" ? exitCodes.failed : exitCodes.refused
    const invalid = source === undefined ? "" : `${source} is not valid\n`
    return yield* new ExitWith({ code, message: `${invalid}${listErrors(found)}` })
  }
  if (source !== undefined) yield* Console.error(`configuration: ${source}`)
  return snapshot
})

/** Opens a file and returns its effective snapshot, as `requireValid` does. */
export const readSnapshot = (file: string, options: ReadOptions): Effect.Effect<Snapshot, ExitWith, StoredRevisions> =>
  Effect.flatMap(openFile(file, options), (found) => requireValid(file, found))

/** Returns the item of that name, or ends the command with the names that `owner` has. `what` is the noun for such an item. */
export const named = <A>(
  owner: string,
  what: string,
  things: ReadonlyMap<string, A>,
  name: string
): Effect.Effect<A, ExitWith> => {
  const thing = things.get(name)
  if (thing !== undefined) return Effect.succeed(thing)
  const names = [...things.keys()].slice(0, 20).join(", ") || "there are none"
  return refused(`${owner} has no ${what} ${JSON.stringify(name)}; it has: ${names}`)
}
