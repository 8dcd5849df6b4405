/** A backup, and what is around the file that it replaces. */
import { existsSync, readFileSync, statSync, writeFileSync, chmodSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { Effect } from "effect"
import { expect, it } from "vitest"
import { backUp, isUsable, restore } from "../../../src/database/sqlite/SqliteBackup.ts"
import { temporaryFolder } from "../../vcs/Repository.ts"

const makeRecords = (path: string): DatabaseSync => {
  const database = new DatabaseSync(path)
  database.exec("PRAGMA journal_mode = WAL; CREATE TABLE aicr_migrations (name TEXT); CREATE TABLE facts (name TEXT)")
  database.exec("INSERT INTO facts VALUES ('kept')")
  return database
}
const readFacts = (path: string): unknown => {
  const database = new DatabaseSync(path, { readOnly: true })
  try {
    return database.prepare("SELECT name FROM facts").all()
  } finally {
    database.close()
  }
}

it("contains what is committed but not yet in the file, as one file of its owner", async () => {
  const folder = temporaryFolder()
  const [path, to] = [join(folder, "aicr.db"), join(folder, "backup.db")]
  using database = makeRecords(path)
  expect(database.isOpen).toBe(true)
  await Effect.runPromise(backUp(path, to))
  expect(isUsable(to)).toBe(true)
  expect(readFacts(to)).toEqual([{ name: "kept" }])
  expect([statSync(to).mode & 0o777, existsSync(`${to}-wal`), existsSync(`${to}.part`)]).toEqual([0o600, false, false])
})

it("replaces a damaged database, keeps it under its new name, and removes the log that belonged to it", async () => {
  const folder = temporaryFolder()
  const [path, from, replaced] = ["aicr.db", "backup.db", "aicr.db.replaced-1"].map((name) => join(folder, name))
  if (path === undefined || from === undefined || replaced === undefined) throw new Error("three names")
  makeRecords(from).close()
  chmodSync(from, 0o644)
  writeFileSync(path, "damaged")
  for (const suffix of ["-wal", "-shm"]) writeFileSync(`${path}${suffix}`, "of the damaged one")
  await Effect.runPromise(restore(from, path, replaced))
  expect(readFileSync(replaced, "utf8")).toBe("damaged")
  expect([existsSync(`${path}-wal`), existsSync(`${path}-shm`)]).toEqual([false, false])
  expect(statSync(path).mode & 0o777).toBe(0o600)
  expect(readFacts(path)).toEqual([{ name: "kept" }])
  expect(isUsable(replaced)).toBe(false)
})
