/** Operations of `aicr db` on the database of a configuration. Wiring only. */
import { Effect, Layer } from "effect"
import { existsSync } from "node:fs"
import type { DatabaseState, OnDatabase } from "../cli/DbCommand.ts"
import { endWithCode } from "../cli/ExitCodes.ts"
import { loadConfig } from "../config/LoadConfig.ts"
import type { DatabaseLocation } from "./Database.ts"
import { clientOf, lockOf, placeOf } from "./Database.ts"
import * as Logging from "../observability/Logging.ts"
import * as Migrations from "../store/Migrations.ts"

const stateOf = (place: DatabaseLocation, status: Migrations.MigrationStatus): DatabaseState => ({
  kind: place.kind,
  ...(place.kind === "sqlite" ? { path: place.path } : {}),
  ...status
})

/** Looking at a file that is not there must not make it. */
const look = (place: DatabaseLocation) =>
  place.kind === "sqlite" && !existsSync(place.path)
    ? Effect.succeed(Migrations.untouched)
    : Effect.provide(Migrations.status, clientOf(place))

export const onDatabase: OnDatabase = (config, use) =>
  Effect.gen(function* () {
    const snapshot = yield* loadConfig({ file: config }, process.env, { unset: "warnings" })
    const place = placeOf(snapshot)
    if (use === "status") return { ...stateOf(place, yield* look(place)), made: [] }
    return yield* Effect.gen(function* () {
      const made = yield* Migrations.apply
      return { ...stateOf(place, yield* Migrations.status), made }
    }).pipe(Effect.provide(Layer.provideMerge(clientOf(place), lockOf(place))))
  }).pipe(Effect.provide(Logging.layerAt("warn")), endWithCode)
