import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { DeliveryKey } from "../../src/domain/Keys.ts"
import { verbatimReason } from "../../src/domain/Reason.ts"
import { Receipts } from "../../src/store/Receipts.ts"
import { databases } from "./Databases.ts"
import { change, event, ignored } from "./Fixtures.ts"

/** Returns a value without fields that are undefined. */
const toJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

const diskFull = (sql: SqlClient.SqlClient) =>
  Effect.andThen(
    sql`CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql
      AS 'BEGIN RAISE EXCEPTION USING ERRCODE = ''53100'', MESSAGE = ''could not extend file''; END'`,
    sql`CREATE TRIGGER full_disk BEFORE INSERT ON events FOR EACH STATEMENT EXECUTE FUNCTION full_disk()`
  )

describe.each(databases)("Receipts in $name", ({ layer: fresh }) => {
  layer(fresh())("store", (it) => {
    it.effect("returns stored records", () =>
      Effect.gen(function* () {
        const receipts = yield* Receipts
        const accepted = event()
        const refused = ignored({ action: undefined, workspace: undefined })
        assert.deepStrictEqual(yield* receipts.store(accepted), { _tag: "Stored" })
        yield* receipts.store(refused)
        const open = {
          outcome: undefined,
          outcomeReason: undefined,
          outcomeAt: undefined,
          runId: undefined,
          duplicates: 0,
          duplicatedAt: undefined
        }
        assert.deepStrictEqual(toJson(yield* receipts.get(accepted.id)), toJson({ ...accepted, ...open }))
        assert.deepStrictEqual(toJson(yield* receipts.get(refused.id)), toJson({ ...refused, ...open }))
        assert.isUndefined(yield* receipts.get("unknown"))
      })
    )

    it.effect("counts routing receipts without an outcome by the workspaces of their keys", () =>
      Effect.gen(function* () {
        const receipts = yield* Receipts
        const routing = (workspaces?: ReadonlyArray<string>) =>
          event({
            work: undefined,
            routing: { vcs: "subversion", revision: "1", files: [], ...(workspaces && { workspaces }) }
          })
        const ended = routing()
        const waiting = [routing(), routing(), routing(["a", "b"]), ended]
        const work = event()
        yield* Effect.forEach([work, ...waiting], receipts.store)
        yield* receipts.postpone([work.id, ended.id], verbatimReason("unreachable"))
        assert.deepInclude(yield* receipts.get(ended.id), {
          outcome: undefined,
          outcomeReason: verbatimReason("unreachable")
        })
        assert.deepInclude(yield* receipts.get(work.id), { outcomeReason: undefined })
        yield* receipts.settle([ended.id], { outcome: "skipped", reason: verbatimReason("no_change") }, 1)
        yield* receipts.postpone([ended.id], verbatimReason("unreachable"))
        assert.deepInclude(yield* receipts.get(ended.id), {
          outcome: "skipped",
          outcomeReason: verbatimReason("no_change")
        })
        const counts = yield* receipts.countUnrouted
        assert.sameDeepMembers(
          [...counts],
          [
            { workspaces: undefined, count: 2 },
            { workspaces: ["a", "b"], count: 1 }
          ]
        )
      })
    )

    it.effect("stores a delivery once, within a batch and after it", () =>
      Effect.gen(function* () {
        const receipts = yield* Receipts
        const records = Array.from({ length: 5 }, () => event({ deliveryKey: DeliveryKey.make("gitea:same") }))
        const other = event()
        const answers = yield* Effect.forEach([...records, other, other], receipts.store, { concurrency: "unbounded" })
        assert.deepStrictEqual(
          answers.map((answer) => answer._tag),
          ["Stored", "Duplicate", "Duplicate", "Duplicate", "Duplicate", "Stored", "Duplicate"]
        )
        const again = yield* receipts.store(event({ deliveryKey: DeliveryKey.make("gitea:same") }))
        for (const answer of [...answers.slice(1, 5), again]) {
          assert.strictEqual(answer._tag === "Duplicate" ? answer.first.id : undefined, records[0]?.id)
        }
      })
    )

    it.effect("keeps the result of each caller apart in batches beyond the bound", () =>
      Effect.gen(function* () {
        const receipts = yield* Receipts
        const records = Array.from({ length: 1500 }, () => event())
        const repeated = records.flatMap((record, index) => (index % 3 === 0 ? [record, record] : [record]))
        const answers = yield* Effect.forEach(repeated, receipts.store, { concurrency: "unbounded" })
        assert.strictEqual(answers.filter((answer) => answer._tag === "Stored").length, 1500)
        const wrong = answers.filter(
          (answer, index) => answer._tag === "Duplicate" && answer.first.id !== repeated[index]?.id
        )
        assert.strictEqual(wrong.length, 0)
      })
    )

    it.effect("refuses, with nothing stored, when too many wait", () =>
      Effect.gen(function* () {
        const receipts = yield* Receipts
        const answers = yield* Effect.forEach(
          Array.from({ length: 10_050 }, () => event({ workspace: "flood" })),
          (record) => Effect.result(receipts.store(record)),
          { concurrency: "unbounded" }
        )
        const refused = answers.flatMap((answer) => (answer._tag === "Failure" ? [answer.failure] : []))
        assert.strictEqual(refused.length, 50)
        assert.strictEqual(refused[0]?.reason, "unavailable")
        const sql = yield* SqlClient.SqlClient
        assert.deepStrictEqual(yield* sql`SELECT count(*) AS n FROM events WHERE workspace = 'flood'`, [{ n: 10_000 }])
      })
    )
  })

  layer(fresh())("failure", (it) => {
    it.effect("a failed commit fails all its callers, and the next one works", () =>
      Effect.gen(function* () {
        const receipts = yield* Receipts
        const sql = yield* SqlClient.SqlClient
        const refuse = (on: boolean) =>
          sql.onDialectOrElse({
            pg: () => (on ? diskFull(sql) : sql`DROP TRIGGER full_disk ON events`),
            orElse: () => sql`PRAGMA query_only = ${sql.literal(on ? "1" : "0")}`
          })
        yield* refuse(true)
        const failed = yield* Effect.forEach([event(), event()], (record) => Effect.flip(receipts.store(record)), {
          concurrency: "unbounded"
        })
        assert.deepStrictEqual(
          failed.map((error) => error.reason),
          ["unavailable", "unavailable"]
        )
        assert.match(failed[0]?.message ?? "", /read-only|The disk of the server is full/)
        yield* refuse(false)
        assert.strictEqual((yield* receipts.store(event()))._tag, "Stored")
      })
    )

    it.effect("a record that does not decode is named corrupt", () =>
      Effect.gen(function* () {
        const receipts = yield* Receipts
        const sql = yield* SqlClient.SqlClient
        const record = event()
        yield* receipts.store(record)
        yield* sql`UPDATE events SET work = '{"change":1}' WHERE id = ${record.id}`
        assert.strictEqual((yield* Effect.flip(receipts.get(record.id))).reason, "corrupt")
      })
    )
  })

  layer(fresh())("outcomes", (it) => {
    it.effect("accepted records are unsettled until an outcome is noted, which stays", () =>
      Effect.gen(function* () {
        const receipts = yield* Receipts
        const records = [event(), event(), event()]
        yield* Effect.forEach([...records, ignored()], receipts.store)
        const ids = records.map((record) => record.id)
        const unsettled = (after: string | undefined, limit = 10) =>
          Effect.map(receipts.unsettled(after, limit), (events) => events.map((found) => found.id))
        assert.deepStrictEqual(yield* unsettled(undefined), ids)
        assert.deepStrictEqual(yield* unsettled(ids[0], 1), [ids[1]])

        yield* receipts.settle(ids.slice(0, 2), { outcome: "executed", runId: "run" }, 5)
        yield* receipts.settle(ids.slice(0, 1), { outcome: "failed", reason: verbatimReason("late") }, 9)
        assert.deepStrictEqual(yield* unsettled(undefined), [ids[2]])
        const settled = yield* receipts.get(ids[0] ?? "")
        assert.deepInclude(settled, { outcome: "executed", outcomeReason: undefined, outcomeAt: 5, runId: "run" })
        yield* receipts.settle([], { outcome: "failed" }, 9)
      })
    )
  })

  layer(fresh())("facts and notes", (it) => {
    it.effect("finds the records of a pull request by repository, number, reason and time", () =>
      Effect.gen(function* () {
        const receipts = yield* Receipts
        const facts = { number: 41, head: "a".repeat(40), branch: "main", author: "ada", sender: "bo" }
        const repo = "Acme/Found"
        const command = { ...facts, command: "help" } as const
        const records = [
          event({ repo, facts, rule: { _tag: "BoundBy", workspace: "app", repository: "Acme/Found" } }),
          ignored({ repo, facts: command, receivedAt: 2000 }),
          event({ repo, facts: { ...facts, number: 42 } }),
          event({ repo: "Acme/Other", facts })
        ]
        yield* receipts.storeAll(records)
        const list = (filter: Parameters<typeof receipts.list>[0]) =>
          Effect.map(receipts.list(filter), (events) => events.map((found) => found.id))
        const [a, b, c] = records.map((record) => record.id)
        const found = { repo: "acme/found", limit: 9 }
        assert.deepStrictEqual(yield* list(found), [c, b, a])
        assert.deepStrictEqual(yield* list({ ...found, number: 41 }), [b, a])
        assert.deepStrictEqual(yield* list({ ...found, reason: "draft" }), [b])
        assert.deepStrictEqual(yield* list({ ...found, since: 1500 }), [b])
        const [second, first] = yield* receipts.list({ ...found, number: 41 })
        assert.deepStrictEqual(toJson([first?.facts, second?.facts]), toJson([facts, command]))
        assert.deepStrictEqual(first?.rule, { _tag: "BoundBy", workspace: "app", repository: "Acme/Found" })
      })
    )

    it.effect("notes decisions of the queue and counts repetitions", () =>
      Effect.gen(function* () {
        const receipts = yield* Receipts
        const [one, other] = [event(), event()]
        yield* receipts.storeAll([one, other])
        yield* receipts.note({
          decided: [{ id: one.id, decision: "coalesced" }],
          duplicates: [
            { id: one.id, at: 5 },
            { id: other.id, at: 7 },
            { id: one.id, at: 6 }
          ]
        })
        yield* receipts.note({ decided: [], duplicates: [{ id: other.id, at: 3 }] })
        assert.deepInclude(yield* receipts.get(one.id), { decision: "coalesced", duplicates: 2, duplicatedAt: 6 })
        assert.deepInclude(yield* receipts.get(other.id), { decision: "queued", duplicates: 2, duplicatedAt: 7 })
      })
    )
  })

  layer(fresh())("list and prune", (it) => {
    it.effect("lists the newest first, filtered and paged", () =>
      Effect.gen(function* () {
        const receipts = yield* Receipts
        const records = [event(), ignored(), event({ workspace: "other" }), ignored()]
        yield* Effect.forEach(records, receipts.store)
        const [a, b, c, d] = records.map((record) => record.id)
        const list = (filter: Parameters<typeof receipts.list>[0]) =>
          Effect.map(receipts.list(filter), (events) => events.map((found) => found.id))
        assert.deepStrictEqual(yield* list({ limit: 10 }), [d, c, b, a])
        assert.deepStrictEqual(yield* list({ limit: 1, before: c }), [b])
        assert.deepStrictEqual(yield* list({ limit: 9, workspace: "app", decision: "ignored" }), [d, b])
      })
    )

    it.effect("removes by count and by age, never what is accepted and open", () =>
      Effect.gen(function* () {
        const receipts = yield* Receipts
        const sql = yield* SqlClient.SqlClient
        yield* sql`DELETE FROM events`
        const open = event({ receivedAt: 1 })
        const settled = event({ receivedAt: 1 })
        const old = ignored({ receivedAt: 1 })
        const recent = Array.from({ length: 1200 }, () => ignored({ receivedAt: 100 }))
        yield* Effect.forEach([open, settled, old, ...recent], receipts.store, { concurrency: "unbounded" })
        yield* receipts.settle([settled.id], { outcome: "executed" }, 2)

        assert.strictEqual(yield* receipts.prune({ maxCount: 5000, before: 50 }), 2)
        assert.strictEqual(yield* receipts.prune({ maxCount: 10, before: 50 }), 1190)
        assert.strictEqual(yield* receipts.prune({ maxCount: 10, before: 50 }), 0)
        const left = (yield* receipts.list({ limit: 100 })).map((found) => found.id)
        assert.deepStrictEqual(left.toSorted(), [open.id, ...recent.slice(-10).map((record) => record.id)])
        assert.deepStrictEqual((yield* receipts.get(open.id))?.work?.change, change())
      })
    )
  })
})
