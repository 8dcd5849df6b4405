/** The configured database of records. The Postgres client is loaded only where it is configured. Wiring only. */
import { Effect, Layer, Option } from "effect"
import type { Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { hostname } from "node:os"
import { dirname, resolve } from "node:path"
import type { Snapshot } from "../config/Snapshot.ts"
import { awaitDatabase } from "../database/sql/AwaitDatabase.ts"
import * as DataLock from "../database/sqlite/DataLock.ts"
import * as SqliteClient from "../database/sqlite/SqliteClient.ts"
import * as Store from "../store/StoreLayer.ts"
import { unavailable } from "../database/sql/StoreFailure.ts"
import { AwaitedServers } from "../ingress/AwaitedServers.ts"
import { StoreError } from "../database/StoreError.ts"

export type DatabaseLocation =
  | { readonly kind: "sqlite"; readonly path: string }
  | { readonly kind: "postgres"; readonly url: Redacted.Redacted | undefined }

export const locateDatabase = ({ baseDir, credential, document: { storage } }: Snapshot): DatabaseLocation => {
  const { kind, postgres, sqlite } = storage.database
  return kind === "sqlite" ? { kind, path: resolve(baseDir, sqlite.path) } : { kind, url: credential(postgres, "url") }
}

const noAddress = new StoreError({
  reason: "unavailable",
  operation: "open",
  why: { _tag: "PostgresUnconfigured" }
})

/** Name of the connection, which identifies the node on a shared server. */
const applicationName = `aicr ${process.env["SVC_NODE_NAME"] ?? hostname()}`

const postgresClient = Effect.promise(() => import("../database/postgres/PostgresClient.ts"))

/** A client without migrations. */
export const layerClient = (location: DatabaseLocation): Layer.Layer<SqlClient.SqlClient, StoreError> => {
  if (location.kind === "sqlite") return SqliteClient.layer({ path: location.path })
  const { url } = location
  if (url === undefined) return Layer.effectContext(Effect.fail(noAddress))
  return Layer.unwrap(Effect.map(postgresClient, ({ layer }) => layer({ url, applicationName })))
}

/** The repositories over it. A starting service waits for Postgres, a command does not. */
export const layerRecords = (
  snapshot: Snapshot,
  migrate: "auto" | "verify" = snapshot.document.storage.database.migrate
): Layer.Layer<Store.Records | SqlClient.SqlClient, StoreError> => {
  const location = locateDatabase(snapshot)
  const client = layerClient(location)
  return Layer.provideMerge(
    Store.layer(migrate),
    location.kind === "sqlite" ? client : Layer.provideMerge(awaitPostgres, client)
  )
}

const awaitPostgres = Layer.effectDiscard(
  Effect.gen(function* () {
    const awaited = yield* Effect.serviceOption(AwaitedServers)
    if (Option.isNone(awaited)) return
    const sql = yield* SqlClient.SqlClient
    yield* awaitDatabase(sql`SELECT 1`, awaited.value.of("postgres")).pipe(unavailable("open"))
  })
)

/** Keeps other processes out of a SQLite file while the layer lives; Postgres needs no lock. */
export const layerLock = (location: DatabaseLocation): Layer.Layer<never, StoreError> =>
  location.kind === "sqlite" ? DataLock.layer(dirname(location.path)) : Layer.empty
