import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import * as Migrations from "../../src/store/Migrations.ts"
import { Receipts } from "../../src/store/Receipts.ts"
import * as SqliteClient from "../../src/database/SqliteClient.ts"
import * as Store from "../../src/store/Store.ts"
import { event } from "./Fixtures.ts"
import { folder } from "./Folder.ts"

describe("Migrations", () => {
  it.effect("apply once, survive reopening, and verify", () =>
    Effect.gen(function* () {
      const path = join(yield* folder, "svc.db")
      const use = <A, E>(effect: Effect.Effect<A, E, SqlClient.SqlClient>) =>
        Effect.provide(effect, Layer.fresh(SqliteClient.layer({ path })))
      const missing = yield* Effect.flip(use(Migrations.verify))
      assert.include(missing.message, "0001_events")
      assert.match(
        missing.message,
        /^The database lacks \d+ steps \(0001_events to \d{4}_\w+\)\. Run "aicr db migrate", or start the service/
      )
      assert.deepStrictEqual(yield* use(Migrations.apply), [
        "0001_events",
        "0002_runs",
        "0003_publications",
        "0004_batches",
        "0005_models",
        "0006_publishers",
        "0007_writers",
        "0008_lessons",
        "0009_admin",
        "0010_configurations",
        "0011_publisher_starts",
        "0012_waiting_runs",
        "0013_authors",
        "0014_ignored_dismissals",
        "0015_pull_bases",
        "0016_finding_outcomes",
        "0017_delivery_facts",
        "0018_heartbeats",
        "0019_statistics",
        "0020_config_source",
        "0021_rejected_signatures",
        "0022_run_facts",
        "0023_chat_requests",
        "0024_admin_actions",
        "0025_agent_passes",
        "0026_chat_health",
        "0027_delivery_payloads",
        "0028_run_logs",
        "0029_config_reseals",
        "0030_list_indexes",
        "0031_chat_owners",
        "0037_list_orders",
        "0038_notices",
        "0040_chat_sends",
        "0041_project_order"
      ])
      assert.deepStrictEqual(yield* use(Migrations.apply), [])
      yield* use(Migrations.verify)
      const stored = Effect.gen(function* () {
        const record = event()
        yield* (yield* Receipts).store(record)
        return record.id
      })
      const layer = Layer.fresh(Store.layerSqlite({ path, migrate: "verify" }))
      const id = yield* Effect.provide(stored, layer)
      const again = yield* Effect.provide(
        Receipts.use((receipts) => receipts.get(id)),
        Layer.fresh(Store.layerSqlite({ path, migrate: "auto" }))
      )
      assert.strictEqual(again?.id, id)
    })
  )

  it.effect("refuse a database of a newer release", () =>
    Effect.gen(function* () {
      yield* Migrations.apply
      const sql = yield* SqlClient.SqlClient
      yield* sql`INSERT INTO aicr_migrations ${sql.insert({ migration_id: 99, name: "later" })}`
      for (const check of [Migrations.apply, Migrations.verify]) {
        assert.include((yield* Effect.flip(check)).message, "0099_later")
      }
    }).pipe(Effect.provide(SqliteClient.layer({ path: ":memory:" })))
  )
})
