/** The databases of the record store, each fresh, for suites that loop over them. */
import { Effect, Layer, Redacted } from "effect"
import type { SqlClient } from "effect/sql"
import { Client } from "pg"
import * as PostgresClient from "../../src/database/postgres/PostgresClient.ts"
import * as Store from "../../src/store/StoreLayer.ts"
import type { StoreError } from "../../src/database/StoreError.ts"
import { PostgresServer } from "../harness/Postgres.ts"

/** Returns one server for the databases of this process, ended with it. */
let server: Promise<PostgresServer> | undefined
export const postgres = (): Promise<PostgresServer> => (server ??= PostgresServer.start())

let made = 0

const createDatabase = async (template = "template1"): Promise<string> => {
  const { url } = await postgres()
  const name = `test_${++made}`
  const client = new Client({ connectionString: url })
  await client.connect()
  await client.query(`CREATE DATABASE ${name} TEMPLATE ${template}`)
  await client.end()
  const address = new URL(url)
  address.pathname = `/${name}`
  return address.href
}

/** Creates an empty database on the server of this process; returns its address. */
export const freshDatabase = (): Promise<string> => createDatabase()

let template: Promise<string> | undefined

/** Migrates a database that is copied; nothing may be connected to it later. */
const makeTemplate = async (): Promise<string> => {
  const url = await freshDatabase()
  await Effect.runPromise(Effect.scoped(Layer.build(postgresAt(url))))
  return new URL(url).pathname.slice(1)
}

/** Creates a database with the newest schema, in a fraction of the time of its migrations; returns its address. */
export const migratedDatabase = async (): Promise<string> => createDatabase(await (template ??= makeTemplate()))

export type Database = Layer.Layer<Store.Records | SqlClient.SqlClient, StoreError>

export const postgresAt = (url: string, migrate: "auto" | "verify" = "auto"): Database =>
  Layer.provideMerge(Store.layer(migrate), PostgresClient.layer({ url: Redacted.make(url) }))

/** A layer is a database of its own, each time it is built. */
export const databases: ReadonlyArray<{ readonly name: "sqlite" | "postgres"; readonly layer: () => Database }> = [
  { name: "sqlite", layer: () => Layer.fresh(Store.layerMemory) },
  {
    name: "postgres",
    layer: () => Layer.fresh(Layer.unwrap(Effect.map(Effect.promise(migratedDatabase), (url) => postgresAt(url))))
  }
]
