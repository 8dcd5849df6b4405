/** Tests files of earlier releases of the SQLite queue, which had a row per entry. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { LeaseToken } from "../../../src/domain/FencingToken.ts"
import type { Change } from "../../../src/domain/Change.ts"
import type { Entry } from "../../../src/domain/Entry.ts"
import { Queue } from "../../../src/queue/Queue.ts"
import { QueueControl } from "../../../src/queue/operator/QueueControl.ts"
import { layerJournal } from "../../../src/queue/journal/JournalQueue.ts"
import { makeSqliteJournal, makeSqliteReader } from "../../../src/queue/journal/SqliteJournal.ts"
import { admission, change, toTarget } from "../Admissions.ts"
import { folder, manyEntries } from "../Stores.ts"

/** The tables of version 3, and the additional ones of version 2. */
const version3 = `
  CREATE TABLE entries (
    id TEXT PRIMARY KEY, workspace TEXT NOT NULL, target_key TEXT NOT NULL, change TEXT NOT NULL, config_hash TEXT NOT NULL,
    priority INTEGER NOT NULL, status TEXT NOT NULL, events TEXT NOT NULL, admitted_at INTEGER NOT NULL, due_at INTEGER NOT NULL,
    attempts INTEGER NOT NULL, losses INTEGER NOT NULL, expires INTEGER NOT NULL, reason TEXT, token INTEGER NOT NULL,
    lease_until INTEGER, owner TEXT, cancel_requested TEXT
  ) WITHOUT ROWID;
  CREATE UNIQUE INDEX entries_running ON entries (target_key) WHERE status = 'running';
  CREATE INDEX entries_ended ON entries (admitted_at, id) WHERE status IN ('done', 'superseded', 'cancelled', 'expired', 'dead');
  CREATE TABLE pauses (
    scope TEXT NOT NULL, name TEXT NOT NULL, reason TEXT NOT NULL, since INTEGER NOT NULL, PRIMARY KEY (scope, name)
  ) WITHOUT ROWID;
  PRAGMA user_version = 3;`
const version2 = `${version3}
  CREATE TABLE entry_events (event TEXT PRIMARY KEY, entry TEXT NOT NULL) WITHOUT ROWID;
  CREATE UNIQUE INDEX entries_next ON entries (target_key) WHERE status IN ('waiting', 'ready');
  PRAGMA user_version = 2;`

/** The table of version 4, which stored the task of an entry as an object. */
const version4 = `
  CREATE TABLE entries (
    id TEXT PRIMARY KEY, workspace TEXT NOT NULL, target_key TEXT NOT NULL, opened TEXT NOT NULL, status TEXT, state TEXT,
    ended INTEGER
  ) WITHOUT ROWID;
  CREATE UNIQUE INDEX entries_running ON entries (target_key) WHERE status = 'running';
  CREATE INDEX entries_ended ON entries (ended, id) WHERE ended IS NOT NULL;
  CREATE TABLE pauses (
    scope TEXT NOT NULL, name TEXT NOT NULL, reason TEXT NOT NULL, since INTEGER NOT NULL, PRIMARY KEY (scope, name)
  ) WITHOUT ROWID;
  PRAGMA user_version = 4;`

const entry = (number: number, over: Partial<Entry>): Entry => ({
  id: `entry-${number}`,
  workspace: "app",
  targetKey: toTarget(number),
  change: change(number, "a".repeat(40)),
  configHash: "c0ffee",
  priority: 10,
  status: "waiting",
  events: [`event-${number}`],
  admittedAt: 100 + number,
  dueAt: 100 + number,
  attempts: 0,
  losses: 0,
  awaitsModel: false,
  expires: true,
  reason: undefined,
  token: LeaseToken.make(0),
  leaseUntil: undefined,
  owner: undefined,
  cancelRequested: undefined,
  ...over
})
const everything: Change = {
  ...change(2, "b".repeat(40)),
  host: "forge",
  repo: {
    fullName: "acme/app",
    cloneUrl: "https://git.example/acme/app.git",
    webUrl: "https://git.example/acme/app",
    hostId: 7
  },
  headRef: "feature",
  title: 'A "quoted" title\u001f, with a control character',
  description: "",
  author: { username: "ada", name: "Ada" },
  commits: 3,
  requestedBy: "grace"
}
const entries = [
  entry(1, {}),
  entry(2, { dueAt: 9000, expires: false, reason: "a delay", events: ["event-2", "event-2b"], change: everything }),
  entry(3, {
    status: "running",
    token: LeaseToken.make(4),
    leaseUntil: 5000,
    owner: "node/1",
    cancelRequested: "asked"
  }),
  entry(4, { status: "dead", token: LeaseToken.make(2), attempts: 2, losses: 1, reason: "it failed" })
]

