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
import { placeOf, recordsOf } from "./Database.ts"
import * as Logging from "../observability/Logging.ts"

export const onLessons: OnLessons = (config, operation) =>
  Effect.gen(function* () {
    const snapshot = yield* loadConfig({ file: config }, process.env, { unset: "warnings" })
    const place = placeOf(snapshot)
    if (place.kind === "sqlite" && !existsSync(place.path)) {
      return yield* new ExitWith({ code: 3, message: `There are no records yet: ${place.path} does not exist` })
    }
    return yield* Effect.provide(operation, recordsOf(snapshot, "verify"))
  }).pipe(Effect.provide(Logging.layerAt("warn")), endWithCode)
