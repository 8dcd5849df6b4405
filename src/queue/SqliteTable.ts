/**
 * A table of entries in SQLite (its schema: SqliteSchema.ts). What is known by heart stays true because this process is the only
 * one that writes the file; when a transaction is rolled back, its changes to that are taken back too.
 */
import type { DatabaseSync } from "node:sqlite"
import { Schema } from "effect"
import { foldRepo } from "../domain/Change.ts"
import { EntryStatus } from "../domain/Entry.ts"
import type { Entry } from "../domain/Entry.ts"
import { EntryIndex, tracked } from "./EntryIndex.ts"
import type { Tracked } from "./EntryIndex.ts"
import { toEntry } from "./EntryRow.ts"
import type { EntryTable } from "./EntryTable.ts"
import type { ListFilter } from "./QueueControl.ts"

export interface SqliteTable extends EntryTable {
  readonly committed: () => void
  readonly rolledBack: () => void
}

interface Step {
  readonly from: Tracked | undefined
  readonly to: Tracked | undefined
}

export const make = (db: DatabaseSync): SqliteTable => {
  const byId = db.prepare("SELECT * FROM entries WHERE id = ?")
  const counted = db.prepare("SELECT status, count(*) AS n FROM entries GROUP BY status")
  const activeRows = db.prepare(`
    SELECT id, workspace, status, target_key, priority, CASE WHEN json_valid(change) THEN change ->> '$.repo.fullName' END AS repo,
      admitted_at, due_at, expires
    FROM entries WHERE status IN ('waiting', 'ready', 'running')`)
  const eventRows = db.prepare("SELECT id, events FROM entries")
  const insert = db.prepare(`
    INSERT INTO entries (id, workspace, target_key, config_hash, change, priority, status, events, admitted_at, due_at, attempts,
      losses, expires, reason, token)
    VALUES (?, ?, ?, ?, ?, ?, 'waiting', ?, ?, ?, 0, 0, ?, ?, 0)`)
  const update = db.prepare(`
    UPDATE entries SET change = ifnull(?, change), priority = ?, status = ?, events = ifnull(?, events), admitted_at = ?, due_at = ?, attempts = ?, losses = ?,
      expires = ?, reason = ?, token = ?, lease_until = ?, owner = ?, cancel_requested = ?
    WHERE id = ?`)
  const ended = "status IN ('done', 'superseded', 'cancelled', 'expired', 'dead')"
  const pruned = db.prepare(`
    DELETE FROM entries WHERE id IN (
      SELECT id FROM (
        SELECT admitted_at, id FROM entries WHERE ${ended} AND admitted_at < ?
        UNION
        SELECT * FROM (
          SELECT admitted_at, id FROM entries WHERE ${ended} ORDER BY admitted_at DESC, id DESC LIMIT -1 OFFSET ?))
      ORDER BY admitted_at, id LIMIT ?)
    RETURNING id, status, events`)
  const pauses = db.prepare("SELECT scope, name, reason, since FROM pauses")
  const isPaused = db.prepare("SELECT 1 FROM pauses WHERE scope = 'workspace' AND name = ?")
  const pause = db.prepare("INSERT OR REPLACE INTO pauses (scope, name, reason, since) VALUES (?, ?, ?, ?)")
  const resume = db.prepare("DELETE FROM pauses WHERE scope = ? AND name = ?")

  const get = (id: string | undefined) => (id === undefined ? undefined : one(byId.get(id)))
  const all = (ids: Iterable<string>) => Array.from(ids, get).filter((entry) => entry !== undefined)

  const index = new EntryIndex()
  for (const { status, n } of decodeCounts(counted.all())) index.counts[status] = n
  for (const row of activeRows.iterate()) {
    const entry = decodeActive(row)
    if (entry.status !== "running" && index.next(entry.targetKey) !== undefined) {
      throw new Error(`two entries of ${entry.targetKey} wait, which no release of the queue does`)
    }
    // They are counted already.
    index.counts[entry.status] -= 1
    index.apply(undefined, entry)
  }
  const ofEvent = new Map<string, string>()
  for (const row of eventRows.iterate()) {
    const { id, events } = decodeEvents(row)
    for (const event of events) ofEvent.set(event, id)
  }
  let uncommitted: Array<Step> = []
  let relinked: Array<readonly [event: string, before: string | undefined]> = []
  const setOwner = (event: string, entryId: string | undefined) => {
    relinked.push([event, ofEvent.get(event)])
    if (entryId === undefined) ofEvent.delete(event)
    else ofEvent.set(event, entryId)
  }
  const take = (from: Tracked | undefined, to: Tracked | undefined) => {
    index.apply(from, to)
    uncommitted.push({ from, to })
  }

  return {
    committed: () => {
      uncommitted = []
      relinked = []
    },
    rolledBack: () => {
      for (const { from, to } of uncommitted.toReversed())
        index.apply(to, from === undefined ? undefined : { ...from, past: false })
      for (const [event, before] of relinked.toReversed()) {
        if (before === undefined) ofEvent.delete(event)
        else ofEvent.set(event, before)
      }
      uncommitted = []
      relinked = []
    },
    get,
    place: (targetKey) => ({ next: get(index.next(targetKey)), running: get(index.running(targetKey)) }),
    entryOf: (eventId) => ofEvent.get(eventId),
    active: (workspace) => all(index.active(workspace)),
    survey: (workspace, now, places) => ({
      paused: isPaused.get(workspace) !== undefined,
      ...index.survey(workspace, now, places)
    }),
    workspaces: () => index.workspaces(),
    running: () => all(index.allRunning()),
    expiring: (admittedBefore) => all(index.expiring(admittedBefore)),
    oldestWaiting: () => index.oldestWaiting(),
    byStatus: () => ({ ...index.counts }),
    pending: (workspace) => index.pending(workspace),
    list: (filter) => {
      const entries = listed(db, filter).map(toEntry)
      const page = entries.slice(0, filter.limit)
      return { entries: page, next: entries.length > filter.limit ? page.at(-1)?.id : undefined }
    },
    pauses: () => decodePauses(pauses.all()),
    setPause: (scope, name, to) => {
      if (to === undefined) resume.run(scope, name)
      else pause.run(scope, name, to.reason, to.since)
    },

    insert: (entry) => {
      insert.run(
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
      )
      for (const event of entry.events) setOwner(event, entry.id)
      take(undefined, tracked(entry))
    },
    update: (entry, from) => {
      update.run(
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
      )
      take(tracked(from), tracked(entry))
    },
    link: setOwner,
    prune: ({ maxCount, before }, limit) => {
      const removed = decodePruned(pruned.all(before, maxCount, limit))
      for (const { id, status, events } of removed) {
        for (const event of events) if (ofEvent.get(event) === id) setOwner(event, undefined)
        take({ ...forgotten, status }, undefined)
      }
      return removed.length
    }
  }
}