type Values = ReadonlyArray<string | number | null>

const row3 = (e: Entry): Values => {
  const { id, workspace, targetKey, change: what, configHash, priority, status, events, ...rest } = e
  const { admittedAt, dueAt, attempts, losses, token, reason = null, leaseUntil = null, owner = null } = rest
  const [expires, cancelRequested] = [Number(e.expires), e.cancelRequested ?? null]
  const opened = [id, workspace, targetKey, JSON.stringify(what), configHash, priority, status, JSON.stringify(events)]
  const state = [admittedAt, dueAt, attempts, losses, expires, reason, token, leaseUntil, owner, cancelRequested]
  return [...opened, ...state]
}

/** An entry in its initial state had its state in `opened` and null in later columns. */
const row4 = ({ id, workspace, targetKey, status, ...rest }: Entry): Values => {
  const { change: _change, configHash: _configHash, events: _events, ...state } = rest
  const opened = [id, workspace, targetKey, JSON.stringify(rest)]
  if (status === "waiting") return [...opened, null, null, null]
  return [...opened, status, JSON.stringify(state), status === "running" ? null : state.admittedAt]
}

const write = (path: string, schema: string, row: (entry: Entry) => Values): void => {
  const db = new DatabaseSync(path)
  db.exec(schema)
  for (const values of entries.map(row)) {
    db.prepare(`INSERT INTO entries VALUES (${values.map(() => "?").join(", ")})`).run(...values)
  }
  db.exec("INSERT INTO pauses VALUES ('workspace', 'app', 'a test', 7)")
  db.close()
}

const inFile = (path: string) => Layer.fresh(layerJournal(makeSqliteJournal(path), manyEntries))

/** The file that the release before this one wrote, as statements, and what its queue returned. */
const release5 = (name: string): string => readFileSync(join(import.meta.dirname, `queue-version-5.${name}`), "utf8")

/** Executes statements on the file. */
const execute = (path: string, sql: string): void => {
  const db = new DatabaseSync(path)
  db.exec(sql)
  db.close()
}

const readAll = Effect.gen(function* () {
  const [queue, control] = [yield* Queue, yield* QueueControl]
  const { entries: found } = yield* control.list({ limit: 100 })
  return { entries: found, byStatus: (yield* queue.stats).byStatus, pauses: yield* control.pauses }
})

