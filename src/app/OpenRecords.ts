/**
 * Opens the records of a configuration for commands that read while the service runs. No lock is taken. A missing database file is not created.
 * Wiring only.
 */
import { Effect } from "effect"
import { existsSync } from "node:fs"
import { ExitWith } from "../cli/Exit.ts"
import { endWithCode, exitCodes } from "../cli/ExitCodes.ts"
import { loadForStores } from "./CommandConfig.ts"
import type { StoreError } from "../database/StoreError.ts"
import { layerRecords, locateDatabase } from "./Database.ts"
import * as Logging from "../observability/logs/Logging.ts"
import type { Records } from "../store/StoreLayer.ts"

/** Returns the end of a command that needs a database file which no service has created yet. */
export const noRecords = (path: string): ExitWith =>
  new ExitWith({
    code: exitCodes.failed,
    message: `no records yet: ${path} does not exist; start the service once, or run \`aicr db migrate\``
  })

/** Runs an operation on the records of a configuration file. */
export const onRecords = <A>(
  config: string,
  operation: Effect.Effect<A, StoreError | ExitWith, Records>
): Effect.Effect<A, ExitWith> =>
  Effect.gen(function* () {
    const snapshot = yield* loadForStores(config)
    const location = locateDatabase(snapshot)
    if (location.kind === "sqlite" && !existsSync(location.path)) {
      return yield* noRecords(location.path)
    }
    return yield* Effect.provide(operation, layerRecords(snapshot, "verify"))
  }).pipe(Effect.provide(Logging.layerAt("warn")), endWithCode)
