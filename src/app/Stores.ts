/** The configured stores of records and objects. Wiring only. */
import { Effect, Layer, Redacted } from "effect"
import { dirname, resolve } from "node:path"
import { layerLock, locateDatabase, layerRecords } from "./Database.ts"
import { fromConfig } from "./FromConfig.ts"
import { ConfigStore } from "../config/ConfigStore.ts"
import { cacheTtlSeconds } from "../config/schema/Storage.ts"
import * as AnalysisSpool from "../store/AnalysisSpool.ts"
import { Objects } from "../store/Objects.ts"
import { Cache } from "../store/Cache.ts"
import * as FileObjects from "../store/objects/FileObjects.ts"
import * as S3Objects from "../store/objects/S3Objects.ts"
import * as MemoryCache from "../store/cache/MemoryCache.ts"
import * as RedisCache from "../store/cache/RedisCache.ts"
import { StoreError } from "../database/StoreError.ts"

export const stores = fromConfig((snapshot) =>
  layerRecords(snapshot).pipe(Layer.provide(layerLock(locateDatabase(snapshot))))
)

/** The store of values that are too large for a record: evidence of model calls. */
export const objects = fromConfig(({ baseDir, credential, document: { storage } }) => {
  const { filesystem, kind, s3 } = storage.object
  if (kind === "filesystem") return FileObjects.layerFiles({ root: resolve(baseDir, filesystem.root) })
  const accessKeyId = credential(s3, "access_key_id")
  const secretAccessKey = credential(s3, "secret_access_key")
  if (s3.bucket === undefined || accessKeyId === undefined || secretAccessKey === undefined) {
    const why = { _tag: "S3Unconfigured" } as const
    return Layer.effectContext(Effect.fail(new StoreError({ reason: "unavailable", operation: "open", why })))
  }
  const plain = (name: string) => {
    const value = credential(s3, name)
    return value === undefined ? undefined : Redacted.value(value)
  }
  return S3Objects.layerS3({
    bucket: s3.bucket,
    endpoint: plain("endpoint_url"),
    region: plain("region"),
    accessKeyId,
    secretAccessKey,
    forcePathStyle: s3.force_path_style
  })
})

/** The spool next to the object folder of this node; also in the bucket where objects are stored in one. */
export const spool = Layer.unwrap(
  Effect.gen(function* () {
    const { baseDir, document } = (yield* ConfigStore).current()
    const { filesystem, kind } = document.storage.object
    const local = FileObjects.objectsUnder(dirname(resolve(baseDir, filesystem.root)))
    return AnalysisSpool.layerOver(local, kind === "s3" ? yield* Objects : undefined)
  })
)

/** The cache of responses of hosts and models. */
export const cache = fromConfig(({ credential, document: { storage } }) => {
  const { kind, redis, ttl_seconds = cacheTtlSeconds } = storage.cache
  const ttlMillis = ttl_seconds * 1000
  if (kind === "none") return Cache.layerNone
  if (kind === "memory") return MemoryCache.layerMemory({ ttlMillis })
  const url = credential(redis, "url")
  if (url === undefined) {
    const why = { _tag: "RedisUnconfigured", field: "storage.cache.kind" } as const
    return Layer.effectContext(Effect.fail(new StoreError({ reason: "unavailable", operation: "open", why })))
  }
  return RedisCache.layerRedis({ url, prefix: process.env["SVC_REDIS_PREFIX"], ttlMillis })
})
