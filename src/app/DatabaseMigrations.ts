/** Operations of `aicr db` on the database of a configuration. Wiring only. */
import { Effect, Layer } from "effect"
import { existsSync } from "node:fs"
import type { DatabaseState, OnDatabase } from "../cli/DbCommand.ts"
import { endWithCode } from "../cli/ExitCodes.ts"
import { loadForStores } from "./CommandConfig.ts"
import type { DatabaseLocation } from "./Database.ts"
import { layerClient, layerLock, locateDatabase } from "./Database.ts"
import * as Logging from "../observability/logs/Logging.ts"
import * as Migrations from "../store/schema/Migrations.ts"

const toState = (location: DatabaseLocation, status: Migrations.MigrationStatus): DatabaseState => ({
  kind: location.kind,
  ...(location.kind === "sqlite" ? { path: location.path } : {}),
  ...status
})

/** Looking at a file that is not there must not make it. */
const readStatus = (location: DatabaseLocation) =>
  location.kind === "sqlite" && !existsSync(location.path)
    ? Effect.succeed(Migrations.untouched)
    : Effect.provide(Migrations.status, layerClient(location))

export const onDatabase: OnDatabase = (config, use) =>
  Effect.gen(function* () {
    const snapshot = yield* loadForStores(config)
    const location = locateDatabase(snapshot)
    if (use === "status") return { ...toState(location, yield* readStatus(location)), made: [] }
    return yield* Effect.gen(function* () {
      const made = yield* Migrations.apply
      return { ...toState(location, yield* Migrations.status), made }
    }).pipe(Effect.provide(Layer.provideMerge(layerClient(location), layerLock(location))))
  }).pipe(Effect.provide(Logging.layerAt("warn")), endWithCode)
