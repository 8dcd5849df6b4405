/**
 * Opens the records of a configuration for commands that read while the service runs. No lock is taken. A missing database file is not created.
 * Wiring only.
 */
import { Effect } from "effect"
import { existsSync } from "node:fs"
import { ExitWith } from "../cli/Exit.ts"
import { endWithCode } from "../cli/ExitCodes.ts"
import { loadForStores } from "./CommandConfig.ts"
import type { StoreError } from "../database/StoreError.ts"
import { layerRecords, locateDatabase } from "./Database.ts"
import * as Logging from "../observability/Logging.ts"
import type { Records } from "../store/Store.ts"

/** Runs an operation on the records of a configuration file. */
export const onRecords = <A>(
  config: string,
  operation: Effect.Effect<A, StoreError | ExitWith, Records>
): Effect.Effect<A, ExitWith> =>
  Effect.gen(function* () {
    const snapshot = yield* loadForStores(config)
    const location = locateDatabase(snapshot)
    if (location.kind === "sqlite" && !existsSync(location.path)) {
      return yield* new ExitWith({ code: 3, message: `no records yet: ${location.path} does not exist` })
    }
    return yield* Effect.provide(operation, layerRecords(snapshot, "verify"))
  }).pipe(Effect.provide(Logging.layerAt("warn")), endWithCode)
