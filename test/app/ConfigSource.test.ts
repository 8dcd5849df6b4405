/** `config_sources.database.backend` decides where all parts of the database's configuration are. */
import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Redis } from "ioredis"
import { configSource } from "../../src/app/ConfigSource.ts"
import { ConfigStore } from "../../src/config/ConfigStore.ts"
import { layerFile } from "../../src/config/snapshots/FileConfigStore.ts"
import { ConfigEditor } from "../../src/config/revisions/ConfigEditor.ts"
import { NodeIdentity } from "../../src/domain/NodeIdentity.ts"
import * as Store from "../../src/store/StoreLayer.ts"
import { resealAll, sealingKey, writeConfig } from "../harness/ConfigSource.ts"
import { RedisServer } from "../harness/Redis.ts"

const value = { kind: "gitea", base_url: "https://second.example", webhook_secret: "hook-secret-0815" }
const operations = [{ op: "create", entity: { kind: "triggers", name: "second" }, value }] as const
const rename = [{ op: "rename", entity: operations[0].entity, to: "third" }] as const
const tables = ["config_revisions", "config_operations", "config_drafts", "config_audit", "config_activations"] as const

/** Uses every part of the source, and returns the tables with rows of it. */
const useAll = Effect.gen(function* () {
  const editor = yield* ConfigEditor
  const published = yield* editor.publish("alice", { base: 0, operationId: "first", operations })
  assert.strictEqual(published._tag, "Committed")
  yield* editor.createDraft("alice", { title: "a draft", reason: "", base: 1, operations: rename })
  yield* resealAll(editor, "alice")
  const sql = yield* SqlClient.SqlClient
  const filled: Array<string> = []
  for (const table of [...tables, "config_reseals"]) {
    const [row] = yield* sql<{ rows: number }>`SELECT count(*) AS rows FROM ${sql.literal(table)}`
    if (Number(row?.rows) > 0) filled.push(table)
  }
  return { filled, snapshot: (yield* ConfigStore).current().hash, status: yield* editor.status }
})

const open = (backend: "redis" | "storage", url: string) => {
  const file = writeConfig({
    config_sources: { database: { enabled: true, backend, namespace: "team" } },
    storage: { cache: { redis: { url_env: "TEST_REDIS" } } }
  })
  const env = { SVC_CONFIG_SECRETS_KEY: sealingKey, TEST_REDIS: url }
  return configSource.pipe(
    Layer.provideMerge(layerFile(file, env, { revisions: () => Effect.succeed([]) })),
    Layer.provideMerge(Store.layerMemory),
    Layer.provide(NodeIdentity.layer("node-1"))
  )
}

it.live("backend decides where revisions, operations, drafts, audit records, activations and resealing are", () =>
  Effect.gen(function* () {
    const redis = yield* Effect.promise(() => RedisServer.start())
    const client = new Redis(redis.url)
    yield* Effect.addFinalizer(() =>
      Effect.promise(async () => {
        client.disconnect()
        await redis[Symbol.asyncDispose]()
      })
    )
    const inTables = yield* Effect.provide(useAll, Layer.fresh(open("storage", redis.url)))
    assert.deepStrictEqual(inTables.filled, [...tables, "config_reseals"])
    assert.deepStrictEqual(yield* Effect.promise(() => client.keys("*")), [])

    const inRedis = yield* Effect.provide(useAll, Layer.fresh(open("redis", redis.url)))
    assert.deepStrictEqual(inRedis.filled, [])
    assert.deepInclude(inRedis.status, { head: 1, namespace: "team", converged: true })
    const keys = yield* Effect.promise(() => client.keys("*"))
    const parts = ["head", "revision:1", "operations", "drafts", "audit", "activations", "reseal"]
    for (const part of parts) assert.include(keys, `{aicr:config:team}:${part}`)
  }).pipe(Effect.scoped)
)
