/**
 * Outlines of the files of one repository, by the ids of their contents, in a SQLite file in its mirror: a second review parses only what
 * changed. Names and positions, no lines. The parsing thread of each process reads and writes it; SQLite lets one write at a time, and the
 * others skip what they would write. It may be lost at any time: a damaged or unexpected file is removed and filled again, and where it
 * cannot be used, files are parsed. The oldest outlines are removed when the file reaches its limit. JavaScript, as `SyntaxWorker.js` is.
 *
 * @typedef {import("./Definition.ts").Outline} Outline
 * @typedef {{ readonly get: (key: string) => Outline | undefined, readonly put: (key: string, outline: Outline) => void, readonly close: () => void }} OutlineIndex
 */
import { lstatSync, rmSync } from "node:fs"
import { DatabaseSync } from "node:sqlite"
import { deflateRawSync, inflateRawSync } from "node:zlib"

/** Bytes of the file of one repository, about 50,000 source files of 15 KB. */
const maxIndexBytes = 64 * 1_048_576
/** Bytes of a decoded outline. A larger one is not kept. */
const maxOutlineBytes = 4 * 1_048_576
/** Share of the outlines that is removed at the limit. */
const removedShare = 0.25
const application = 0x61696f6c
/** Waiting for another process that writes. */
const busyMillis = 50

/** Results of SQLite after which the file is of no use: damaged, and not a database. */
const damaged = new Set([11, 26])

/** The file is damaged, or was not written by this release. */
class Unusable extends Error {}

/** @type {(outline: Outline) => Uint8Array | undefined} */
const encode = ({ definitions, prose, uses }) => {
  const json = JSON.stringify([definitions, [...uses], prose])
  return json.length > maxOutlineBytes ? undefined : deflateRawSync(json, { level: 3 })
}

/** @type {(bytes: unknown) => Outline} */
const decode = (bytes) => {
  try {
    const json = inflateRawSync(bytes, { maxOutputLength: 4 * maxOutlineBytes }).toString()
    const [definitions, uses, prose] = JSON.parse(json)
    if (!Array.isArray(definitions)) throw new Unusable("an outline is damaged")
    return { definitions, uses: new Map(uses), prose }
  } catch (cause) {
    throw new Unusable("an outline is damaged", { cause })
  }
}

/** @type {(path: string) => void} */
const removeIndex = (path) => {
  for (const suffix of ["", "-wal", "-shm", "-journal"]) rmSync(path + suffix, { recursive: true, force: true })
}

/** @type {(db: DatabaseSync, version: string) => void} */
const prepare = (db, version) => {
  db.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA journal_size_limit = 1048576")
  const owner = db.prepare("PRAGMA application_id").get()?.["application_id"]
  if (owner === 0 && db.prepare("SELECT name FROM sqlite_schema").get() === undefined) {
    db.exec(`
      BEGIN IMMEDIATE;
      CREATE TABLE IF NOT EXISTS release (version TEXT PRIMARY KEY);
      CREATE TABLE IF NOT EXISTS outlines (id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, outline BLOB NOT NULL);
      INSERT OR IGNORE INTO release VALUES ('${version.replaceAll("'", "")}');
      PRAGMA application_id = ${application};
      COMMIT;
    `)
  } else if (owner !== application) throw new Unusable("not an index of outlines")
  if (db.prepare("SELECT version FROM release").get()?.["version"] !== version) throw new Unusable("another release")
}

/** @type {(path: string, version: string) => DatabaseSync} */
const openFile = (path, version) => {
  const file = lstatSync(path, { throwIfNoEntry: false })
  if (file !== undefined && !file.isFile()) throw new Unusable("not a file")
  const db = new DatabaseSync(path, { timeout: busyMillis })
  try {
    prepare(db, version)
    return db
  } catch (cause) {
    db.close()
    throw cause
  }
}

/** @type {(cause: unknown) => boolean} */
const isUnusable = (cause) =>
  cause instanceof Unusable ||
  (cause instanceof Error && "errcode" in cause && damaged.has(Number(cause.errcode) & 255))

/**
 * Opens the index at a path whose folder exists. `version`: outlines of another one are removed.
 *
 * @type {(path: string, version: string, maxBytes?: number) => OutlineIndex}
 */
export const openOutlineIndex = (path, version, maxBytes = maxIndexBytes) => {
  /** @type {{ readonly db: DatabaseSync, readonly inode: number } | undefined} */
  let open

  const close = () => {
    try {
      open?.db.close()
    } finally {
      open = undefined
    }
  }
  const inodeNow = () => lstatSync(path, { throwIfNoEntry: false })?.ino
  /** The file may have been removed with its mirror, or by another process. */
  const database = () => {
    if (open !== undefined && open.inode !== inodeNow()) close()
    open ??= { db: openFile(path, version), inode: inodeNow() ?? -1 }
    return open.db
  }
  /** @type {<A>(use: (db: DatabaseSync) => A) => A | undefined} */
  const attempt = (use) => {
    try {
      return use(database())
    } catch (cause) {
      try {
        close()
        if (isUnusable(cause)) removeIndex(path)
      } catch {
        // The file remains, and files are parsed.
      }
      return undefined
    }
  }
  /** @type {(db: DatabaseSync) => void} */
  const removeOldest = (db) => {
    const pragma = (/** @type {string} */ name) => Number(db.prepare(`PRAGMA ${name}`).get()?.[name])
    if ((pragma("page_count") - pragma("freelist_count")) * pragma("page_size") < maxBytes) return
    const last =
      "SELECT id FROM outlines ORDER BY id LIMIT 1 OFFSET (SELECT CAST(count(*) * ? AS INTEGER) FROM outlines)"
    db.prepare(`DELETE FROM outlines WHERE id <= (${last})`).run(removedShare)
  }
  return {
    get: (key) =>
      attempt((db) => {
        const row = db.prepare("SELECT outline FROM outlines WHERE key = ?").get(key)
        return row === undefined ? undefined : decode(row["outline"])
      }),
    put: (key, outline) => {
      attempt((db) => {
        const bytes = encode(outline)
        if (bytes === undefined || bytes.length > maxBytes / 8) return
        removeOldest(db)
        db.prepare("INSERT OR REPLACE INTO outlines (key, outline) VALUES (?, ?)").run(key, bytes)
      })
    },
    close
  }
}
