/** Implements `aicr db backup|restore` on the database of a configuration. Wiring only. */
import { Clock, Effect } from "effect"
import { existsSync } from "node:fs"
import { resolve } from "node:path"
import { refused } from "../cli/Exit.ts"
import type { OnBackup } from "../cli/DbBackupCommand.ts"
import { endWithCode } from "../cli/ExitCodes.ts"
import { loadForStores } from "./CommandConfig.ts"
import { backUp, isUsable, restore } from "../database/sqlite/SqliteBackup.ts"
import * as Logging from "../observability/logs/Logging.ts"
import { layerLock, locateDatabase } from "./Database.ts"

const locate = Effect.fnUntraced(function* (config: string, advice: string) {
  const snapshot = yield* loadForStores(config)
  const location = locateDatabase(snapshot)
  return location.kind === "sqlite" ? location : yield* refused(`The records are in Postgres; ${advice}`)
})

export const onBackup: OnBackup = {
  backUp: (config, file) =>
    Effect.gen(function* () {
      const { path } = yield* locate(config, "use pg_dump")
      const to = resolve(file)
      if (!existsSync(path)) return yield* refused(`${path} does not exist; start the service once`)
      if (existsSync(to)) return yield* refused(`${to} exists; name a new file`)
      yield* backUp(path, to)
      return { path, file: to }
    }).pipe(endWithCode),
  restore: (config, file) =>
    Effect.gen(function* () {
      const location = yield* locate(config, "use pg_restore or psql")
      const { path } = location
      const from = resolve(file)
      if (!isUsable(from)) return yield* refused(`${from} is not an undamaged backup of the records`)
      const replaced = `${path}.replaced-${yield* Clock.currentTimeMillis}`
      const existed = existsSync(path)
      yield* Effect.provide(restore(from, path, replaced), layerLock(location))
      return { path, file: from, ...(existed ? { replaced } : {}) }
    }).pipe(Effect.provide(Logging.layerAt("warn")), endWithCode)
}
