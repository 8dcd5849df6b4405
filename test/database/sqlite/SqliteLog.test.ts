/** Durability of commits whose sync does not block the thread: what is acknowledged, read or lost when a sync is delayed or fails. */
import { spawnSync } from "node:child_process"
import {
  closeSync,
  copyFileSync,
  existsSync,
  fdatasync,
  fdatasyncSync,
  fstatSync,
  openSync,
  symlinkSync
} from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Layer, Scope } from "effect"
import { SqlClient } from "effect/sql"
import * as fc from "fast-check"
import * as SqliteClient from "../../../src/database/sqlite/SqliteClient.ts"
import { openLog } from "../../../src/database/sqlite/SqliteLog.ts"
import type { FileSync } from "../../../src/database/sqlite/SqliteLog.ts"
import { DeliveryKey } from "../../../src/domain/Keys.ts"
import { Receipts } from "../../../src/store/Receipts.ts"
import * as Store from "../../../src/store/StoreLayer.ts"
import { event } from "../../store/Fixtures.ts"
import { folder } from "../../store/Folder.ts"

type Sql = SqlClient.SqlClient

const insert = (sql: Sql, n: number) => sql`INSERT INTO t VALUES (${n})`
const readAll = (sql: Sql) =>
  Effect.map(sql<{ n: number }>`SELECT n FROM t ORDER BY n`, (rows) => rows.map(({ n }) => n))

/** Syncs that wait until the test ends them. */
class HeldSyncs implements FileSync {
  held = false
  count = 0
  readonly waiting: Array<(error: Error | null) => void> = []
  readonly descriptors: Array<number> = []
  #started: (() => void) | undefined

  readonly inPool: FileSync["inPool"] = (descriptor, done) => {
    this.count += 1
    this.descriptors.push(descriptor)
    if (!this.held) return fdatasync(descriptor, done)
    this.waiting.push(done)
    this.#started?.()
  }

  onThreadCount = 0
  onThreadError: Error | undefined
  readonly onThread = (descriptor: number): void => {
    this.onThreadCount += 1
    if (this.onThreadError !== undefined) throw this.onThreadError
    fdatasyncSync(descriptor)
  }

  readonly started = Effect.callback<void>((resume) => {
    if (this.waiting.length > 0) resume(Effect.void)
    else this.#started = () => resume(Effect.void)
  })

  end(error: Error | null = null): void {
    this.waiting.shift()?.(error)
  }

  /** A client does not close while one of its syncs runs. */
  endAll(): void {
    this.held = false
    for (const done of this.waiting.splice(0)) done(null)
  }
}

/** A client with a table `t`, whose syncs wait from then on. */
const heldClient = Effect.gen(function* () {
  const path = join(yield* folder, "records.db")
  const syncs = new HeldSyncs()
  const scope = yield* Effect.acquireRelease(Scope.make(), (made, exit) => {
    syncs.endAll()
    return Scope.close(made, exit)
  })
  const context = yield* Layer.buildWithScope(SqliteClient.layer({ path, files: syncs }), scope)
  const sql = yield* Effect.provide(SqlClient.SqlClient, context)
  yield* sql`CREATE TABLE t (n INTEGER)`
  syncs.held = true
  syncs.count = 0
  return { path, sql, syncs, close: Scope.close(scope, Exit.void) }
})

const isDone = <A, E>(fiber: Fiber.Fiber<A, E>): boolean => fiber.pollUnsafe() !== undefined
const turn = Effect.promise(() => new Promise<void>((resolve) => setImmediate(resolve)))
/** Lets every fiber run that can. */
const settle = Effect.repeat(turn, { times: 5 })
const diskError = Object.assign(new Error("EIO: i/o error, fdatasync"), { code: "EIO" })

