/**
 * The configuration of commands that only open its stores. Where the database is enabled, the file may refer to entities of the database and
 * need not be valid alone. Wiring only.
 */
import { Effect, Result } from "effect"
import { parseFile, readBootstrap } from "../config/LayeredFile.ts"
import type { ConfigInvalid } from "../config/LoadConfig.ts"
import { loadConfig, readFileText } from "../config/LoadConfig.ts"
import type { Snapshot } from "../config/Snapshot.ts"

const parse = (file: string) =>
  Effect.map(readFileText(file), (text) =>
    Result.isSuccess(text) ? parseFile(text.success, file, process.env) : undefined
  )

/** Returns the sections of an invalid file that locate a running service, or undefined if these are invalid too. */
export const loadFileSections = (file: string): Effect.Effect<Snapshot | undefined> =>
  Effect.map(parse(file), (parsed) => (parsed === undefined ? undefined : readBootstrap({ ...parsed, issues: [] })))

/** Returns the snapshot of a file, or of its sections that the database cannot change. Unset variables are warnings. */
export const loadForStores = (file: string): Effect.Effect<Snapshot, ConfigInvalid> =>
  Effect.catch(
    loadConfig({ file }, process.env, { unset: "warnings" }),
    Effect.fnUntraced(function* (invalid: ConfigInvalid) {
      const parsed = yield* parse(file)
      const bootstrap = parsed === undefined ? undefined : readBootstrap(parsed)
      return bootstrap?.document.config_sources.database.enabled === true ? bootstrap : yield* invalid
    })
  )
