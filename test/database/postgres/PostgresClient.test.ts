import { createServer } from "node:net"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import * as PostgresClient from "../../../src/database/postgres/PostgresClient.ts"
import { unlimited } from "../../../src/database/postgres/Unlimited.ts"
import { DeliveryKey } from "../../../src/domain/Keys.ts"
import { Receipts } from "../../../src/store/Receipts.ts"
import { change, event } from "../../store/Fixtures.ts"
import { freshDatabase, postgresAt } from "../../store/Databases.ts"

const at = (url: string, more: Partial<PostgresClient.PostgresOptions> = {}) =>
  Layer.fresh(PostgresClient.layer({ url: Redacted.make(url), ...more }))
const fresh = Layer.unwrap(
  Effect.map(Effect.promise(freshDatabase), (url) => at(url, { applicationName: "aicr here" }))
)
const failureAt = (url: string) =>
  SqlClient.SqlClient.use((sql) => sql`SELECT 1`).pipe(Effect.provide(at(url)), Effect.flip)
const refusalOf = (url: string) => Effect.flip(Effect.scoped(Layer.build(at(url))))

describe("PostgresClient", () => {
  it.live("rolls back a transaction that fails, and a savepoint alone", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* sql`CREATE TABLE t (n BIGINT UNIQUE)`
      const insert = (n: number) => sql`INSERT INTO t VALUES (${n})`
      const failing = (n: number) => sql.withTransaction(Effect.andThen(insert(n), Effect.fail("no")))
      yield* Effect.flip(failing(1))
      yield* sql.withTransaction(Effect.all([insert(2), Effect.flip(failing(3)), insert(4)]))
      assert.deepStrictEqual(yield* sql`SELECT n FROM t ORDER BY n`.values, [[2], [4]])
      const twice = yield* Effect.flip(insert(2))
      assert.deepInclude(twice.reason, { _tag: "UniqueViolation", constraint: "t_n_key" })
    }).pipe(Effect.provide(fresh))
  )

  it.live("a transaction in which a statement failed unnoticed does not count as committed", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* sql`CREATE TABLE t (n BIGINT UNIQUE)`
      const failed = yield* Effect.flip(
        sql.withTransaction(Effect.andThen(sql`INSERT INTO t VALUES (1)`, Effect.exit(sql`SELECT nothing`)))
      )
      assert.include(failed.message, "rolled back")
      assert.deepStrictEqual(yield* sql`SELECT n FROM t`, [])
    }).pipe(Effect.provide(fresh))
  )

  it.live("a statement that takes too long fails, unless its transaction has no limits of time", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const slow = sql`SELECT pg_sleep(0.4)`
      assert.include((yield* Effect.flip(slow)).message, "timeout")
      yield* sql.withTransaction(Effect.andThen(sql.unsafe(unlimited), slow))
      assert.include((yield* Effect.flip(sql.withTransaction(slow))).message, "timeout")
    }).pipe(
      Effect.provide(Layer.unwrap(Effect.map(Effect.promise(freshDatabase), (url) => at(url, { queryTimeout: 100 }))))
    )
  )

  it.live("keeps frequent statements prepared until the columns of their table change", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* sql`CREATE TABLE t (n BIGINT)`
      yield* sql`INSERT INTO t VALUES (1)`
      const read = (n: number) => sql`SELECT * FROM t WHERE n = ${n}`
      const write = (n: number) => sql`INSERT INTO t VALUES (${n}) RETURNING *`
      const often = <A, E>(ask: Effect.Effect<A, E>) => Effect.repeat(ask, { times: 9 })
      yield* often(read(1))
      yield* often(write(2))
      const kept = sql`SELECT statement FROM pg_prepared_statements ORDER BY prepare_time`.values
      assert.deepStrictEqual(yield* kept, [["SELECT * FROM t WHERE n = $1"], ["INSERT INTO t VALUES ($1) RETURNING *"]])
      yield* sql`ALTER TABLE t ADD COLUMN m BIGINT`
      assert.deepStrictEqual(yield* read(1), [{ n: 1, m: null }])
      yield* often(write(2))
      yield* sql`ALTER TABLE t ADD COLUMN o BIGINT`
      assert.deepStrictEqual(yield* write(3), [{ n: 3, m: null, o: null }])
      yield* often(write(4))
      yield* sql`ALTER TABLE t ADD COLUMN p BIGINT`
      yield* sql.withTransaction(Effect.andThen(sql`INSERT INTO t VALUES (5)`, write(5)))
      assert.deepStrictEqual(yield* sql`SELECT n FROM t WHERE n IN (3, 5)`.values, [[3], [5], [5]])
    }).pipe(
      Effect.provide(Layer.unwrap(Effect.map(Effect.promise(freshDatabase), (url) => at(url, { maxConnections: 1 }))))
    )
  )

  it.live("two transactions that wait for each other are both done in the end", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* sql`CREATE TABLE t (id TEXT PRIMARY KEY, n BIGINT)`
      yield* sql`INSERT INTO t VALUES ('a', 0), ('b', 0)`
      const add = (...ids: ReadonlyArray<string>) =>
        Effect.forEach(ids, (id) =>
          Effect.andThen(sql`UPDATE t SET n = n + 1 WHERE id = ${id}`, sql`SELECT pg_sleep(0.2)`)
        ).pipe(sql.withTransaction)
      yield* Effect.all([add("a", "b"), add("b", "a")], { concurrency: 2 })
      assert.deepStrictEqual(yield* sql`SELECT n FROM t`.values, [[2], [2]])
    }).pipe(Effect.provide(fresh))
  )

  it.live("names itself, keeps to its number of connections, and closes idle ones", () =>
    Effect.gen(function* () {
      const url = yield* Effect.promise(freshDatabase)
      yield* Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const shown = yield* sql`SELECT application_name AS name FROM pg_stat_activity WHERE pid = pg_backend_pid()`
        assert.deepStrictEqual(shown, [{ name: "aicr two" }])
        const many = yield* Effect.forEach(
          Array.from({ length: 20 }),
          () => sql<{ pid: number }>`SELECT pg_backend_pid() AS pid, pg_sleep(0.02)`,
          { concurrency: "unbounded" }
        )
        assert.isAtMost(new Set(many.map(([row]) => row?.pid)).size, 2)
        // Statements that were given up, in and out of a transaction, do not keep the two connections.
        const sleep = sql`SELECT pg_sleep(20)`
        const given = yield* Effect.forEach([sleep, sql.withTransaction(sleep)], (work) => Effect.forkChild(work))
        const active = SqlClient.SqlClient.use(
          (other) => other<{ n: number }>`
            SELECT count(*) AS n FROM pg_stat_activity WHERE application_name = 'aicr two' AND query LIKE '%pg_sleep(20)'`
        ).pipe(
          Effect.provide(at(url)),
          Effect.map(([row]) => row?.n)
        )
        while ((yield* active) !== 2) yield* Effect.sleep("10 millis")
        yield* Fiber.interruptAll(given)
        assert.deepStrictEqual(yield* sql`SELECT 1 AS one`, [{ one: 1 }])
      }).pipe(Effect.provide(at(url, { maxConnections: 2, applicationName: "aicr two" })))
    })
  )

  it.live("a connection that ends before COMMIT costs time: the transaction is done once, a read is read again", () =>
    Effect.gen(function* () {
      const url = yield* Effect.promise(freshDatabase)
      yield* Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* sql`CREATE TABLE t (n BIGINT)`
        const end = (pid: number) =>
          SqlClient.SqlClient.use((other) => other`SELECT pg_terminate_backend(${pid})`).pipe(Effect.provide(at(url)))
        let tries = 0
        yield* sql.withTransaction(
          Effect.gen(function* () {
            yield* sql`INSERT INTO t VALUES (1)`
            const [row] = yield* sql<{ pid: number }>`SELECT pg_backend_pid() AS pid`
            yield* sql.withTransaction(tries++ === 0 ? Effect.asVoid(end(row?.pid ?? 0)) : Effect.void)
            yield* sql`INSERT INTO t VALUES (2)`
          })
        )
        assert.strictEqual(tries, 2)
        assert.deepStrictEqual(yield* sql`SELECT n FROM t ORDER BY n`.values, [[1], [2]])

        // It waits until it is read again.
        yield* sql`CREATE TABLE ended (n BIGINT)`
        const reading = yield* Effect.forkChild(
          sql`SELECT 1 AS one, pg_sleep(CASE WHEN EXISTS (SELECT 1 FROM ended) THEN 0 ELSE 600 END)::text`
        )
        const pidOf = SqlClient.SqlClient.use(
          (other) => other<{
            pid: number
          }>`SELECT pid FROM pg_stat_activity WHERE query LIKE '%pg_sleep(CASE%' AND state = 'active'
            AND pid <> pg_backend_pid()`
        ).pipe(Effect.provide(at(url)))
        let [active] = yield* pidOf
        while (active === undefined) [active] = yield* pidOf
        yield* sql`INSERT INTO ended VALUES (1)`
        yield* end(active.pid)
        assert.deepStrictEqual(
          (yield* Fiber.join(reading)).map((row) => row["one"]),
          [1]
        )
      }).pipe(Effect.provide(at(url)))
    })
  )

  it.live("a write whose result was lost is not repeated", () =>
    Effect.gen(function* () {
      const url = yield* Effect.promise(freshDatabase)
      yield* Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* sql`CREATE TABLE t (n BIGINT)`
        // The connection ends with the statement that writes.
        const lost = yield* Effect.flip(
          sql`WITH written AS (INSERT INTO t VALUES (1) RETURNING n)
            SELECT n, pg_terminate_backend(pg_backend_pid()) FROM written`
        )
        assert.strictEqual(lost.reason._tag, "ConnectionError")
        assert.strictEqual(lost.reason.operation, "statement")
        assert.deepStrictEqual(yield* sql`SELECT 1 AS one`, [{ one: 1 }])
      }).pipe(Effect.provide(at(url)))
    })
  )

  it.live(
    "a node that freezes in a transaction holds the others up for seconds, and does its own work afterwards",
    () =>
      Effect.gen(function* () {
        const url = yield* Effect.promise(freshDatabase)
        const frozen = yield* Layer.build(at(url))
        yield* Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          yield* sql`CREATE TABLE t (n BIGINT)`
          yield* sql`INSERT INTO t VALUES (0)`
          const holds = yield* Deferred.make<void>()
          const thaws = yield* Deferred.make<void>()
          const first = yield* SqlClient.SqlClient.use((other) =>
            other.withTransaction(
              other`UPDATE t SET n = n + 10`.pipe(
                Effect.andThen(Deferred.succeed(holds, undefined)),
                Effect.andThen(Deferred.await(thaws)),
                Effect.andThen(other`SELECT 1`)
              )
            )
          ).pipe(Effect.provide(frozen), Effect.forkChild)
          yield* Deferred.await(holds)
          yield* sql`UPDATE t SET n = n + 1`
          assert.deepStrictEqual(yield* sql`SELECT n FROM t`.values, [[1]])
          yield* Deferred.succeed(thaws, undefined)
          yield* Fiber.join(first)
          assert.deepStrictEqual(yield* sql`SELECT n FROM t`.values, [[11]])
        }).pipe(Effect.provide(at(url)))
      }).pipe(Effect.scoped)
  )

  it.live("text with a NUL is stored, and found again as what it became", () =>
    Effect.gen(function* () {
      const receipts = yield* Receipts
      const record = event({
        repo: "a\0b",
        deliveryKey: DeliveryKey.make("gitea:\0"),
        work: { ...work, change: { ...change(), title: "\0" } }
      })
      assert.strictEqual((yield* receipts.store(record))._tag, "Stored")
      const found = yield* receipts.get(record.id)
      assert.strictEqual(found?.repo, "a\uFFFDb")
      assert.strictEqual(found?.work?.change.title, "\0")
    }).pipe(Effect.provide(Layer.unwrap(Effect.map(Effect.promise(freshDatabase), (url) => postgresAt(url)))))
  )

  it.live("no message and no error holds the password", () =>
    Effect.gen(function* () {
      const gone = yield* failureAt("postgres://aicr:hunter2@127.0.0.1:1/app")
      assert.deepInclude(gone.reason, { _tag: "ConnectionError" })
      assert.include(gone.message, "Postgres 127.0.0.1:1/app: connect ECONNREFUSED 127.0.0.1:1. Check the address")
      const url = new URL(yield* Effect.promise(freshDatabase))
      url.password = "hunter2"
      const missing = Object.assign(new URL(url), { pathname: "/missing" })
      const noDatabase = yield* failureAt(missing.href)
      assert.include(noDatabase.message, 'database "missing" does not exist. Create the database')
      const encrypted = new URL(url)
      encrypted.searchParams.set("sslmode", "require")
      const plain = yield* failureAt(encrypted.href)
      assert.include(plain.message, "does not support SSL")
      const refused = yield* Effect.forEach(
        [
          "postgres://aicr:hunter2@host:port/x",
          "mysql://aicr:hunter2@host/x",
          "aicr:hunter2",
          "postgres://aicr:hunter2@host/x?sslmode=prefer",
          "postgres://aicr:hunter2@host/x?sslmode=verify-ca",
          "postgres://aicr:hunter2@host/x?sslmode=verify-full&sslrootcert=/no/such/file"
        ],
        refusalOf
      )
      assert.include(refused[3]?.message, "sslmode prefer does not say whether to encrypt")
      assert.include(refused[5]?.message, "/no/such/file")
      for (const error of [gone, noDatabase, plain, ...refused]) {
        assert.notInclude(error.message, "hunter2")
        assert.notInclude(JSON.stringify(error), "hunter2")
        assert.notInclude(String(error), "hunter2")
      }
    })
  )

  it.live("requires encryption before it sends anything, and disconnects when the server has none", () =>
    Effect.gen(function* () {
      const received: Array<Buffer> = []
      const server = createServer((socket) =>
        socket.on("data", (data) => {
          received.push(data)
          socket.write("N")
        })
      )
      yield* Effect.promise(() => new Promise<void>((done) => server.listen(0, "127.0.0.1", done)))
      const address = server.address()
      const port = address !== null && typeof address === "object" ? address.port : 0
      for (const mode of ["require", "verify-full"])
        yield* failureAt(`postgres://aicr:hunter2@127.0.0.1:${port}/app?sslmode=${mode}`)
      server.close()
      assert.isAbove(received.length, 1)
      // SSLRequest, and nothing else: no user, no password.
      for (const data of received) assert.strictEqual(data.toString("hex"), "0000000804d2162f")
    })
  )
})

const work = { change: change(), configHash: "c", priority: 1, dueAt: 1 }