describe("order of sync and result", () => {
  it.effect("resumes the caller of a statement, and readers of its row, after its sync", () =>
    Effect.gen(function* () {
      const { sql, syncs } = yield* heldClient
      const writer = yield* Effect.forkChild(insert(sql, 1))
      yield* syncs.started
      const reader = yield* Effect.forkChild(readAll(sql))
      yield* settle
      assert.deepStrictEqual([isDone(writer), isDone(reader)], [false, false])
      syncs.end()
      yield* Fiber.join(writer)
      assert.deepStrictEqual(yield* Fiber.join(reader), [1])
    }).pipe(Effect.scoped)
  )

  it.effect("syncs a transaction with savepoints once, at its commit", () =>
    Effect.gen(function* () {
      const { sql, syncs } = yield* heldClient
      const inner = sql.withTransaction(Effect.andThen(insert(sql, 2), insert(sql, 3)))
      const writer = yield* Effect.forkChild(sql.withTransaction(Effect.andThen(insert(sql, 1), inner)))
      yield* syncs.started
      const reader = yield* Effect.forkChild(readAll(sql))
      yield* settle
      assert.deepStrictEqual([isDone(writer), isDone(reader), syncs.count], [false, false, 1])
      syncs.end()
      yield* Fiber.join(writer)
      assert.deepStrictEqual(yield* Fiber.join(reader), [1, 2, 3])
      assert.strictEqual(syncs.count, 1)
    }).pipe(Effect.scoped)
  )

  it.effect("syncs nothing for reads, rolled back transactions and transactions without changes", () =>
    Effect.gen(function* () {
      const { sql, syncs } = yield* heldClient
      yield* readAll(sql)
      yield* sql.withTransaction(readAll(sql))
      yield* sql`UPDATE t SET n = 2 WHERE n = 7`
      yield* sql.withTransaction(sql`DELETE FROM t`)
      yield* Effect.flip(sql.withTransaction(Effect.andThen(insert(sql, 1), Effect.fail("no"))))
      assert.deepStrictEqual(yield* readAll(sql), [])
      assert.strictEqual(syncs.count, 0)
    }).pipe(Effect.scoped)
  )

  it.effect("keeps readers waiting for the sync of a writer that was interrupted", () =>
    Effect.gen(function* () {
      const { sql, syncs } = yield* heldClient
      const writer = yield* Effect.forkChild(insert(sql, 1))
      yield* syncs.started
      const interruption = yield* Effect.forkChild(Fiber.interrupt(writer))
      const reader = yield* Effect.forkChild(readAll(sql))
      yield* settle
      assert.deepStrictEqual([isDone(interruption), isDone(reader)], [false, false])
      syncs.end()
      yield* Fiber.join(interruption)
      assert.deepStrictEqual(yield* Fiber.join(reader), [1])
    }).pipe(Effect.scoped)
  )

  it.effect("syncs a statement that committed although its result cannot be read", () =>
    Effect.gen(function* () {
      const { sql, syncs } = yield* heldClient
      const writer = yield* Effect.forkChild(sql`INSERT INTO t VALUES (9007199254740993) RETURNING n`)
      yield* syncs.started
      syncs.end()
      assert.isTrue(Exit.isFailure(yield* Fiber.await(writer)))
      assert.strictEqual(syncs.count, 1)
    }).pipe(Effect.scoped)
  )
})

