/**
 * A table of entries in SQLite (its schema: SqliteSchema.ts). Counts are kept in memory, since this process is the only one
 * that writes the file; they are read again from the table when a transaction was rolled back.
 */
import type { DatabaseSync } from "node:sqlite"
import { Schema } from "effect"
import { EntryStatus, isTerminal } from "../domain/Entry.ts"
import type { Entry } from "../domain/Entry.ts"
import { toEntry } from "./EntryRow.ts"
import { noEntries } from "./EntryTable.ts"
import type { EntryTable } from "./EntryTable.ts"

const columns = `*, (SELECT json_group_array(event_id) FROM entry_events WHERE entry_id = entries.id) AS events`

export interface SqliteTable extends EntryTable {
  /** After a rollback: the counts may be wrong. */
  readonly distrust: () => void
  /** Before a transaction writes: reads the counts again if they may be wrong. */
  readonly refresh: () => void
}

export const make = (db: DatabaseSync): SqliteTable => {
  const byId = db.prepare(`SELECT ${columns} FROM entries WHERE id = ?`)
  const nextOf = db.prepare(`SELECT ${columns} FROM entries WHERE target_key = ? AND status IN ('waiting', 'ready')`)
  const runningOf = db.prepare(`SELECT ${columns} FROM entries WHERE target_key = ? AND status = 'running'`)
  const entryOf = db.prepare("SELECT entry_id FROM entry_events WHERE event_id = ?")
  const active = db.prepare(
    `SELECT ${columns} FROM entries WHERE workspace = ? AND status IN ('waiting', 'ready', 'running') ORDER BY seq`
  )
  const running = db.prepare(`SELECT ${columns} FROM entries WHERE status = 'running'`)
  const waitingBefore = db.prepare(`SELECT ${columns} FROM entries WHERE status = 'waiting' AND admitted_at < ?`)
  const oldestWaiting = db.prepare("SELECT min(admitted_at) AS oldest FROM entries WHERE status = 'waiting'")
  const counted = db.prepare("SELECT workspace, status, count(*) AS n FROM entries GROUP BY workspace, status")
  const insert = db.prepare(`
    INSERT INTO entries (id, workspace, target_key, change, config_hash, priority, status, admitted_at, due_at, attempts,
      reason, token, lease_until, owner)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`)
  const update = db.prepare(`
    UPDATE entries SET change = ?, priority = ?, status = ?, admitted_at = ?, due_at = ?, attempts = ?, reason = ?,
      token = ?, lease_until = ?, owner = ?
    WHERE id = ?`)
  const link = db.prepare(
    "INSERT INTO entry_events (event_id, entry_id) VALUES (?, ?) ON CONFLICT DO UPDATE SET entry_id = excluded.entry_id"
  )
  const ended = "status IN ('done', 'superseded', 'cancelled', 'expired', 'dead')"
  const pruned = db.prepare(`
    DELETE FROM entries WHERE seq IN (
      SELECT seq FROM (
        SELECT seq, admitted_at, id FROM entries WHERE ${ended} AND admitted_at < ?
        UNION
        SELECT * FROM (
          SELECT seq, admitted_at, id FROM entries WHERE ${ended} ORDER BY admitted_at DESC, id DESC LIMIT -1 OFFSET ?))
      ORDER BY admitted_at, id LIMIT ?)
    RETURNING id, workspace, status`)
  const unlink = db.prepare("DELETE FROM entry_events WHERE entry_id = ?")

  let byStatus = { ...noEntries }
  let pendingIn = new Map<string, number>()
  let activeIn = new Map<string, number>()

  const count = (workspace: string, status: EntryStatus, by: number) => {
    byStatus[status] += by
    if (!isTerminal(status)) addTo(activeIn, workspace, by)
    if (status === "waiting" || status === "ready") addTo(pendingIn, workspace, by)
  }
  let trusted = false
  const refresh = () => {
    if (trusted) return
    byStatus = { ...noEntries }
    pendingIn = new Map()
    activeIn = new Map()
    for (const { workspace, status, n } of decodeCounts(counted.all())) count(workspace, status, n)
    trusted = true
  }
  refresh()

  return {
    refresh,
    distrust: () => {
      trusted = false
    },
    get: (entryId) => one(byId.get(entryId)),
    place: (targetKey) => ({ next: one(nextOf.get(targetKey)), running: one(runningOf.get(targetKey)) }),
    entryOf: (eventId) => decodeOwner(entryOf.get(eventId))?.entry_id,
    active: (workspace) => active.all(workspace).map(toEntry),
    workspaces: () => {
      refresh()
      return [...activeIn.keys()]
    },
    running: () => running.all().map(toEntry),
    waitingBefore: (admittedAt) => waitingBefore.all(admittedAt).map(toEntry),
    oldestWaiting: () => decodeOldest(oldestWaiting.get()).oldest ?? undefined,
    byStatus: () => {
      refresh()
      return { ...byStatus }
    },
    pending: (workspace) =>
      workspace === undefined ? byStatus.waiting + byStatus.ready : (pendingIn.get(workspace) ?? 0),

    insert: (entry) => {
      insert.run(
        entry.id,
        entry.workspace,
        entry.targetKey,
        JSON.stringify(entry.change),
        entry.configHash,
        entry.priority,
        entry.status,
        entry.admittedAt,
        entry.dueAt,
        entry.attempts,
        entry.reason ?? null,
        entry.token,
        entry.leaseUntil ?? null,
        entry.owner ?? null
      )
      for (const event of entry.events) link.run(event, entry.id)
      count(entry.workspace, entry.status, 1)
    },
    update: (entry, from) => {
      update.run(
        JSON.stringify(entry.change),
        entry.priority,
        entry.status,
        entry.admittedAt,
        entry.dueAt,
        entry.attempts,
        entry.reason ?? null,
        entry.token,
        entry.leaseUntil ?? null,
        entry.owner ?? null,
        entry.id
      )
      count(from.workspace, from.status, -1)
      count(entry.workspace, entry.status, 1)
    },
    link: (eventId, entry) => {
      link.run(eventId, entry.id)
    },
    prune: ({ maxCount, before }, limit) => {
      const removed = decodePruned(pruned.all(before, maxCount, limit))
      for (const { id, workspace, status } of removed) {
        unlink.run(id)
        count(workspace, status, -1)
      }
      return removed.length
    }
  }
}

const decodeOwner = Schema.decodeUnknownSync(Schema.UndefinedOr(Schema.Struct({ entry_id: Schema.String })))
const decodeOldest = Schema.decodeUnknownSync(Schema.Struct({ oldest: Schema.NullOr(Schema.Int) }))
const decodeCounts = Schema.decodeUnknownSync(
  Schema.Array(Schema.Struct({ workspace: Schema.String, status: EntryStatus, n: Schema.Int }))
)
const decodePruned = Schema.decodeUnknownSync(
  Schema.Array(Schema.Struct({ id: Schema.String, workspace: Schema.String, status: EntryStatus }))
)

const addTo = (counts: Map<string, number>, workspace: string, by: number): void => {
  const count = (counts.get(workspace) ?? 0) + by
  if (count === 0) counts.delete(workspace)
  else counts.set(workspace, count)
}

const one = (row: unknown): Entry | undefined => (row === undefined ? undefined : toEntry(row))
