/** Fields of `storage`: each set in a configuration, observed in the files and at the servers that the service then uses. */
import { createServer } from "node:net"
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Layer, Logger, Schema } from "effect"
import { Redis } from "ioredis"
import { layerStatic } from "../../src/config/snapshots/FileConfigStore.ts"
import { toSnapshot } from "../../src/config/LoadConfig.ts"
import type { Snapshot } from "../../src/config/Snapshot.ts"
import { locateDatabase } from "../../src/app/Database.ts"
import { Cache } from "../../src/store/Cache.ts"
import { Objects } from "../../src/store/Objects.ts"
import { Receipts } from "../../src/store/Receipts.ts"
import * as Store from "../../src/store/StoreLayer.ts"
import { cache, objects, stores } from "../../src/app/Stores.ts"
import { s3Keys, startFakeS3 } from "../harness/FakeS3.ts"
import { RedisServer } from "../harness/Redis.ts"
import { ignored } from "./Fixtures.ts"
import { folder } from "./Folder.ts"

const configured = (storage: object, env: Record<string, string> = {}) => toSnapshot({ storage }, env)
const over = <A, E>(layer: Layer.Layer<A, E, Layer.Success<ReturnType<typeof layerStatic>>>, snapshot: Snapshot) =>
  Layer.fresh(layer).pipe(Layer.provide(layerStatic(snapshot)))
const quiet = Logger.layer([])

/** Restricts storage to the folder of a test, whatever is configured. */
const inside = (root: string, snapshot: Snapshot) => {
  const place = locateDatabase(snapshot)
  assert.isTrue(place.kind === "postgres" || place.path.startsWith(root), "the database is in the test's folder")
}

describe("database", () => {
  it.live("sqlite.path: the records are in that file", () =>
    Effect.gen(function* () {
      const root = yield* folder
      const path = join(root, "records.db")
      const event = ignored()
      yield* Receipts.use((receipts) => receipts.store(event)).pipe(
        Effect.provide(Store.layerSqlite({ path, migrate: "auto" }))
      )
      const snapshot = yield* configured({ database: { sqlite: { path }, migrate: "verify" } })
      inside(root, snapshot)
      const found = yield* Receipts.use((receipts) => receipts.get(event.id)).pipe(
        Effect.provide(over(stores, snapshot))
      )
      assert.strictEqual(found?.id, event.id)
    }).pipe(Effect.scoped, Effect.provide(quiet))
  )

  it.live("migrate: verify does not open a database without its tables", () =>
    Effect.gen(function* () {
      const root = yield* folder
      const snapshot = yield* configured({
        database: { sqlite: { path: join(root, "records.db") }, migrate: "verify" }
      })
      inside(root, snapshot)
      const error = yield* Effect.flip(Effect.scoped(Layer.build(over(stores, snapshot))))
      assert.include(error.message, "storage.database.migrate")
    }).pipe(Effect.scoped, Effect.provide(quiet))
  )

  it.live("kind: postgres connects to the server that the variable of postgres.url_env names", () =>
    Effect.gen(function* () {
      const root = yield* folder
      const connected = yield* Deferred.make<string>()
      const server = createServer((socket) => {
        socket.on("error", () => {})
        socket.once("data", (bytes) => {
          Deferred.doneUnsafe(connected, Exit.succeed(bytes.toString("latin1").replaceAll("\0", " ")))
          socket.destroy()
        })
      })
      yield* Effect.callback<void>((resume) => void server.listen(0, "127.0.0.1", () => resume(Effect.void)))
      yield* Effect.addFinalizer(() => Effect.sync(() => server.close()))
      const address = server.address()
      const port = typeof address === "object" && address !== null ? address.port : 0
      const database = { kind: "postgres", postgres: { url_env: "RECORDS" }, sqlite: { path: join(root, "unused.db") } }
      const snapshot = yield* configured({ database }, { RECORDS: `postgres://ada@127.0.0.1:${port}/reviews` })
      inside(root, snapshot)
      const opened = Effect.as(Effect.exit(Effect.scoped(Layer.build(over(stores, snapshot)))), "it did not connect")
      const startup = yield* Effect.raceFirst(Deferred.await(connected), opened)
      assert.match(startup, /user ada .*database reviews /)
    }).pipe(Effect.scoped, Effect.provide(quiet))
  )
})