describe("a sync on the thread", () => {
  it.effect("has ended when its caller continues, and is the only one of its commit", () =>
    Effect.gen(function* () {
      const { sql, syncs } = yield* heldClient
      yield* Effect.provideService(insert(sql, 1), SqliteClient.SyncOnThread, true)
      yield* Effect.provideService(sql.withTransaction(insert(sql, 2)), SqliteClient.SyncOnThread, true)
      assert.deepStrictEqual([syncs.onThreadCount, syncs.count], [2, 0])
    }).pipe(Effect.scoped)
  )

  it.effect("that fails is a failed sync", () =>
    Effect.gen(function* () {
      const { sql, syncs } = yield* heldClient
      syncs.onThreadError = diskError
      const error = yield* Effect.flip(Effect.provideService(insert(sql, 1), SqliteClient.SyncOnThread, true))
      assert.include(error.message, "EIO: i/o error, fdatasync")
      assert.strictEqual((yield* Effect.flip(readAll(sql))).message, error.message)
    }).pipe(Effect.scoped)
  )

  it.effect.each<readonly [deliveries: number, onThread: number]>([
    [7, 0],
    [8, 1]
  ])("is made for a commit of %i deliveries: %i", ([deliveries, onThread]) =>
    Effect.gen(function* () {
      const syncs = new HeldSyncs()
      const client = SqliteClient.layer({ path: join(yield* folder, "records.db"), files: syncs })
      const records = Array.from({ length: deliveries }, (_, n) =>
        event({ deliveryKey: DeliveryKey.make(`gitea:${n}`) })
      )
      yield* Effect.provide(
        Effect.flatMap(Receipts, (receipts) => {
          syncs.onThreadCount = syncs.count = 0
          return receipts.storeAll(records)
        }),
        Layer.provide(Store.layer("auto"), client)
      )
      assert.deepStrictEqual([syncs.onThreadCount, syncs.count], [onThread, 1 - onThread])
    }).pipe(Effect.scoped)
  )
})

describe("a failed sync", () => {
  it.effect("fails its commit and every later statement, names the next step, and a restart reads the file", () =>
    Effect.gen(function* () {
      const { close, path, sql, syncs } = yield* heldClient
      const writer = yield* Effect.forkChild(Effect.flip(sql.withTransaction(insert(sql, 1))))
      yield* syncs.started
      const reader = yield* Effect.forkChild(Effect.flip(readAll(sql)))
      syncs.end(diskError)
      const expected =
        `SQLite file ${path}: a commit could not be synced to disk (EIO: i/o error, fdatasync); statements are refused until ` +
        "the process is restarted. The disk reported an error; check the disk and the file system"
      for (const error of [yield* Fiber.join(writer), yield* Fiber.join(reader)])
        assert.strictEqual(error.message, expected)
      syncs.held = false
      for (const later of [insert(sql, 2), Effect.map(readAll(sql), () => []), sql.withTransaction(insert(sql, 3))])
        assert.strictEqual((yield* Effect.flip(later)).message, expected)
      assert.strictEqual(syncs.count, 1)
      yield* close
      const again = yield* Layer.build(SqliteClient.layer({ path }))
      const rows = yield* Effect.flatMap(SqlClient.SqlClient, readAll).pipe(Effect.provide(again))
      assert.notInclude(rows, 2)
      assert.notInclude(rows, 3)
    }).pipe(Effect.scoped)
  )

  it.effect("of a full disk is reported as one", () =>
    Effect.gen(function* () {
      const { sql, syncs } = yield* heldClient
      const writer = yield* Effect.forkChild(Effect.flip(insert(sql, 1)))
      yield* syncs.started
      syncs.end(Object.assign(new Error("ENOSPC: no space left on device, fdatasync"), { code: "ENOSPC" }))
      assert.include((yield* Fiber.join(writer)).message, "The disk is full; free some space")
    }).pipe(Effect.scoped)
  )
})

