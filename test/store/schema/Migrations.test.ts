import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import * as Migrations from "../../../src/store/schema/Migrations.ts"
import type { SchemaSteps } from "../../../src/store/schema/Migrations.ts"
import { Receipts } from "../../../src/store/Receipts.ts"
import * as PostgresClient from "../../../src/database/postgres/PostgresClient.ts"
import * as SqliteClient from "../../../src/database/sqlite/SqliteClient.ts"
import * as Store from "../../../src/store/StoreLayer.ts"
import { freshDatabase } from "../Databases.ts"
import { event } from "../Fixtures.ts"
import { folder } from "../Folder.ts"

/** The steps of a release and of the next one. */
const first: SchemaSteps = { "0001_things": () => ["CREATE TABLE things (id TEXT PRIMARY KEY NOT NULL)"] }
const second: SchemaSteps = {
  ...first,
  "0002_names": (dialect) => [
    "ALTER TABLE things ADD COLUMN name TEXT",
    `UPDATE things SET name = '${dialect} ' || id`,
    "CREATE INDEX things_name ON things (name)"
  ]
}
const failing: SchemaSteps = {
  ...first,
  "0002_names": () => ["ALTER TABLE things ADD COLUMN name TEXT", "SELECT nothing FROM nowhere"]
}
const edited: SchemaSteps = { "0001_things": () => ["CREATE TABLE things (id TEXT PRIMARY KEY NOT NULL, name TEXT)"] }

const databases = [
  { name: "sqlite", layer: () => Layer.fresh(SqliteClient.layer({ path: ":memory:" })) },
  {
    name: "postgres",
    layer: () =>
      Layer.fresh(
        Layer.unwrap(
          Effect.map(Effect.promise(freshDatabase), (url) => PostgresClient.layer({ url: Redacted.make(url) }))
        )
      )
  }
]

const messageOf = <A, E extends { readonly message: string }, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.flip(effect), ({ message }) => message)

describe.each(databases)("Migrations in $name", ({ layer, name }) => {
  it.effect("the steps of the next release are added once, and keep what is stored", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      assert.deepStrictEqual(yield* Migrations.make(first).apply, ["0001_things"])
      yield* sql`INSERT INTO things (id) VALUES ('a')`
      const next = Migrations.make(second)
      assert.include(yield* messageOf(next.verify), 'lacks the step 0002_names. Run "aicr db migrate"')
      assert.deepStrictEqual(yield* next.apply, ["0002_names"])
      assert.deepStrictEqual(yield* next.apply, [])
      yield* next.verify
      assert.deepStrictEqual(yield* sql`SELECT id, name FROM things`, [{ id: "a", name: `${name} a` }])
    }).pipe(Effect.provide(layer()))
  )

  it.effect("a release refuses the database of the next one, and changes nothing", () =>
    Effect.gen(function* () {
      yield* Migrations.make(second).apply
      const earlier = Migrations.make(first)
      for (const check of [earlier.apply, earlier.verify]) {
        assert.include(yield* messageOf(check), "the migrations 0002_names, which are unknown to this release")
      }
      assert.deepStrictEqual((yield* earlier.status).unknown, ["0002_names"])
      yield* Migrations.make(second).verify
    }).pipe(Effect.provide(layer()))
  )

  it.effect("a step that fails changes nothing", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* Migrations.make(first).apply
      yield* Effect.exit(Migrations.make(failing).apply)
      yield* Migrations.make(first).verify
      yield* Migrations.make(second).apply
      assert.deepStrictEqual(yield* sql`SELECT name FROM things`, [])
    }).pipe(Effect.provide(layer()))
  )

  it.effect.each([
    ["whose step has other statements", Migrations.make(first).apply],
    [
      "without digests",
      SqlClient.SqlClient.use((sql) =>
        Effect.andThen(
          sql`CREATE TABLE aicr_migrations (migration_id INTEGER PRIMARY KEY, name TEXT NOT NULL)`,
          sql`INSERT INTO aicr_migrations (migration_id, name) VALUES (1, 'events')`
        )
      )
    ]
  ] as const)("a database of a build before the first release is refused and not changed: one %s", ([, made]) =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* made
      const before = yield* sql`SELECT * FROM aicr_migrations`
      const other = Migrations.make(edited)
      for (const check of [other.apply, other.verify]) {
        assert.include(yield* messageOf(check), "a build before the first release made it. Nothing was changed")
      }
      assert.strictEqual((yield* other.status).different.length, 1)
      assert.deepStrictEqual(yield* sql`SELECT * FROM aicr_migrations`, before)
    }).pipe(Effect.provide(layer()))
  )
})

describe("Migrations of this release", () => {
  it.effect("apply once, survive reopening, and verify", () =>
    Effect.gen(function* () {
      const path = join(yield* folder, "svc.db")
      const use = <A, E>(effect: Effect.Effect<A, E, SqlClient.SqlClient>) =>
        Effect.provide(effect, Layer.fresh(SqliteClient.layer({ path })))
      assert.match(
        yield* messageOf(use(Migrations.verify)),
        /^The database lacks the step 0001_schema\. Run "aicr db migrate", or start the service/
      )
      assert.deepStrictEqual(yield* use(Migrations.apply), ["0001_schema"])
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
})
