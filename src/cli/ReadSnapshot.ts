/** Looks up values of a configuration file for commands, which end with the available names if a value is missing. */
import { Effect } from "effect"
import type { Env } from "../config/Credentials.ts"
import type { Snapshot } from "../config/Snapshot.ts"
import { refused } from "./Exit.ts"
import type { ExitWith } from "./Exit.ts"

/** Schema and YAML modules, loaded by commands that read a configuration. */
export const configuration = Effect.promise(() => import("../config/LoadConfig.ts"))

/** Returns the snapshot of a file, whichever variables are set; a refused file ends the command with every error. */
export const readSnapshot = (file: string, env: Env = process.env): Effect.Effect<Snapshot, ExitWith> =>
  Effect.flatMap(configuration, ({ loadConfig }) =>
    Effect.mapError(loadConfig({ file }, env, { unset: "warnings" }), ({ message }) => refused(message))
  )

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