describe("files of earlier releases", () => {
  for (const [version, schema, row] of [
    [2, version2, row3],
    [3, version3, row3],
    [4, version4, row4]
  ] as const) {
    it.effect(`version ${version}: every entry and pause is as it was, also when the file is opened again`, () =>
      Effect.gen(function* () {
        const path = join(yield* folder, "queue.db")
        write(path, schema, row)
        const look = Effect.gen(function* () {
          const [queue, control] = [yield* Queue, yield* QueueControl]
          assert.deepStrictEqual((yield* control.list({ limit: 10 })).entries, entries)
          assert.deepInclude((yield* queue.stats).byStatus, { waiting: 2, running: 1, dead: 1 })
          assert.deepStrictEqual(yield* control.pauses, [
            { scope: "workspace", name: "app", reason: "a test", since: 7 }
          ])
          const known = yield* queue.admit([admission({ number: 4, eventId: "event-4" })])
          assert.deepInclude(known[0], { entryId: "entry-4", status: "duplicate" })
        }).pipe(Effect.provide(inFile(path)))
        yield* look
        yield* look
        const prune = Effect.flatMap(Queue, (queue) => queue.prune({ maxCount: 0, before: 0 }))
        const pruned = yield* Effect.provide(prune, inFile(path))
        assert.strictEqual(pruned, 1)
      })
    )
  }

  it.effect("version 5: all that the earlier release wrote is the same, and each event is a duplicate", () =>
    Effect.gen(function* () {
      const path = join(yield* folder, "queue.db")
      execute(path, release5("sql"))
      const expected: unknown = JSON.parse(release5("json"))
      for (let opened = 0; opened < 2; opened++) {
        const found = yield* Effect.provide(readAll, inFile(path))
        assert.deepStrictEqual(JSON.parse(JSON.stringify(found)), expected)
      }
      yield* Effect.gen(function* () {
        const queue = yield* Queue
        for (const { events, id } of (yield* (yield* QueueControl).list({ limit: 100 })).entries) {
          for (const eventId of events) {
            const [again] = yield* queue.admit([admission({ number: 99, eventId })])
            assert.deepInclude(again, { entryId: id, status: "duplicate" })
          }
        }
      }).pipe(Effect.provide(inFile(path)))
    })
  )

  it.effect.each([
    ["cut off", `substr(opened, 1, 20)`],
    ["of another form", `'[]'`],
    ["with another value as its events", `json_set(opened, '$[1]', 7)`],
    ["with texts for numbers", `json_set(opened, '$[2]', 'x', '$[3]', 'y', '$[4]', 'z', '$[5]', 'w')`],
    ["with another change", `json_set(opened, '$[7]', json('{}'))`]
  ])("version 5: a row %s is quarantined with the reason, and the others are kept", ([, damaged]) =>
    Effect.gen(function* () {
      const path = join(yield* folder, "queue.db")
      execute(path, `${release5("sql")}; UPDATE entries SET opened = ${damaged} WHERE target_key LIKE '%:9'`)
      const { byStatus, entries: found } = yield* Effect.provide(readAll, inFile(path))
      assert.deepInclude(byStatus, { waiting: 5, dead: 2 })
      const broken = found.find(({ targetKey }) => targetKey === toTarget(9))
      assert.deepInclude(broken, { status: "dead", workspace: "app" })
      assert.match(broken?.reason ?? "", /^quarantined: what the queue holds of it cannot be read/)
    })
  )

  it.effect("version 5: of two entries of one target that wait, the newer is kept", () =>
    Effect.gen(function* () {
      const path = join(yield* folder, "queue.db")
      const twins = "UPDATE entries SET target_key = 'twins' WHERE target_key LIKE '%:9' OR target_key LIKE '%:12'"
      execute(path, `${release5("sql")}; ${twins}`)
      const { entries: found } = yield* Effect.provide(readAll, inFile(path))
      assert.deepStrictEqual(
        found.flatMap(({ reason, status, targetKey }) => (targetKey === "twins" ? [[status, reason]] : [])),
        [
          ["dead", "quarantined: another entry of the same target waits"],
          ["waiting", undefined]
        ]
      )
    })
  )

  it.effect("a conversion that fails changes nothing, and a command that only reads requires it", () =>
    Effect.gen(function* () {
      const path = join(yield* folder, "queue.db")
      execute(path, `${release5("sql")}; UPDATE pauses SET since = 'never'`)
      const refused = yield* Effect.flip(Effect.scoped(Layer.build(inFile(path))))
      assert.strictEqual(refused.reason, "unavailable")
      const reading = yield* Effect.flip(Effect.scoped(makeSqliteReader(path)))
      assert.include(reading.message, "Start the service once, which converts it")
      execute(path, "UPDATE pauses SET since = 7")
      assert.deepInclude((yield* Effect.provide(readAll, inFile(path))).byStatus, { waiting: 6 })
    })
  )
})
