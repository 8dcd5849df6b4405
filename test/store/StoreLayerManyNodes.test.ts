/** Several nodes, each a process, on one Postgres: results of one apply to all of them, also when one is killed. */
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { targetKey } from "../../src/domain/Change.ts"
import { LeaseToken } from "../../src/domain/FencingToken.ts"
import { Batches } from "../../src/store/Batches.ts"
import { Ledger } from "../../src/store/Ledger.ts"
import * as Migrations from "../../src/store/schema/Migrations.ts"
import * as PostgresClient from "../../src/database/postgres/PostgresClient.ts"
import { Receipts } from "../../src/store/Receipts.ts"
import { Runs } from "../../src/store/Runs.ts"
import { freshDatabase, postgres, postgresAt } from "./Databases.ts"
import { analysis, change, event } from "./Fixtures.ts"
import { killAfter, toTheEnd } from "./KilledChild.ts"

const child = fileURLToPath(new URL("NodeChild.ts", import.meta.url))

interface Line {
  readonly at?: number
  readonly receipt?: "Stored" | "Duplicate"
  readonly eventId?: string
  readonly joined?: string
  readonly batchId?: string
  readonly spent?: "Reserved" | "Refused"
}
const parsed = (lines: ReadonlyArray<string>): ReadonlyArray<Line> => lines.map((line): Line => JSON.parse(line))