describe("the file", () => {
  it.effect("stays open until a running sync has ended", () =>
    Effect.gen(function* () {
      const { close, sql, syncs } = yield* heldClient
      yield* Effect.forkChild(insert(sql, 1))
      yield* syncs.started
      const closing = yield* Effect.forkChild(close)
      yield* settle
      const [descriptor = -1] = syncs.descriptors
      assert.isFalse(isDone(closing))
      assert.isTrue(fstatSync(descriptor).isFile())
      syncs.end()
      yield* Fiber.join(closing)
      assert.throws(() => fstatSync(descriptor), /EBADF/)
    }).pipe(Effect.scoped)
  )

  it.effect("is closed once, and a later sync fails", () =>
    Effect.gen(function* () {
      const path = join(yield* folder, "records.db")
      const db = new DatabaseSync(path)
      db.exec("PRAGMA journal_mode = WAL; CREATE TABLE t (n INTEGER)")
      const syncs = new HeldSyncs()
      const scope = yield* Scope.make()
      const log = yield* Scope.provide(openLog(db, path, syncs), scope)
      yield* Scope.close(scope, Exit.void)
      const failure = yield* Effect.flip(log.sync)
      assert.include(failure.message, "the database is being closed")
      assert.strictEqual(syncs.count, 0)
      db.close()
    }).pipe(Effect.scoped)
  )

  it.effect("is that of SQLite, also after checkpoints and through a symbolic link", () =>
    Effect.gen(function* () {
      const place = yield* folder
      const [path, link] = [join(place, "records.db"), join(place, "link.db")]
      new DatabaseSync(path).close()
      symlinkSync(path, link)
      const syncs = new HeldSyncs()
      const context = yield* Layer.build(SqliteClient.layer({ path: link, files: syncs }))
      const sql = yield* Effect.provide(SqlClient.SqlClient, context)
      yield* sql`CREATE TABLE t (n INTEGER)`
      yield* sql`PRAGMA wal_checkpoint(TRUNCATE)`
      yield* insert(sql, 1)
      const log = openSync(`${path}-wal`, "r")
      const [opened, used] = [fstatSync(log), fstatSync(syncs.descriptors.at(-1) ?? -1)]
      closeSync(log)
      assert.strictEqual(used.ino, opened.ino)
      assert.isAbove(used.size, 0)
      assert.isFalse(existsSync(`${link}-wal`))
      // NORMAL: SQLite leaves the sync of commits to this client.
      assert.deepStrictEqual(yield* sql`PRAGMA synchronous`.values, [[1]])
    }).pipe(Effect.scoped)
  )

  it.effect("can be closed without releasing the locks of SQLite", () =>
    Effect.gen(function* () {
      const { path, sql, syncs } = yield* heldClient
      syncs.held = false
      const write = `
        const db = new (require("node:sqlite").DatabaseSync)(${JSON.stringify(path)}, { timeout: 0 })
        try { db.exec("BEGIN IMMEDIATE; ROLLBACK"); console.log("free") } catch (cause) { console.log(cause.errcode) }`
      const writeElsewhere = Effect.sync(() =>
        spawnSync(process.execPath, ["--disable-warning=ExperimentalWarning", "-e", write], {
          encoding: "utf8"
        }).stdout.trim()
      )
      const whileHeld = yield* sql.withTransaction(
        Effect.gen(function* () {
          yield* insert(sql, 1)
          closeSync(openSync(`${path}-wal`, "r+"))
          return yield* writeElsewhere
        })
      )
      assert.deepStrictEqual([whileHeld, yield* writeElsewhere], ["5", "free"])
      assert.isTrue(existsSync(`${path}-wal`), "the other process is not the last one")
    }).pipe(Effect.scoped)
  )

  it.effect("is not needed by a database in memory, or one without a write-ahead log, which SQLite syncs", () =>
    Effect.gen(function* () {
      const path = join(yield* folder, "records.db")
      for (const location of [":memory:", path]) {
        const db = new DatabaseSync(location)
        yield* openLog(db, location, { inPool: () => assert.fail("no sync"), onThread: () => assert.fail("no sync") })
        assert.strictEqual(db.prepare("PRAGMA synchronous").get()?.["synchronous"], 2)
        db.close()
      }
    }).pipe(Effect.scoped)
  )
})

/** Keeps what a power failure leaves: the files as they were when the last finished sync began. */
class Disk implements FileSync {
  image = ""
  #count = 0
  readonly #path: string
  readonly #delays: Iterator<number>

