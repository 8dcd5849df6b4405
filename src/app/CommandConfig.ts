/**
 * The configuration of commands that only open its stores. Where the database is enabled, the file may refer to entities of the database and
 * need not be valid alone. Wiring only.
 */
import { Effect, Result } from "effect"
import { parseFile, readBootstrap } from "../config/LayeredFile.ts"
import type { ConfigInvalid } from "../config/LoadConfig.ts"
import { loadConfig, readFileText } from "../config/LoadConfig.ts"
import type { Snapshot } from "../config/Snapshot.ts"

/** Returns the snapshot of a file, or of its sections that the database cannot change. Unset variables are warnings. */
export const loadForStores = (file: string): Effect.Effect<Snapshot, ConfigInvalid> =>
  Effect.catch(
    loadConfig({ file }, process.env, { unset: "warnings" }),
    Effect.fnUntraced(function* (invalid: ConfigInvalid) {
      const text = yield* readFileText(file)
      const bootstrap = Result.isSuccess(text) ? readBootstrap(parseFile(text.success, file, process.env)) : undefined
      return bootstrap?.document.config_sources.database.enabled === true ? bootstrap : yield* invalid
    })
  )
