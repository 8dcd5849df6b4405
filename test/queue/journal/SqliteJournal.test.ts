/** Tests the queue over a journal in SQLite: files that fail, files that are damaged, and files of other programs. */
import { chmodSync, copyFileSync, readdirSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import { Queue } from "../../../src/queue/Queue.ts"
import { QueueControl } from "../../../src/queue/operator/QueueControl.ts"
import { layerJournal } from "../../../src/queue/journal/JournalQueue.ts"
import { makeSqliteJournal, makeSqliteReader } from "../../../src/queue/journal/SqliteJournal.ts"
import { verbatimReason } from "../../../src/domain/Reason.ts"
import { admission, toTarget } from "../Admissions.ts"
import { waitUntil } from "../../harness/Wait.ts"
import { folder, manyEntries } from "../Stores.ts"
import { inEnglish } from "../../../src/text/en.ts"

const inFile = (path: string) => Layer.fresh(layerJournal(makeSqliteJournal(path), manyEntries))
const foreign = (path: string) =>
  Effect.acquireRelease(
    Effect.sync(() => new DatabaseSync(path)),
    (db) => Effect.sync(() => db.close())
  )

/** Returns the rows in a copy of the file alone; undefined while that has no table, or if pages were written during the copy. */
const rowsWithoutLog = (path: string): unknown => {
  const copy = `${path}.copy`
  copyFileSync(path, copy)
  const db = new DatabaseSync(copy)
  try {
    return db.prepare("SELECT count(*) AS n FROM details").get()?.["n"]
  } catch {
    return undefined
  } finally {
    db.close()
  }
}

/** Runs without root, which ignores file permissions. */
const asOrdinaryUser = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  process.getuid?.() === 0
    ? Effect.acquireUseRelease(
        Effect.sync(() => process.seteuid?.(65_534)),
        () => effect,
        () => Effect.sync(() => process.seteuid?.(0))
      )
    : effect

interface Damage {
  readonly what: string
  /** A statement; its parameter is the id of the second entry. */
  readonly damage: string
  /** Whether a snapshot has the entries. */
  readonly hasSnapshot?: boolean
  /** Numbers of the entries, of three, that do not wait any more. Each was admitted by a message of its own. */
  readonly lost?: ReadonlyArray<number>
  /** The events of these entries are known. */
  readonly isKnown?: boolean
  readonly quarantined?: number
  readonly reason?: RegExp
}

const damages: ReadonlyArray<Damage> = [
  ...["", "not JSON", "7", "[]", '["1",[],[]]', "[1,[],[7]]"].map((rows) => ({
    what: `a message with the rows ${rows}`,
    damage: `UPDATE messages SET rows = '${rows}' WHERE sequence = 2`,
    lost: [2],
    quarantined: 1,
    reason: /^quarantined: message 2 of the queue's journal cannot be read/
  })),
  {
    what: "a damaged row of an entry that is known",
    damage: `INSERT INTO messages SELECT 4, 'x', id, json_array(1, json('[]'), json_array(json_array(?, 99))) FROM messages WHERE sequence = 3`,
    lost: [2],
    isKnown: true,
    quarantined: 1
  },
  { what: "no message in the middle", damage: "DELETE FROM messages WHERE sequence = 2", lost: [2] },
  { what: "no messages", damage: "DELETE FROM messages", lost: [1, 2, 3] },
  {
    what: "a damaged page of the snapshot",
    damage: "UPDATE pages SET rows = 'junk' WHERE page = 1",
    hasSnapshot: true,
    lost: [1, 2, 3],
    quarantined: 1,
    reason: /^quarantined: page 1 of the queue's snapshot cannot be read/
  },
  { what: "no pages of the snapshot", damage: "DELETE FROM pages", hasSnapshot: true, lost: [1, 2, 3] }
]

describe("SqliteJournal", () => {
  it.effect("fails all who wait while the file cannot be written, keeps its counts, and works afterwards", () =>
    Effect.gen(function* () {
      const path = join(yield* folder, "queue.db")
      yield* Effect.gen(function* () {
        const queue = yield* Queue
        yield* queue.admit([admission({ number: 1 })])
        const other = yield* foreign(path)
        other.exec("BEGIN IMMEDIATE")
        const errors = yield* Effect.forEach([2, 3], (number) => Effect.flip(queue.admit([admission({ number })])), {
          concurrency: "unbounded"
        })
        for (const error of errors) assert.strictEqual(error.reason, "unavailable")
        assert.include(errors[0]?.message, "Another process holds its lock")
        other.exec("ROLLBACK")
        assert.strictEqual((yield* queue.stats).byStatus.waiting, 1)
        yield* queue.admit([admission({ number: 2 })])
        assert.strictEqual((yield* queue.stats).byStatus.waiting, 2)
        assert.strictEqual((yield* queue.load("app")).length, 2)
      }).pipe(Effect.provide(inFile(path)))
    })
  )

  it.live("copies its log into the file in each pause after many admissions", () =>
    Effect.gen(function* () {
      const path = join(yield* folder, "queue.db")
      yield* Effect.gen(function* () {
        const queue = yield* Queue
        for (const rows of [1200, 2400]) {
          yield* queue.admit(Array.from({ length: 1200 }, (_, index) => admission({ number: rows - index })))
          assert.notStrictEqual(rowsWithoutLog(path), rows)
          yield* Effect.promise(() =>
            waitUntil(() => rowsWithoutLog(path) === rows, {
              describe: () => `the file has ${rowsWithoutLog(path)} rows`
            })
          )
        }
        yield* queue.admit([admission({ number: 2401 })])
        assert.strictEqual((yield* queue.load("app")).length, 2401)
      }).pipe(Effect.provide(inFile(path)))
    })
  )

  it.effect("an admission that cannot be written is not visible, and the file has what memory has", () =>
    Effect.gen(function* () {
      const path = join(yield* folder, "queue.db")
      const first = yield* Effect.gen(function* () {
        const queue = yield* Queue
        const [kept] = yield* queue.admit([admission({ number: 1 })])
        const other = yield* foreign(path)
        other.exec("BEGIN IMMEDIATE")
        const admitting = yield* Effect.forkChild(Effect.flip(queue.admit([admission({ number: 2 })])))
        yield* Effect.promise(() => new Promise(setImmediate))
        // A read waits for what is being written.
        const seen = yield* queue.loadSnapshot("app", 1000, 10)
        assert.include((yield* Fiber.join(admitting)).message, "Another process holds its lock")
        assert.deepStrictEqual(
          seen.eligible.map(({ id }) => id),
          [kept?.entryId]
        )
        other.exec("ROLLBACK")
        assert.deepInclude((yield* queue.stats).byStatus, { waiting: 1, ready: 0 })
        // Not a duplicate: the event of the admission that failed is not known.
        assert.strictEqual((yield* queue.admit([admission({ number: 2 })]))[0]?.status, "queued")
        assert.strictEqual((yield* queue.promote([kept?.entryId ?? ""], 1000)).length, 1)
        return yield* queue.load("app")
      }).pipe(Effect.provide(inFile(path)))
      const second = yield* Effect.provide(
        Effect.flatMap(Queue, (queue) => queue.load("app")),
        inFile(path)
      )
      assert.deepStrictEqual(second, first)
    })
  )

  it.effect("a file that was made read-only: names the next step, and has everything when it is writable again", () =>
    Effect.gen(function* () {
      const place = yield* folder
      const path = join(place, "queue.db")
      yield* Effect.provide(
        Effect.flatMap(Queue, (queue) => queue.admit([admission({ number: 1 })])),
        inFile(path)
      )
      const files = readdirSync(place).map((name) => join(place, name))
      const setWritable = (writable: boolean) => {
        for (const file of files) chmodSync(file, writable ? 0o666 : 0o444)
        chmodSync(place, writable ? 0o777 : 0o555)
      }
      setWritable(false)
      const refused = yield* asOrdinaryUser(Effect.flip(Effect.scoped(Layer.build(inFile(path)))))
      assert.strictEqual(refused.reason, "unavailable")
      assert.match(refused.message, /read-?only|writable/)
      setWritable(true)
      const found = Effect.flatMap(Queue, (queue) => queue.load("app"))
      assert.strictEqual((yield* Effect.provide(found, inFile(path))).length, 1)
    })
  )

  it.effect.each(damages)("$what: the file opens, the others are kept, and no operation fails", (row) =>
    Effect.gen(function* () {
      const { damage, hasSnapshot = false, lost = [], quarantined = 0, reason } = row
      const path = join(yield* folder, "queue.db")
      const ids = yield* Effect.gen(function* () {
        const queue = yield* Queue
        const admit = (number: number) => queue.admit([admission({ number, eventId: `event-${number}` })])
        const first = [yield* admit(1), yield* admit(2), yield* admit(3)].flat()
        if (hasSnapshot)
          yield* queue.admit(
            Array.from({ length: 20_000 }, (_, index) =>
              admission({ number: 10 + index, workspace: `many-${index % 7}` })
            )
          )
        if (hasSnapshot) {
          const db = yield* foreign(path)
          const count = db.prepare("SELECT count(*) AS n FROM messages")
          yield* Effect.promise(() =>
            waitUntil(() => count.get()?.["n"] === 0, { describe: () => `${count.get()?.["n"]} messages are left` })
          )
        }
        return first.map(({ entryId }) => entryId)
      }).pipe(Effect.provide(inFile(path)))
      const other = yield* foreign(path)
      other.prepare(damage).run(...(damage.includes("?") ? [ids[1] ?? ""] : []))
      yield* Effect.gen(function* () {
        const [queue, control] = [yield* Queue, yield* QueueControl]
        const { entries } = yield* control.list({ workspace: "app", limit: 100 })
        const waiting = entries.filter(({ status }) => status === "waiting").map(({ id }) => id)
        assert.sameMembers(
          waiting,
          ids.filter((_, index) => !lost.includes(index + 1))
        )
        const dead = (yield* control.list({ statuses: ["dead"], limit: 100 })).entries
        assert.lengthOf(dead, quarantined)
        for (const entry of dead)
          assert.match(entry.reason === undefined ? "" : inEnglish(entry.reason), reason ?? /^quarantined: /)
        assert.deepStrictEqual(yield* queue.promote(waiting, 100), waiting)
        for (const id of waiting) {
          const claimed = yield* queue.claim(id, "node/1", 100, 50)
          assert.isTrue(claimed !== undefined && (yield* queue.finish(claimed.lease, { _tag: "Done" })))
        }
        // Work that was lost is queued again from its records.
        const again = yield* queue.admit([1, 2, 3].map((number) => admission({ number, eventId: `event-${number}` })))
        for (const [index, { status }] of again.entries())
          assert.strictEqual(status, lost.includes(index + 1) && !row.isKnown ? "queued" : "duplicate")
      }).pipe(Effect.provide(inFile(path)))
      const { byStatus } = yield* Effect.provide(
        Effect.flatMap(Queue, (queue) => queue.stats),
        inFile(path)
      )
      assert.strictEqual(byStatus.done, 3 - lost.length)
    })
  )

  it.effect("an entry whose details are damaged or missing is dead when it is claimed, with this reason", () =>
    Effect.gen(function* () {
      const path = join(yield* folder, "queue.db")
      yield* Effect.gen(function* () {
        const queue = yield* Queue
        const admitted = yield* queue.admit([1, 2, 3].map((number) => admission({ number })))
        const [damaged = "", missing = "", sound = ""] = admitted.map(({ entryId }) => entryId)
        const other = yield* foreign(path)
        other.prepare("UPDATE details SET text = '[7]' WHERE entry = ?").run(damaged)
        other.prepare("DELETE FROM details WHERE entry = ?").run(missing)
        yield* queue.promote([damaged, missing, sound], 100)
        assert.isUndefined(yield* queue.claim(damaged, "node/1", 100, 50))
        assert.isUndefined(yield* queue.claim(missing, "node/1", 100, 50))
        assert.isDefined(yield* queue.claim(sound, "node/1", 100, 50))
        assert.deepInclude((yield* queue.stats).byStatus, { dead: 2, running: 1 })
        const found = yield* queue.get(missing)
        assert.deepStrictEqual(found?.reason, { _tag: "Quarantined", what: "its details", why: "they are missing" })
      }).pipe(Effect.provide(inFile(path)))
    })
  )

  it.live("a long journal becomes a snapshot, from which the queue opens", () =>
    Effect.gen(function* () {
      const path = join(yield* folder, "queue.db")
      const other = yield* foreign(path)
      const countOf = (table: string) => {
        try {
          return Number(other.prepare(`SELECT count(*) AS n FROM ${table}`).get()?.["n"])
        } catch {
          return -1
        }
      }
      const state = Effect.gen(function* () {
        const [queue, control] = [yield* Queue, yield* QueueControl]
        return [yield* queue.stats, yield* queue.load("w0"), yield* control.pauses]
      })
      const expected = yield* Effect.gen(function* () {
        const [queue, control] = [yield* Queue, yield* QueueControl]
        yield* control.pause({ scope: "node", name: "n", reason: verbatimReason("r"), since: 1 })
        const items = Array.from({ length: 25_000 }, (_, number) => admission({ number, workspace: `w${number % 7}` }))
        for (let at = 0; at < items.length; at += 1000) yield* queue.admit(items.slice(at, at + 1000))
        yield* Effect.promise(() =>
          waitUntil(() => countOf("messages") < 10 && countOf("snapshot") === 1, {
            describe: () => `${countOf("messages")} messages, ${countOf("pages")} pages`
          })
        )
        yield* queue.cancel(toTarget(7, "w0"), verbatimReason("closed"))
        return yield* state
      }).pipe(Effect.provide(inFile(path)))
      assert.isAtLeast(countOf("pages"), 10)
      assert.deepStrictEqual(yield* Effect.provide(state, inFile(path)), expected)
    })
  )

  it.live("a command reads the queue of a running service, and may not change it", () =>
    Effect.gen(function* () {
      const path = join(yield* folder, "queue.db")
      const reading = Layer.fresh(layerJournal(makeSqliteReader(path), manyEntries))
      yield* Effect.gen(function* () {
        const queue = yield* Queue
        yield* queue.admit([admission({ number: 1 })])
        const looking = Effect.flatMap(Queue, (other) =>
          Effect.all([other.load("app"), Effect.flip(other.cancel(toTarget(1), verbatimReason("x")))])
        )
        const [found, refused] = yield* Effect.provide(looking, reading)
        assert.deepStrictEqual(found, yield* queue.load("app"))
        assert.include(refused.message, "The running service holds the queue")
        yield* queue.admit([admission({ number: 2 })])
        const [two] = yield* Effect.provide(looking, reading)
        assert.lengthOf(two, 2)
      }).pipe(Effect.provide(inFile(path)))
    })
  )

  it.effect("one commit holds the end of a review and the start of the next one of its target", () =>
    Effect.gen(function* () {
      const path = join(yield* folder, "queue.db")
      yield* Effect.gen(function* () {
        const queue = yield* Queue
        const heads = { running: "a".repeat(40), next: "b".repeat(40) }
        const [first] = yield* queue.admit([admission({ head: heads.running })])
        yield* queue.promote([first?.entryId ?? ""], 100)
        const lease = (yield* queue.claim(first?.entryId ?? "", "node/1", 100, 1000))?.lease
        assert.isDefined(lease)
        const [next] = yield* queue.admit([admission({ head: heads.next })])
        const nextId = next?.entryId ?? ""
        const others = [11, 12, 13, 14].map((number) => queue.admit([admission({ number })]))
        const [, ended, released, claimed] = yield* Effect.all(
          [
            queue.admit([admission({ head: heads.next })]),
            queue.finish(lease, { _tag: "Done" }),
            queue.promote([nextId], 100),
            queue.claim(nextId, "node/1", 100, 1000),
            ...others
          ],
          { concurrency: "unbounded" }
        )
        assert.isTrue(ended)
        assert.deepStrictEqual(released, [nextId])
        assert.strictEqual(claimed?.entry.events.length, 2)
      }).pipe(Effect.provide(inFile(path)))
      const stats = yield* Effect.provide(
        Effect.flatMap(Queue, (queue) => queue.stats),
        inFile(path)
      )
      assert.deepInclude(stats.byStatus, { done: 1, running: 1, waiting: 4 })
    })
  )

  it.effect("lets in one process at a time, and refuses and keeps the file of another release", () =>
    Effect.gen(function* () {
      const path = join(yield* folder, "queue.db")
      const open = Effect.scoped(Layer.build(inFile(path)))
      yield* Effect.scoped(
        Effect.gen(function* () {
          yield* Layer.build(inFile(path))
          assert.include((yield* Effect.flip(open)).message, "Another aicr process uses the queue")
        })
      )
      yield* open
      const other = yield* foreign(path)
      for (const version of [7, 3]) {
        other.exec(`PRAGMA user_version = ${version}`)
        assert.include(
          (yield* Effect.flip(open)).message,
          `its version is ${version}, but this release knows version 1`
        )
        assert.deepEqual(other.prepare("PRAGMA user_version").get(), { user_version: version })
      }
    })
  )
})