  constructor(path: string, delays: Iterator<number>) {
    this.#path = path
    this.#delays = delays
  }

  #copy(): string {
    const image = `${this.#path}.${++this.#count}`
    for (const suffix of ["", "-wal"]) copyFileSync(`${this.#path}${suffix}`, `${image}${suffix}`)
    return image
  }

  readonly onThread = (): void => {
    this.image = this.#copy()
  }

  readonly inPool: FileSync["inPool"] = (_, done) => {
    const image = this.#copy()
    const wait = (turns: number): void => {
      if (turns > 0) return void setImmediate(wait, turns - 1)
      this.image = image
      done(null)
    }
    wait(this.#delays.next().value ?? 0)
  }

  /** Returns the numbers that a process would read after the power failure. */
  read(): ReadonlySet<number> {
    // Recovery would change the image.
    for (const suffix of ["", "-wal"]) copyFileSync(`${this.image}${suffix}`, `${this.#path}.read${suffix}`)
    const db = new DatabaseSync(`${this.#path}.read`)
    try {
      return new Set(
        db
          .prepare("SELECT n FROM t")
          .all()
          .map((row) => Number(row["n"]))
      )
    } finally {
      db.close()
    }
  }
}

const executeSteps = Effect.fnUntraced(function* (
  steps: ReadonlyArray<{ readonly kind: string; readonly start: number }>,
  delays: ReadonlyArray<number>
) {
  const path = join(yield* folder, "records.db")
  const disk = new Disk(path, delays.values())
  const context = yield* Layer.build(SqliteClient.layer({ path, files: disk }))
  const sql = yield* Effect.provide(SqlClient.SqlClient, context)
  yield* sql`CREATE TABLE t (n INTEGER)`
  const verify = (numbers: ReadonlyArray<number>) =>
    Effect.sync(() => {
      const durable = disk.read()
      const lost = numbers.filter((n) => !durable.has(n))
      assert.deepStrictEqual(lost, [])
    })
  const execute = (kind: string, n: number) => {
    const both = Effect.andThen(insert(sql, n), sql.withTransaction(insert(sql, n + 1)))
    switch (kind) {
      case "insert":
        return Effect.andThen(insert(sql, n), verify([n]))
      case "on the thread":
        return Effect.andThen(Effect.provideService(insert(sql, n), SqliteClient.SyncOnThread, true), verify([n]))
      case "transaction":
        return Effect.andThen(sql.withTransaction(both), verify([n, n + 1]))
      case "rollback":
        return Effect.ignore(sql.withTransaction(Effect.andThen(both, Effect.fail("no"))))
      case "interrupted":
        return Effect.flatMap(Effect.forkChild(both), (fiber) => Effect.andThen(turn, Fiber.interrupt(fiber)))
      default:
        return Effect.flatMap(readAll(sql), verify)
    }
  }
  const started = steps.map(({ kind, start }, at) =>
    Effect.andThen(Effect.repeat(turn, { times: start }), execute(kind, at * 10))
  )
  yield* Effect.all(started, { concurrency: "unbounded", discard: true })
}, Effect.scoped)

it("loses nothing that was acknowledged or read, whenever the power fails", async () => {
  const step = fc.record({
    kind: fc.constantFrom("insert", "on the thread", "transaction", "rollback", "read", "interrupted"),
    /** Turns of the event loop before it begins. */
    start: fc.nat(6)
  })
  const steps = fc.array(step, { minLength: 2, maxLength: 12 })
  const delays = fc.array(fc.nat(5), { minLength: 24, maxLength: 24 })
  let executed = 0
  const property = fc.asyncProperty(steps, delays, async (all, turns) => {
    await Effect.runPromise(executeSteps(all, turns))
    executed += 1
  })
  await fc.assert(property, { numRuns: 20 })
  assert.strictEqual(executed, 20)
})