describe("cache", () => {
  it.live("kind, redis.url_env and ttl_seconds: values are cached in that Redis for that time", () =>
    Effect.gen(function* () {
      const { url } = yield* Effect.acquireRelease(
        Effect.promise(() => RedisServer.start()),
        (server) => Effect.promise(() => server[Symbol.asyncDispose]())
      )
      const snapshot = yield* configured(
        { cache: { kind: "redis", redis: { url_env: "CACHE" }, ttl_seconds: 500 } },
        { CACHE: url }
      )
      const lookup = { name: "number", schema: Schema.Int }
      yield* Cache.use((answers) => answers.set(lookup, ["x"], 1)).pipe(Effect.provide(over(cache, snapshot)))
      const client = new Redis(url)
      yield* Effect.addFinalizer(() => Effect.sync(() => client.disconnect()))
      const keys = yield* Effect.promise(() => client.keys("*:cache:number:*"))
      assert.strictEqual(keys.length, 1)
      const remaining = yield* Effect.promise(() => client.pttl(keys[0] ?? ""))
      assert.isAbove(remaining, 300_000)
      assert.isAtMost(remaining, 500_000)
    }).pipe(Effect.scoped, Effect.provide(quiet))
  )
})

describe("objects", () => {
  it.live("filesystem.root: objects are the files there", () =>
    Effect.gen(function* () {
      const root = yield* folder
      mkdirSync(join(root, "runs"))
      writeFileSync(join(root, "runs", "a.json"), "in the folder")
      const snapshot = yield* configured({ object: { filesystem: { root } } })
      const text = yield* Objects.use((kept) => kept.get("runs/a.json", 100)).pipe(
        Effect.provide(over(objects, snapshot))
      )
      assert.strictEqual(text, "in the folder")
    }).pipe(Effect.scoped)
  )

  const env = { S3_REGION: "eu-test-1", S3_KEY: s3Keys.id, S3_SECRET: s3Keys.secret }
  const s3 = {
    endpoint_url_env: "S3_URL",
    region_env: "S3_REGION",
    access_key_id_env: "S3_KEY",
    secret_access_key_env: "S3_SECRET",
    bucket: "reviews"
  }
  const bucket = Effect.acquireRelease(
    Effect.promise(() => startFakeS3("reviews")),
    (server) => Effect.promise(async () => server[Symbol.asyncDispose]())
  )
  const put = (root: string, url: string, more: object = {}) =>
    Effect.gen(function* () {
      const object = { kind: "s3", filesystem: { root: join(root, "files") }, s3: { ...s3, ...more } }
      const snapshot = yield* configured({ object }, { ...env, S3_URL: url })
      yield* Objects.use((kept) => kept.put("runs/a.json", "in the bucket")).pipe(
        Effect.provide(over(objects, snapshot))
      )
    })

  it.live("kind: s3 keeps objects in the bucket, signed for the region with the keys of the variables", () =>
    Effect.gen(function* () {
      const root = yield* folder
      const { objects: kept, regions, requests, url } = yield* bucket
      yield* put(root, url)
      assert.deepStrictEqual([...kept], [["runs/a.json", "in the bucket"]])
      assert.deepStrictEqual(requests, ["PUT /reviews/runs/a.json"])
      assert.deepStrictEqual(regions, ["eu-test-1"])
      assert.isFalse(existsSync(join(root, "files")))
      assert.deepStrictEqual(readdirSync(root), [])
    }).pipe(Effect.scoped)
  )

  it.live("s3.force_path_style: where it is false the bucket is part of the host name", () =>
    Effect.gen(function* () {
      const root = yield* folder
      const { url } = yield* bucket
      const { port } = new URL(url)
      // Not every system resolves such names to this machine; the error contains the one that was used.
      const error = yield* Effect.flip(put(root, `http://localhost:${port}`, { force_path_style: false }))
      assert.include(error.message, `S3 reviews.localhost:${port}: `)
    }).pipe(Effect.scoped)
  )

  it.live("s3.force_path_style: false is refused where the endpoint is an IP address", () =>
    Effect.gen(function* () {
      const root = yield* folder
      const { requests, url } = yield* bucket
      const error = yield* Effect.flip(put(root, url, { force_path_style: false }))
      assert.include(error.message, "cannot be part of the host name at 127.0.0.1; set force_path_style to true")
      assert.deepStrictEqual(requests, [])
    }).pipe(Effect.scoped)
  )
})
