/** The database source of configuration: revisions and results of operations, drafts, audit records, activations of nodes. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE config_revisions (
    namespace TEXT NOT NULL, number BIGINT NOT NULL, hash TEXT NOT NULL, document TEXT NOT NULL, facts TEXT NOT NULL,
    diff TEXT NOT NULL, created_at BIGINT NOT NULL, PRIMARY KEY (namespace, number))`
  yield* sql`CREATE TABLE config_operations (
    namespace TEXT NOT NULL, operation_id TEXT NOT NULL, operation TEXT NOT NULL, revision BIGINT,
    created_at BIGINT NOT NULL, PRIMARY KEY (namespace, operation_id))`
  yield* sql`CREATE INDEX config_operations_age ON config_operations (namespace, created_at)`
  yield* sql`CREATE TABLE config_drafts (
    namespace TEXT NOT NULL, id TEXT NOT NULL, owner TEXT NOT NULL, version BIGINT NOT NULL, draft TEXT NOT NULL,
    PRIMARY KEY (namespace, id))`
  yield* sql`CREATE TABLE config_audit (
    namespace TEXT NOT NULL, id TEXT NOT NULL, created_at BIGINT NOT NULL, record TEXT NOT NULL,
    PRIMARY KEY (namespace, id))`
  yield* sql`CREATE TABLE config_activations (
    namespace TEXT NOT NULL, node TEXT NOT NULL, reported_at BIGINT NOT NULL, activation TEXT NOT NULL,
    PRIMARY KEY (namespace, node))`
})
