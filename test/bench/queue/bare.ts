/**
 * The ceiling of adds to a SQLite file: the same work in a table of two columns, 512 rows a transaction, synced; nothing is
 * looked up, joined or scheduled. `bare.ts FOLDER`.
 */
import { randomUUID } from "node:crypto"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { pageBytes, pragmas, prepare } from "../../../src/queue/journal/SqliteSchema.ts"
import { inBulk, nextChange, serve } from "./Contender.ts"

const [, , folder = ""] = process.argv
const db = new DatabaseSync(join(folder, "bare.db"))
db.exec(`PRAGMA page_size = ${pageBytes}; PRAGMA journal_mode = WAL; ${pragmas}`)
// The pragmas of the queue's file; its tables stay empty.
prepare(db)
db.exec("CREATE TABLE jobs (id INTEGER PRIMARY KEY, data TEXT NOT NULL)")
const insert = db.prepare("INSERT INTO jobs (data) VALUES (?)")

const make = () => ({ eventId: randomUUID(), change: nextChange(), configHash: "c".repeat(64) })
const adds = (all: ReadonlyArray<ReturnType<typeof make>>) =>
  inBulk(all, async (some) => {
    db.exec("BEGIN IMMEDIATE")
    for (const data of some) insert.run(JSON.stringify(data))
    db.exec("COMMIT")
  })

serve(make, { adds, bulk: adds, cycles: () => Promise.reject(new Error("it does nothing but add")) })
