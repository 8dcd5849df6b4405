/**
 * A table of entries in SQLite (its schema: SqliteSchema.ts). Counts and the schedule are kept in memory, since this process is
 * the only one that writes the file; when a transaction is rolled back its changes to them are taken back too.
 */
import type { DatabaseSync } from "node:sqlite"
import { Schema } from "effect"
import { foldRepo } from "../domain/Change.ts"
import { EntryStatus } from "../domain/Entry.ts"
import type { Entry } from "../domain/Entry.ts"
import { toEntry } from "./EntryRow.ts"
import { noEntries } from "./EntryTable.ts"
import type { EntryTable } from "./EntryTable.ts"
import { scheduled } from "./Plan.ts"
import type { Scheduled } from "./Plan.ts"
import type { ListFilter } from "./QueueControl.ts"
import { Schedule } from "./Schedule.ts"

const columns = `*, (SELECT json_group_array(event_id) FROM entry_events WHERE entry_id = entries.id) AS events`

export interface SqliteTable extends EntryTable {
  readonly committed: () => void
  readonly rolledBack: () => void
}

/** What counts and schedule know of an entry before and after a change; undefined: it is not there. */
interface Step {
  readonly from: Known | undefined
  readonly to: Known | undefined
}
interface Known {
  readonly id: string
  readonly workspace: string
  readonly status: EntryStatus
  readonly scheduled: Scheduled | undefined
}

