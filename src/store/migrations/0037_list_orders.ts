/**
 * Marks the newest run of each target, which lists of changes show, and indexes the marked ones by each filter: of a million runs, most are older ones.
 * Triggers keep the mark, so that nodes of earlier versions keep it too. Runs are also listed by duration and cost, and replays by their original.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

const sqliteTriggers = (sql: SqlClient.SqlClient) =>
  Effect.gen(function* () {
    yield* sql`
      CREATE TRIGGER runs_inserted AFTER INSERT ON runs BEGIN
        UPDATE runs SET newest = 0 WHERE target_key = NEW.target_key AND newest = 1 AND id < NEW.id;
        UPDATE runs SET newest = 1 WHERE id = NEW.id
          AND NOT EXISTS (SELECT 1 FROM runs later WHERE later.target_key = NEW.target_key AND later.id > NEW.id);
      END`
    yield* sql`
      CREATE TRIGGER runs_deleted AFTER DELETE ON runs WHEN OLD.newest = 1 BEGIN
        UPDATE runs SET newest = 1 WHERE id = (SELECT MAX(id) FROM runs WHERE target_key = OLD.target_key);
      END`
  })

/** The lock keeps two nodes that insert runs of one target from marking both. */
const postgresTriggers = (sql: SqlClient.SqlClient) =>
  Effect.gen(function* () {
    yield* sql`
      CREATE FUNCTION runs_inserted() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        PERFORM pg_advisory_xact_lock(hashtextextended('runs-newest:' || NEW.target_key, 0));
        UPDATE runs SET newest = 0 WHERE target_key = NEW.target_key AND newest = 1 AND id < NEW.id;
        UPDATE runs SET newest = 1 WHERE id = NEW.id
          AND NOT EXISTS (SELECT 1 FROM runs later WHERE later.target_key = NEW.target_key AND later.id > NEW.id);
        RETURN NULL;
      END $$`
    yield* sql`
      CREATE FUNCTION runs_deleted() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        UPDATE runs SET newest = 1 WHERE id = (SELECT MAX(id) FROM runs WHERE target_key = OLD.target_key);
        RETURN NULL;
      END $$`
    yield* sql`CREATE TRIGGER runs_inserted AFTER INSERT ON runs FOR EACH ROW EXECUTE FUNCTION runs_inserted()`
    yield* sql`
      CREATE TRIGGER runs_deleted AFTER DELETE ON runs FOR EACH ROW WHEN (OLD.newest = 1) EXECUTE FUNCTION runs_deleted()`
  })

/** Costs of earlier runs are those in their analyses, where the sum precedes its parts by model. */
const readCosts = (sql: SqlClient.SqlClient) =>
  sql.onDialectOrElse({
    // Postgres refuses to read JSON with some characters of texts that authors write.
    pg: () => sql`
      UPDATE runs SET cost_nanos = ceil(substring(analysis FROM '"usage":[{][^{}]*"costUsd":([0-9.eE+-]+)')::float8 * 1e9)
      WHERE analysis IS NOT NULL`,
    orElse: () => sql`
      UPDATE runs SET cost_nanos = CAST(cost AS INTEGER) + (cost > CAST(cost AS INTEGER))
      FROM (SELECT id AS of_id, json_extract(analysis, '$.usage.costUsd') * 1e9 AS cost FROM runs WHERE analysis IS NOT NULL)
      WHERE id = of_id`
  })

const changeIndexes = [
  ["runs_changes", "id"],
  ["runs_changes_workspace", "workspace, id"],
  ["runs_changes_workspace_status", "workspace, status, id"],
  ["runs_changes_status", "status, id"],
  ["runs_changes_repo", "repo, id"],
  ["runs_changes_number", "number, id"],
  ["runs_changes_trigger", "trigger_name, id"]
] as const

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE runs ADD COLUMN newest INTEGER NOT NULL DEFAULT 0`
  yield* sql`ALTER TABLE runs ADD COLUMN cost_nanos BIGINT`
  yield* sql`UPDATE runs SET newest = 1 WHERE id IN (SELECT MAX(id) FROM runs GROUP BY target_key)`
  yield* readCosts(sql)
  for (const [name, columns] of changeIndexes)
    yield* sql`CREATE INDEX ${sql(name)} ON runs (${sql.literal(columns)}) WHERE newest = 1`
  for (const [name, value] of [
    ["duration", "COALESCE(finished_at - started_at, -1)"],
    ["cost", "COALESCE(cost_nanos, -1)"]
  ] as const) {
    yield* sql`CREATE INDEX ${sql(`runs_${name}`)} ON runs ((${sql.literal(value)}), id)`
    yield* sql`CREATE INDEX ${sql(`runs_workspace_${name}`)} ON runs (workspace, (${sql.literal(value)}), id)`
  }
  yield* sql.onDialectOrElse({ pg: () => postgresTriggers(sql), orElse: () => sqliteTriggers(sql) })
  yield* sql`CREATE TABLE delivery_replays (event_id TEXT PRIMARY KEY NOT NULL, replay_of TEXT NOT NULL)`
  yield* sql`CREATE INDEX delivery_replays_original ON delivery_replays (replay_of, event_id)`
  yield* sql`INSERT INTO delivery_replays (event_id, replay_of)
    SELECT event_id, replay_of FROM delivery_payloads WHERE replay_of IS NOT NULL`
})