const listed = (db: DatabaseSync, { workspace, targetKey, after, statuses, limit }: ListFilter) => {
  const conditions: Array<readonly [string, ReadonlyArray<string>]> = []
  if (workspace !== undefined) conditions.push(["workspace = ?", [workspace]])
  if (targetKey !== undefined) conditions.push(["target_key = ?", [targetKey]])
  if (after !== undefined) conditions.push(["id > ?", [after]])
  if (statuses !== undefined) conditions.push([`status IN (${statuses.map(() => "?").join(", ")})`, statuses])
  const where = ["1 = 1", ...conditions.map(([condition]) => condition)].join(" AND ")
  const values = conditions.flatMap(([, bound]) => bound)
  return db.prepare(`SELECT * FROM entries WHERE ${where} ORDER BY id LIMIT ?`).all(...values, limit + 1)
}

/** Of an entry that has ended only its status is known by heart. */
const forgotten = {
  id: "",
  workspace: "",
  targetKey: "",
  repo: "",
  priority: 0,
  admittedAt: 0,
  dueAt: 0,
  expires: false,
  past: false
}

const Events = Schema.fromJsonString(Schema.Array(Schema.String))
const decodeEvents = Schema.decodeUnknownSync(Schema.Struct({ id: Schema.String, events: Events }))
const decodeCounts = Schema.decodeUnknownSync(Schema.Array(Schema.Struct({ status: EntryStatus, n: Schema.Int })))
const decodePauses = Schema.decodeUnknownSync(
  Schema.Array(
    Schema.Struct({
      scope: Schema.Literals(["workspace", "node"]),
      name: Schema.String,
      reason: Schema.String,
      since: Schema.Int
    })
  )
)
const decodeActiveRow = Schema.decodeUnknownSync(
  Schema.Struct({
    id: Schema.String,
    workspace: Schema.String,
    status: Schema.Literals(["waiting", "ready", "running"]),
    target_key: Schema.String,
    // An entry that does not decode is refused when it is released, alone.
    repo: Schema.NullOr(Schema.String),
    priority: Schema.Int,
    admitted_at: Schema.Int,
    due_at: Schema.Int,
    expires: Schema.Literals([0, 1])
  })
)
const decodeActive = (row: unknown): Tracked => {
  const { target_key, admitted_at, due_at, expires, repo, ...rest } = decodeActiveRow(row)
  return {
    ...rest,
    repo: foldRepo(repo ?? ""),
    targetKey: target_key,
    admittedAt: admitted_at,
    dueAt: due_at,
    expires: expires === 1,
    past: false
  }
}
const decodePruned = Schema.decodeUnknownSync(
  Schema.Array(Schema.Struct({ id: Schema.String, status: EntryStatus, events: Events }))
)

const one = (row: unknown): Entry | undefined => (row === undefined ? undefined : toEntry(row))
