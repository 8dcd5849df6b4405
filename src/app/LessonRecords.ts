/**
 * Records of a configuration for `aicr memory`. No lock is taken, because the service caches no lessons. A missing
 * database file is not created. Wiring only.
 */
import { Effect } from "effect"
import { existsSync } from "node:fs"
import { ExitWith } from "../cli/Exit.ts"
import { endWithCode } from "../cli/ExitCodes.ts"
import type { OnLessons } from "../cli/MemoryCommand.ts"
import { loadConfig } from "../config/LoadConfig.ts"
import { locateDatabase, layerRecords } from "./Database.ts"
import * as Logging from "../observability/Logging.ts"

export const onLessons: OnLessons = (config, operation) =>
  Effect.gen(function* () {
    const snapshot = yield* loadConfig({ file: config }, process.env, { unset: "warnings" })
    const location = locateDatabase(snapshot)
    if (location.kind === "sqlite" && !existsSync(location.path)) {
      return yield* new ExitWith({ code: 3, message: `no records yet: ${location.path} does not exist` })
    }
    return yield* Effect.provide(operation, layerRecords(snapshot, "verify"))
  }).pipe(Effect.provide(Logging.layerAt("warn")), endWithCode)