describe("many nodes on one Postgres", () => {
  it("one record per delivery, one batch per stream, no cap passed; one of three is killed in the middle", async () => {
    const url = await freshDatabase()
    const count = 400
    const written: Array<Array<string>> = [[], []]
    const [killed] = await Promise.all([
      killAfter(child, [url, String(count)], 300),
      ...written.map((lines) => toTheEnd(child, [url, String(count)], lines))
    ])
    const lines = parsed([...killed, ...written.flat()])

    const idOf = new Map<number, string>()
    for (const { at, receipt, eventId } of lines) {
      if (at === undefined || receipt === undefined || eventId === undefined) continue
      assert.strictEqual(idOf.get(at) ?? eventId, eventId)
      idOf.set(at, eventId)
    }
    const stored = lines.filter(({ receipt }) => receipt === "Stored").length
    // The killed process may have stored a record without reporting it.
    assert.isAtMost(stored, count)
    assert.isAtLeast(stored, count - 16)
    assert.strictEqual(idOf.size, count)

    await Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      assert.deepStrictEqual(yield* sql`SELECT count(*) AS n, count(DISTINCT delivery_key) AS keys FROM events`, [
        { n: count, keys: count }
      ])
      const batches = yield* (yield* Batches).list({ limit: 100 })
      assert.deepStrictEqual(
        batches.map(({ status, commits }) => ({ status, commits })),
        [{ status: "open", commits: count }]
      )
      assert.strictEqual((yield* (yield* Batches).members(batches[0]?.id ?? "")).length, count)

      const ledger = yield* Ledger
      const account = { repository: "t:team/app", day: "2026-01-31" }
      const spent = yield* ledger.committed(account)
      assert.isAtMost(spent, 10)
      // The cap was reached, so both results occurred.
      const answers = new Set(lines.map((line) => line.spent))
      assert.isTrue(answers.has("Reserved") && answers.has("Refused"))
      const [open] = yield* sql<{ amount: number | null }>`
        SELECT sum(amount)::bigint AS amount FROM ledger_reservations WHERE status = 'open'`
      const [closed] = yield* sql<{ n: number }>`SELECT count(*) AS n FROM ledger_reservations WHERE status = 'closed'`
      assert.closeTo(spent, (open?.amount ?? 0) / 1e9 + (closed?.n ?? 0) * 0.05, 1e-9)
      yield* ledger.closeLost(() => true, 0, 3)
      assert.closeTo(yield* ledger.committed(account), spent, 1e-9)
    }).pipe(Effect.provide(postgresAt(url, "verify")), Effect.runPromise)
  }, 60_000)

  it.live("nodes that start together migrate once", () =>
    Effect.gen(function* () {
      const url = yield* Effect.promise(freshDatabase)
      const node = Effect.suspend(() =>
        Effect.provide(Migrations.apply, Layer.fresh(PostgresClient.layer({ url: Redacted.make(url) })))
      )
      const applied = yield* Effect.all([node, node, node, node], { concurrency: "unbounded" })
      assert.strictEqual(applied.filter((steps) => steps.length > 0).length, 1)
      const all = yield* Effect.provide(Migrations.status, PostgresClient.layer({ url: Redacted.make(url) }))
      assert.deepStrictEqual(all, { applied: applied.flat(), pending: [], unknown: [], different: [] })
    })
  )

  it.live("an entry has one run, whichever nodes begin it concurrently; the newest token has it", () =>
    Effect.gen(function* () {
      const url = yield* Effect.promise(freshDatabase)
      yield* Effect.provide(Effect.void, postgresAt(url))
      const node = yield* Layer.build(Layer.fresh(postgresAt(url, "verify")))
      const other = yield* Layer.build(Layer.fresh(postgresAt(url, "verify")))
      const start = (entryId: string) => ({
        entryId,
        workspace: "app",
        targetKey: targetKey(change()),
        change: change(),
        head: "a".repeat(40),
        base: undefined,
        configHash: "c"
      })
      for (let round = 0; round < 20; round++) {
        const begun = yield* Effect.all(
          [node, other, node, other].map((context, at) =>
            Effect.provide(
              Runs.use((runs) => runs.begin(start(`e${round}`), LeaseToken.make(at + 1), 1)),
              context
            )
          ),
          { concurrency: "unbounded" }
        )
        assert.isDefined(begun[3])
        const runs = begun.flatMap((run) => (run === undefined ? [] : [run.id]))
        assert.strictEqual(new Set(runs).size, 1)
        const id = runs[0] ?? ""
        const write = (token: LeaseToken, context: typeof node) =>
          Effect.provide(
            Runs.use((all) => all.move(id, token, "analyzing", 2)),
            context
          )
        assert.deepStrictEqual(
          yield* Effect.all([write(LeaseToken.make(3), other), write(LeaseToken.make(4), node)], { concurrency: 2 }),
          [false, true]
        )
        const complete = (token: LeaseToken, context: typeof node) =>
          Effect.provide(
            Runs.use((all) => all.complete(id, token, analysis, [], 3)),
            context
          )
        const completed = yield* Effect.all(
          [
            complete(LeaseToken.make(4), node),
            complete(LeaseToken.make(4), other),
            complete(LeaseToken.make(3), other)
          ],
          {
            concurrency: 3
          }
        )
        assert.deepStrictEqual(completed.filter(Boolean).length, 1)
        assert.isFalse(completed[2])
      }
    }).pipe(Effect.scoped)
  )

  it.live(
    "a server that restarts under load: stored records remain, other calls fail as unavailable, and then it works",
    () =>
      Effect.gen(function* () {
        const url = yield* Effect.promise(freshDatabase)
        const server = yield* Effect.promise(postgres)
        yield* Effect.gen(function* () {
          const receipts = yield* Receipts
          const stored: Array<string> = []
          const refused: Array<string> = []
          const running = { stop: false }
          const storing = Effect.gen(function* () {
            while (!running.stop) {
              const record = event()
              const result = yield* Effect.result(receipts.store(record))
              if (result._tag === "Success") stored.push(record.id)
              else {
                assert.strictEqual(result.failure.reason, "unavailable")
                refused.push(result.failure.message)
                yield* Effect.sleep("50 millis")
              }
            }
          })
          const load = yield* Effect.forkChild(
            Effect.all(
              Array.from({ length: 16 }, () => storing),
              { concurrency: "unbounded" }
            )
          )
          const until = (more: number, of: ReadonlyArray<string>) =>
            Effect.gen(function* () {
              const from = of.length
              while (of.length < from + more) yield* Effect.sleep("10 millis")
            })
          yield* until(200, stored)
          // A short outage only costs time.
          yield* Effect.promise(() => server.stop().then(() => server.start()))
          yield* until(200, stored)
          yield* Effect.promise(() => server.kill())
          yield* until(16, refused)
          yield* Effect.promise(() => server.start())
          yield* until(200, stored)
          running.stop = true
          yield* Fiber.join(load)
          for (const message of refused) assert.match(message, /^Postgres 127\.0\.0\.1:\d+/)
          const sql = yield* SqlClient.SqlClient
          const there = new Set((yield* sql<{ id: string }>`SELECT id FROM events`).map(({ id }) => id))
          assert.deepStrictEqual(
            stored.filter((id) => !there.has(id)),
            []
          )
        }).pipe(Effect.provide(postgresAt(url)))
      })
  )
})
