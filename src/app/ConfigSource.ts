/** The configured database source of the configuration. Wiring only. */
import { Effect, Layer } from "effect"
import { existsSync } from "node:fs"
import { fromConfig } from "./FromConfig.ts"
import { layerLock, locateDatabase, layerRecords } from "./Database.ts"
import type { StoredRevision } from "../config/ConfigStore.ts"
import * as ConfigEditing from "../config/revisions/ConfigEditing.ts"
import * as FollowRevisions from "../config/revisions/FollowRevisions.ts"
import { RevisionStore } from "../config/revisions/RevisionStore.ts"
import type { Snapshot } from "../config/Snapshot.ts"
import { StoreError } from "../database/StoreError.ts"
import * as RedisSource from "../store/configuration/RedisSource.ts"
import { layerSql } from "../store/configuration/SqlSource.ts"
import * as TemplateCheck from "./TemplateCheck.ts"

/** Revisions that a start tries, newest first, before it fails. */
const startAttempts = 10

const layerFor = ({ credential, document: { config_sources, storage } }: Snapshot) => {
  const { backend, enabled, namespace } = config_sources.database
  if (!enabled || backend === "storage") return layerSql(namespace)
  const url = credential(storage.cache.redis, "url")
  if (url === undefined) {
    const why = { _tag: "RedisUnconfigured", field: "config_sources.database.backend" } as const
    return Layer.effectContext(Effect.fail(new StoreError({ reason: "unavailable", operation: "open", why })))
  }
  return RedisSource.layerRedis({ url, namespace, prefix: process.env["SVC_REDIS_PREFIX"] })
}

/** The stores over the record database that is open. */
export const sourceStores = fromConfig(layerFor)

/** The editor; the node follows the newest revision. */
export const configSource = Layer.merge(
  Layer.provide(ConfigEditing.layer, TemplateCheck.layer),
  FollowRevisions.layer
).pipe(Layer.provideMerge(sourceStores))

const newest = Effect.gen(function* () {
  const store = yield* RevisionStore
  const { items } = yield* store.list({ limit: startAttempts })
  const found = yield* Effect.forEach(items, ({ number }) => store.read(number))
  return found.flatMap((revision) => (revision === undefined ? [] : [revision]))
}).pipe(
  Effect.catchTag("SourceUnavailable", ({ operation, why }) =>
    Effect.fail(new StoreError({ reason: "unavailable", operation, why }))
  )
)

/** Reads the newest revisions before anything else of the service starts. */
export const readRevisions = (bootstrap: Snapshot): Effect.Effect<ReadonlyArray<StoredRevision>, StoreError> =>
  Effect.provide(
    newest,
    layerFor(bootstrap).pipe(
      Layer.provide(layerRecords(bootstrap)),
      Layer.provide(layerLock(locateDatabase(bootstrap)))
    )
  )

/** Reads them for a command. A database that does not exist yet has none, and is not created. */
export const readExisting = (bootstrap: Snapshot): Effect.Effect<ReadonlyArray<StoredRevision>, StoreError> => {
  const location = locateDatabase(bootstrap)
  return location.kind === "sqlite" && !existsSync(location.path)
    ? Effect.succeed([])
    : Effect.provide(newest, layerFor(bootstrap).pipe(Layer.provide(layerRecords(bootstrap, "verify"))))
}