const known = (entry: Entry): Known => {
  const { id, workspace, status } = entry
  return { id, workspace, status, scheduled: scheduled(entry) }
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
  const expiring = db.prepare(
    `SELECT ${columns} FROM entries WHERE status = 'waiting' AND admitted_at < ? AND expires = 1`
  )
  const oldestWaiting = db.prepare("SELECT min(admitted_at) AS oldest FROM entries WHERE status = 'waiting'")
  const counted = db.prepare("SELECT status, count(*) AS n FROM entries GROUP BY status")
  const activeRows = db.prepare(`
    SELECT id, workspace, status, target_key, change ->> '$.repo.fullName' AS repo, priority, admitted_at, due_at
    FROM entries WHERE status IN ('waiting', 'ready', 'running')`)
  const insert = db.prepare(`
    INSERT INTO entries (id, workspace, target_key, change, config_hash, priority, status, admitted_at, due_at, attempts,
      losses, expires, reason, token, lease_until, owner, cancel_requested)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`)
  const update = db.prepare(`
    UPDATE entries SET change = ?, priority = ?, status = ?, admitted_at = ?, due_at = ?, attempts = ?, losses = ?,
      expires = ?, reason = ?, token = ?, lease_until = ?, owner = ?, cancel_requested = ?
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

  const pauses = db.prepare("SELECT scope, name, reason, since FROM pauses")
  const isPaused = db.prepare("SELECT 1 FROM pauses WHERE scope = 'workspace' AND name = ?")
  const pause = db.prepare("INSERT OR REPLACE INTO pauses (scope, name, reason, since) VALUES (?, ?, ?, ?)")
  const resume = db.prepare("DELETE FROM pauses WHERE scope = ? AND name = ?")
  const listed = (filter: ListFilter) => {
    const conditions: Array<readonly [string, ReadonlyArray<string>]> = []
    if (filter.workspace !== undefined) conditions.push(["workspace = ?", [filter.workspace]])
    if (filter.targetKey !== undefined) conditions.push(["target_key = ?", [filter.targetKey]])
    if (filter.after !== undefined) conditions.push(["id > ?", [filter.after]])
    if (filter.statuses !== undefined)
      conditions.push([`status IN (${filter.statuses.map(() => "?").join(", ")})`, filter.statuses])
    const where = ["1 = 1", ...conditions.map(([condition]) => condition)].join(" AND ")
    const values = conditions.flatMap(([, bound]) => bound)
    return db
      .prepare(`SELECT ${columns} FROM entries WHERE ${where} ORDER BY id LIMIT ?`)
      .all(...values, filter.limit + 1)
  }

  const byStatus = { ...noEntries }
  const schedule = new Schedule()
  let uncommitted: Array<Step> = []

  const apply = ({ from, to }: Step) => {
    if (from !== undefined) byStatus[from.status] -= 1
    if (to !== undefined) byStatus[to.status] += 1
    if (to?.scheduled !== undefined) schedule.put(to.workspace, { ...to.scheduled })
    else if (from?.scheduled !== undefined) schedule.remove(from.workspace, from.id)
  }
  const take = (step: Step) => {
    apply(step)
    uncommitted.push(step)
  }
  for (const { status, n } of decodeCounts(counted.all())) byStatus[status] = n
  for (const row of activeRows.iterate()) {
    const { workspace, ...entry } = decodeActive(row)
    schedule.put(workspace, entry)
  }

  return {
    committed: () => {
      uncommitted = []
    },
    rolledBack: () => {
      for (const { from, to } of uncommitted.toReversed()) apply({ from: to, to: from })
      uncommitted = []
    },
    get: (entryId) => one(byId.get(entryId)),
    place: (targetKey) => ({ next: one(nextOf.get(targetKey)), running: one(runningOf.get(targetKey)) }),
    entryOf: (eventId) => decodeOwner(entryOf.get(eventId))?.entry_id,
    active: (workspace) => active.all(workspace).map(toEntry),
    survey: (workspace, now, places) => ({
      paused: isPaused.get(workspace) !== undefined,
      ...schedule.survey(workspace, now, places)
    }),
    workspaces: () => schedule.workspaces(),
    running: () => running.all().map(toEntry),
    expiring: (admittedBefore) => expiring.all(admittedBefore).map(toEntry),
    oldestWaiting: () => decodeOldest(oldestWaiting.get()).oldest ?? undefined,
    byStatus: () => ({ ...byStatus }),
    pending: (workspace) => (workspace === undefined ? byStatus.waiting + byStatus.ready : schedule.pending(workspace)),
    list: (filter) => {
      const entries = listed(filter).map(toEntry)
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
        JSON.stringify(entry.change),
        entry.configHash,
        entry.priority,
        entry.status,
        entry.admittedAt,
        entry.dueAt,
        entry.attempts,
        entry.losses,
        entry.expires ? 1 : 0,
        entry.reason ?? null,
        entry.token,
        entry.leaseUntil ?? null,
        entry.owner ?? null,
        entry.cancelRequested ?? null
      )
      for (const event of entry.events) link.run(event, entry.id)
      take({ from: undefined, to: known(entry) })
    },
    update: (entry, from) => {
      update.run(
        JSON.stringify(entry.change),
        entry.priority,
        entry.status,
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
      take({ from: known(from), to: known(entry) })
    },
    link: (eventId, entry) => {
      link.run(eventId, entry.id)
    },
    prune: ({ maxCount, before }, limit) => {
      const removed = decodePruned(pruned.all(before, maxCount, limit))
      for (const { id, workspace, status } of removed) {
        unlink.run(id)
        take({ from: { id, workspace, status, scheduled: undefined }, to: undefined })
      }
      return removed.length
    }
  }
}

const decodeOwner = Schema.decodeUnknownSync(Schema.UndefinedOr(Schema.Struct({ entry_id: Schema.String })))
const decodeOldest = Schema.decodeUnknownSync(Schema.Struct({ oldest: Schema.NullOr(Schema.Int) }))
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
    due_at: Schema.Int
  })
)
const decodeActive = (row: unknown): Scheduled & { readonly workspace: string } => {
  const { target_key, admitted_at, due_at, repo, ...rest } = decodeActiveRow(row)
  return { ...rest, targetKey: target_key, repo: foldRepo(repo ?? ""), admittedAt: admitted_at, dueAt: due_at }
}
const decodePruned = Schema.decodeUnknownSync(
  Schema.Array(Schema.Struct({ id: Schema.String, workspace: Schema.String, status: EntryStatus }))
)

const one = (row: unknown): Entry | undefined => (row === undefined ? undefined : toEntry(row))
