/**
 * What `aicr memory` works on: the records of a configuration, as they are. No lock is taken, for nothing of the service is kept in
 * mind of lessons; a file that is not there is not made. Wiring only.
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
