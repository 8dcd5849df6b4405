/** The configured database of records. The Postgres client is loaded only where it is configured. Wiring only. */
import { Effect, Layer } from "effect"
import type { Redacted } from "effect"
import type { SqlClient } from "effect/sql"
import { hostname } from "node:os"
import { dirname, resolve } from "node:path"
import type { Snapshot } from "../config/Snapshot.ts"
import * as DataLock from "../database/DataLock.ts"
import * as SqliteClient from "../database/SqliteClient.ts"
import * as Store from "../store/Store.ts"
import { StoreError } from "../database/StoreError.ts"

export type DatabaseLocation =
  | { readonly kind: "sqlite"; readonly path: string }
  | { readonly kind: "postgres"; readonly url: Redacted.Redacted | undefined }

export const placeOf = ({ baseDir, credential, document: { storage } }: Snapshot): DatabaseLocation => {
  const { kind, postgres, sqlite } = storage.database
  return kind === "sqlite" ? { kind, path: resolve(baseDir, sqlite.path) } : { kind, url: credential(postgres, "url") }
}

const noAddress = new StoreError({
  reason: "unavailable",
  operation: "open",
  message:
    "storage.database.kind postgres needs a connection: set storage.database.postgres.url_env and the variable it names"
})

/** Name of the connection, which identifies the node on a shared server. */
const applicationName = `aicr ${process.env["SVC_NODE_NAME"] ?? hostname()}`

const postgresClient = Effect.promise(() => import("../database/PostgresClient.ts"))

/** A client without migrations. */
export const clientOf = (place: DatabaseLocation): Layer.Layer<SqlClient.SqlClient, StoreError> => {
  if (place.kind === "sqlite") return SqliteClient.layer({ path: place.path })
  const { url } = place
  if (url === undefined) return Layer.effectContext(Effect.fail(noAddress))
  return Layer.unwrap(Effect.map(postgresClient, ({ layer }) => layer({ url, applicationName })))
}

/** The repositories over it. */
export const recordsOf = (
  snapshot: Snapshot,
  migrate: "auto" | "verify" = snapshot.document.storage.database.migrate
): Layer.Layer<Store.Records | SqlClient.SqlClient, StoreError> =>
  Layer.provideMerge(Store.layer(migrate), clientOf(placeOf(snapshot)))

/** Keeps other processes out of a SQLite file while the layer lives; Postgres needs no lock. */
export const lockOf = (place: DatabaseLocation): Layer.Layer<never, StoreError> =>
  place.kind === "sqlite" ? DataLock.layer(dirname(place.path)) : Layer.empty
