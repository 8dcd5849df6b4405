/** The search for runs on real databases: partial words, all terms, order, filters, and lists that are searched part by part. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { searchTerms } from "../../../src/domain/SearchText.ts"
import { Runs } from "../../../src/store/Runs.ts"
import type { RunSearch } from "../../../src/store/Runs.ts"
import { databases } from "../Databases.ts"
import { beginRun, settle, publishRun } from "../EndedRuns.ts"

type Stored = Record<string, string | number | null>

const search = (text: string, more: Partial<RunSearch> = {}) =>
  Effect.map(
    Runs.use((runs) => runs.search({ terms: searchTerms(text), isNewest: false, limit: 10, ...more })),
    ({ runs, searchedTo }) => ({ ids: runs.map(({ id }) => id), searchedTo })
  )

describe.each(databases)("the search in $name", ({ layer }) => {
  it.effect("finds runs by parts of words, all of them, newest first", () =>
    Effect.gen(function* () {
      const first = yield* beginRun({ repo: "Team/Login-Service", number: 1, workspace: "web" })
      const second = yield* beginRun({ repo: "team/login-service", number: 2, workspace: "web" })
      const other = yield* beginRun({
        repo: "team/100%_sure",
        number: 3,
        workspace: "api",
        head: "c0de".padEnd(40, "0")
      })
      assert.deepStrictEqual((yield* search("LOGIN")).ids, [second, first])
      assert.deepStrictEqual((yield* search("login", { oldestFirst: true })).ids, [first, second])
      assert.deepStrictEqual((yield* search("ogin-serv #2")).ids, [second])
      assert.deepStrictEqual((yield* search("login api")).ids, [])
      assert.deepStrictEqual((yield* search("c0de00")).ids, [other])
      assert.deepStrictEqual((yield* search("0%_s")).ids, [other])
      assert.deepStrictEqual((yield* search("0__s")).ids, [])
      assert.deepStrictEqual((yield* search("team", { before: second })).ids, [first])
      assert.deepStrictEqual((yield* search("team", { workspace: "api" })).ids, [other])
      assert.deepStrictEqual((yield* search("team", { limit: 2 })).ids, [other, second])
    }).pipe(Effect.provide(layer()))
  )

  it.effect("finds only the newest run of each target where this is wanted", () =>
    Effect.gen(function* () {
      const old = yield* publishRun({ repo: "team/one", number: 4 })
      yield* settle(old, 10)
      const newest = yield* beginRun({ repo: "team/one", number: 4, startedAt: 20 })
      assert.deepStrictEqual((yield* search("team/one")).ids, [newest, old])
      assert.deepStrictEqual((yield* search("team/one", { isNewest: true })).ids, [newest])
    }).pipe(Effect.provide(layer()))
  )

  it.effect("reads a limited part of a long list, and continues after it", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const oldest = yield* beginRun({ repo: "team/needle", number: 5 })
      const [row] = yield* sql<Stored>`SELECT * FROM runs WHERE id = ${oldest}`
      const ids = Array.from({ length: 20_000 }, (_, index) => `z${100_000 + index}`)
      const others = Object.keys(row ?? {}).filter((name) => !["id", "target_key", "newest", "search"].includes(name))
      const columns = sql.literal(others.map((name) => `"${name}"`).join(", "))
      // Its triggers count each row: one transaction with so many takes a minute for them.
      yield* sql.onDialectOrElse({
        pg: () => sql`ALTER TABLE runs DISABLE TRIGGER USER`,
        orElse: () => sql`SELECT 1`
      })
      yield* sql`
        WITH RECURSIVE numbers(at) AS (SELECT 0 UNION ALL SELECT at + 1 FROM numbers WHERE at < ${ids.length - 1})
        INSERT INTO runs (id, target_key, newest, search, ${columns})
        SELECT 'z' || CAST(100000 + at AS TEXT), 'z' || CAST(100000 + at AS TEXT), 1, 'team/hay', ${columns}
        FROM runs, numbers WHERE id = ${oldest}`
      const first = yield* search("needle")
      assert.deepStrictEqual(first, { ids: [], searchedTo: ids[0] })
      assert.deepStrictEqual(yield* search("needle", { before: first.searchedTo }), {
        ids: [oldest],
        searchedTo: undefined
      })
      assert.deepStrictEqual((yield* search("hay", { limit: 3 })).ids, ids.slice(-3).toReversed())
      assert.deepStrictEqual(yield* search("needle", { isNewest: true, after: ids[0], oldestFirst: true }), {
        ids: [],
        searchedTo: undefined
      })
    }).pipe(Effect.provide(layer()))
  )
})
