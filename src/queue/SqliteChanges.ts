/** Changes of rows in the queue's SQLite file: the statements, by name, and the values that go with them. */
import type { Entry } from "../domain/Entry.ts"
import type { Pause } from "./QueueControl.ts"

export const statements = {
  insert: `
    INSERT INTO entries (id, workspace, target_key, config_hash, change, priority, status, events, admitted_at, due_at, attempts,
      losses, expires, reason, token)
    VALUES (?, ?, ?, ?, ?, ?, 'waiting', ?, ?, ?, 0, 0, ?, ?, 0)`,
  update: `
    UPDATE entries SET change = ifnull(?, change), priority = ?, status = ?, events = ifnull(?, events), admitted_at = ?, due_at = ?,
      attempts = ?, losses = ?, expires = ?, reason = ?, token = ?, lease_until = ?, owner = ?, cancel_requested = ?
    WHERE id = ?`,
  remove: "DELETE FROM entries WHERE id = ?",
  pause: "INSERT OR REPLACE INTO pauses (scope, name, reason, since) VALUES (?, ?, ?, ?)",
  resume: "DELETE FROM pauses WHERE scope = ? AND name = ?"
} as const

/** The name of a statement, and its values. */
export type SqliteChange = readonly [
  statement: keyof typeof statements,
  ...values: ReadonlyArray<string | number | null>
]

/** A new entry, waiting and as it was opened (Transitions.ts). */
export const insert = (entry: Entry): SqliteChange => [
  "insert",
  entry.id,
  entry.workspace,
  entry.targetKey,
  entry.configHash,
  JSON.stringify(entry.change),
  entry.priority,
  JSON.stringify(entry.events),
  entry.admittedAt,
  entry.dueAt,
  entry.expires ? 1 : 0,
  entry.reason ?? null
]

export const update = (entry: Entry, from: Entry): SqliteChange => [
  "update",
  entry.change === from.change ? null : JSON.stringify(entry.change),
  entry.priority,
  entry.status,
  entry.events === from.events ? null : JSON.stringify(entry.events),
  entry.admittedAt,
  entry.dueAt,
  entry.attempts,
  entry.losses,
  entry.expires ? 1 : 0,
  entry.reason ?? null,
  entry.token,
  entry.leaseUntil ?? null,
  entry.owner ?? null,
  entry.cancelRequested ?? null,
  entry.id
]

export const remove = (entryId: string): SqliteChange => ["remove", entryId]

/** Undefined: not paused from now on. */
export const pause = (scope: Pause["scope"], name: string, to: Pause | undefined): SqliteChange =>
  to === undefined ? ["resume", scope, name] : ["pause", scope, name, to.reason, to.since]
