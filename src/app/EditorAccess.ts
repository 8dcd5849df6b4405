/** The editor of the database configuration for commands, over the stores of a configuration; works while the service runs. Wiring only. */
import { Effect, Layer, Result } from "effect"
import { existsSync } from "node:fs"
import { fromConfig } from "./FromConfig.ts"
import { readExisting, sourceStores } from "./ConfigSource.ts"
import { locateDatabase, layerRecords } from "./Database.ts"
import { ConfigStore } from "../config/ConfigStore.ts"
import { layerFile } from "../config/snapshots/FileConfigStore.ts"
import { resealArchived } from "../config/snapshots/SnapshotArchive.ts"
import { sealingKeys } from "../config/credentials/Sealing.ts"
import { noRecords, onRecords } from "./OpenRecords.ts"
import { Configurations } from "../store/configuration/Configurations.ts"
import * as ConfigEditing from "../config/revisions/ConfigEditing.ts"
import { ExitWith, refused } from "../cli/Exit.ts"
import { endWithCode } from "../cli/ExitCodes.ts"
import { UnfinishedReviews } from "../cli/UnfinishedReviews.ts"
import type { OpenEditor, ResealPinned } from "../cli/ConfigSourceCommands.ts"
import * as Logging from "../observability/logs/Logging.ts"
import * as TemplateCheck from "./TemplateCheck.ts"
import { notSealed } from "../config/revisions/ResealSource.ts"
import type { Reason } from "../domain/Reason.ts"

/** The records of the file, which a command does not migrate. */
const records = fromConfig((snapshot) => layerRecords(snapshot, "verify"))

/** Seals the configurations that work may be pinned to with the current key. */
export const resealPinned: ResealPinned = (config) =>
  onRecords(
    config,
    Effect.gen(function* () {
      const stored = yield* Configurations
      const keys = sealingKeys(process.env)
      if (Result.isFailure(keys)) return { resealed: 0, failed: [keys.failure.reason] }
      const failed: Array<Reason> = []
      let resealed = 0
      for (const hash of yield* stored.hashes) {
        const found = yield* stored.find(hash)
        const next = found === undefined ? undefined : resealArchived(found.document, keys.success)
        if (next === undefined || found === undefined) continue
        if (Result.isFailure(next)) failed.push(notSealed(`configuration ${hash.slice(0, 12)}`, next.failure))
        else if (next.success !== undefined && (yield* stored.replace(hash, found.document, next.success))) resealed++
      }
      return { resealed, failed }
    })
  )

const unfinishedReviews = Layer.effect(
  UnfinishedReviews,
  Effect.map(Configurations, ({ unfinished }) => ({
    list: (hash, limit) => Effect.mapError(unfinished(hash, limit), ({ message }) => new ExitWith({ code: 3, message }))
  }))
)

export const openEditor: OpenEditor = (config, operation) =>
  Effect.gen(function* () {
    const store = yield* ConfigStore
    const location = locateDatabase(store.current())
    if (store.layered() === undefined)
      return yield* refused(`${config} does not enable the database: set config_sources.database.enabled: true`)
    if (location.kind === "sqlite" && !existsSync(location.path)) return yield* noRecords(location.path)
    const editor = ConfigEditing.layer.pipe(Layer.provide([sourceStores, TemplateCheck.layer]))
    return yield* Effect.provide(operation, Layer.provide(Layer.merge(editor, unfinishedReviews), records))
  }).pipe(
    Effect.provide(layerFile(config, process.env, { unset: "warnings", revisions: readExisting })),
    Effect.catchTag("SourceUnavailable", ({ message }) => Effect.fail(new ExitWith({ code: 3, message }))),
    // Warnings about the configuration are those of `aicr config check`.
    Effect.provide(Logging.layerAt("error")),
    endWithCode
  )
