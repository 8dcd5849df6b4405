import { statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import * as SqliteClient from "../../../src/database/sqlite/SqliteClient.ts"
import { folder } from "../../store/Folder.ts"

describe("SqliteClient", () => {
  it.effect("makes private folders and files", () =>
    Effect.gen(function* () {
      const path = join(yield* folder, "a", "b", "svc.db")
      yield* Effect.scoped(Layer.build(SqliteClient.layer({ path })))
      assert.strictEqual(statSync(join(path, "..")).mode & 0o777, 0o700)
      assert.strictEqual(statSync(path).mode & 0o777, 0o600)
    })
  )

  it.effect("names the file that cannot be opened and the next step", () =>
    Effect.gen(function* () {
      const place = yield* folder
      const blocked = join(place, "file")
      writeFileSync(blocked, "this is no database, but long enough to look like one".repeat(20))
      const open = (path: string) => Effect.flip(Effect.scoped(Layer.build(SqliteClient.layer({ path }))))
      const below = yield* open(join(blocked, "svc.db"))
      assert.include(below.message, join(blocked, "svc.db"))
      assert.include(below.message, "Check that the path is right")
      assert.include((yield* open(blocked)).message, "not a SQLite database")
      assert.include((yield* open(place)).message, place)
    })
  )

  it.effect("rolls back a transaction that fails, and a savepoint alone", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* sql`CREATE TABLE t (n INTEGER UNIQUE)`
      const insert = (n: number) => sql`INSERT INTO t VALUES (${n})`
      const failing = (n: number) => sql.withTransaction(Effect.andThen(insert(n), Effect.fail("no")))
      yield* Effect.flip(failing(1))
      yield* sql.withTransaction(Effect.all([insert(2), Effect.flip(failing(3)), insert(4)]))
      assert.deepStrictEqual(yield* sql`SELECT n FROM t ORDER BY n`.values, [[2], [4]])
      const twice = yield* Effect.flip(insert(2))
      assert.strictEqual(twice.reason._tag, "UniqueViolation")
    }).pipe(Effect.provide(SqliteClient.layer({ path: ":memory:" })))
  )
})
