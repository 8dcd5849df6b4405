/** The databases that can hold the configuration, for suites that open one in several processes and search all that it has written. */
import { copyFileSync, mkdtempSync, readdirSync, readFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect, Layer, Redacted } from "effect"
import { Redis } from "ioredis"
import { Client } from "pg"
import * as Store from "../../../src/store/StoreLayer.ts"
import { layerRedis } from "../../../src/store/configuration/RedisSource.ts"
import type { SourceStores } from "../../../src/store/configuration/SqlSource.ts"
import { layerSql } from "../../../src/store/configuration/SqlSource.ts"
import { RedisServer } from "../../harness/Redis.ts"
import { migratedDatabase, postgresAt } from "../Databases.ts"

export type BackendKind = "postgres" | "redis" | "sqlite"

/** Opens a namespace of a database. */
export const openStores = (kind: BackendKind, address: string, namespace: string): Layer.Layer<SourceStores, unknown> =>
  kind === "redis"
    ? layerRedis({ url: Redacted.make(address), namespace })
    : layerSql(namespace).pipe(
        Layer.provide(kind === "postgres" ? postgresAt(address) : Store.layerSqlite({ path: address, migrate: "auto" }))
      )

export interface Backend {
  readonly kind: BackendKind
  readonly address: string
  /** Every file of the database. */
  readonly files: () => Promise<ReadonlyArray<Buffer>>
}

const readFiles = (folder: string): ReadonlyArray<Buffer> =>
  readdirSync(folder, { recursive: true, withFileTypes: true }).flatMap((entry) =>
    entry.isFile() ? [readFileSync(join(entry.parentPath, entry.name))] : []
  )

const makeFolder = (): string => mkdtempSync(join(tmpdir(), "aicr-source-"))

let template: Promise<string> | undefined

/** Migrates a file that is copied. */
const makeTemplate = async (): Promise<string> => {
  const path = join(makeFolder(), "aicr.db")
  await Effect.runPromise(Effect.scoped(Layer.build(Store.layerSqlite({ path, migrate: "auto" }))))
  return path
}

const sqlite = async (): Promise<Backend> => {
  const folder = makeFolder()
  const address = join(folder, "aicr.db")
  copyFileSync(await (template ??= makeTemplate()), address)
  return { kind: "sqlite", address, files: () => Promise.resolve(readFiles(folder)) }
}

/** Its tables and its log of writes; what is only in memory is written first. */
const postgres = async (): Promise<Backend> => {
  const address = await migratedDatabase()
  const files = async () => {
    const client = new Client({ connectionString: address })
    await client.connect()
    await client.query("CHECKPOINT")
    const { rows } = await client.query<{ folder: string; base: string }>(
      "SELECT current_setting('data_directory') AS folder, oid::text AS base FROM pg_database WHERE datname = current_database()"
    )
    await client.end()
    const [{ base = "", folder = "" } = {}] = rows
    return [...readFiles(join(folder, "base", base)), ...readFiles(join(folder, "pg_wal"))]
  }
  return { kind: "postgres", address, files }
}

let server: Promise<RedisServer> | undefined
let used = 0
/** Default of Redis. */
const databasesOfServer = 16

/** Its append-only file, and a dump without compression. */
const redis = async (): Promise<Backend> => {
  if (used === databasesOfServer) [server, used] = [undefined, 0]
  const { url } = await (server ??= RedisServer.start("everysec"))
  const address = `${url}/${used++}`
  const files = async () => {
    const client = new Redis(url)
    await client.config("SET", "rdbcompression", "no")
    await client.save()
    const [, folder = ""] = (await client.config("GET", "dir")) as Array<string>
    client.disconnect()
    return readFiles(folder)
  }
  return { kind: "redis", address, files }
}

/** Each has the newest schema and nothing else. */
export const backends: ReadonlyArray<{ readonly kind: BackendKind; readonly make: () => Promise<Backend> }> = [
  { kind: "sqlite", make: sqlite },
  { kind: "postgres", make: postgres },
  { kind: "redis", make: redis }
]
