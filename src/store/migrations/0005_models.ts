/**
 * Creates the ledger and the model catalog. `ledger_accounts.committed` is the sum of spent and reserved amounts, in billionths of a US
 * dollar; a reservation holds its estimate until it is settled with the real amount. `catalog_models` is a cache of the catalog document.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE ledger_accounts (
    id TEXT PRIMARY KEY NOT NULL,
    committed BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
  )`
  yield* sql`CREATE INDEX ledger_accounts_updated ON ledger_accounts (updated_at)`
  yield* sql`CREATE TABLE ledger_reservations (
    id TEXT PRIMARY KEY NOT NULL,
    run_account TEXT NOT NULL,
    day_account TEXT NOT NULL,
    amount BIGINT NOT NULL,
    status TEXT NOT NULL,
    owner TEXT NOT NULL,
    reserved_at BIGINT NOT NULL
  )`
  yield* sql`CREATE INDEX ledger_reservations_status ON ledger_reservations (status, reserved_at)`
  yield* sql`CREATE TABLE catalog_models (
    id TEXT PRIMARY KEY NOT NULL,
    record TEXT NOT NULL,
    written_at BIGINT NOT NULL
  )`
  yield* sql`CREATE TABLE catalog_state (
    id TEXT PRIMARY KEY NOT NULL,
    source TEXT NOT NULL,
    etag TEXT,
    checked_at BIGINT NOT NULL
  )`
})
