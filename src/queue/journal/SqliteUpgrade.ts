/**
 * Converts the tables of earlier releases, which had one row per entry (EarlierRow.ts), to a snapshot of the journal, in one transaction.
 * Entries whose rows cannot be read are quarantined with the reason.
 */
import type { DatabaseSync } from "node:sqlite"
import type { Entry } from "../../domain/Entry.ts"
import { toRow } from "../core/ChangeRow.ts"
import { isQuarantined } from "../core/Quarantined.ts"
import { fromEntry, Origins } from "../core/ReplicaRow.ts"
import { toText } from "../core/RowText.ts"
import type { RowChange } from "../core/RowText.ts"
import { toEntry, toPause } from "./EarlierRow.ts"
import { newMessageId } from "./Journal.ts"

const entries = `
  CREATE TABLE entries (
    id TEXT PRIMARY KEY, workspace TEXT NOT NULL, target_key TEXT NOT NULL, opened TEXT NOT NULL, status TEXT, state TEXT,
    ended INTEGER
  ) WITHOUT ROWID;
`

/** Fields of version 4's object, in the order of ChangeRow.ts. */
const changeOf4 =
  "provider trigger host workspace repo.fullName repo.cloneUrl repo.webUrl repo.hostId target.kind target.number target.branch head base " +
  "headRef baseRef title description url author.username author.name commits requestedBy"
const entryOf4 = "configHash events priority admittedAt dueAt expires reason"
const members = (names: string, of = ""): string =>
  names
    .split(" ")
    .map((name) => `opened -> '$.${of}${name}'`)
    .join(", ")

/** Migrations from each earlier version to the next, up to 5. */
const steps: Readonly<Record<number, string>> = {
  2: "DROP INDEX entries_next; DROP TABLE entry_events;",
  3: `
    ALTER TABLE entries RENAME TO earlier;
    ${entries}
    INSERT INTO entries
      SELECT id, workspace, target_key,
        json_object(
          'change', CASE WHEN json_valid(change) THEN json(change) END,
          'configHash', config_hash,
          'events', CASE WHEN json_valid(events) THEN json(events) END),
        status,
        json_object(
          'priority', priority, 'admittedAt', admitted_at, 'dueAt', due_at, 'attempts', attempts, 'losses', losses,
          'expires', json(iif(expires, 'true', 'false')), 'reason', reason, 'token', token, 'leaseUntil', lease_until, 'owner', owner,
          'cancelRequested', cancel_requested),
        iif(status IN ('waiting', 'ready', 'running'), NULL, admitted_at)
      FROM earlier;
    DROP TABLE earlier;`,
  4: `
    UPDATE entries SET opened = json_array(${members(entryOf4)}, json_array(${members(changeOf4, "change.")}))
      WHERE json_valid(opened);`,
  5: ""
}

export const isConvertible = (version: number): boolean => version in steps

const stepsFrom = (version: number): string => {
  const step = steps[version]
  return step === undefined ? "" : step + stepsFrom(version + 1)
}

/** Selects all but the newest of several waiting entries of one target: two would block their workspace. */
const olderTwins = `
  SELECT id FROM (
    SELECT id, row_number() OVER (PARTITION BY target_key ORDER BY id DESC) AS place
    FROM entries WHERE ifnull(status, 'waiting') IN ('waiting', 'ready'))
  WHERE place > 1`

const pageRows = 2000
/** The position of the snapshot. */
const sequence = 1

interface Statements {
  readonly details: string
  readonly snapshot: string
  readonly page: string
}

/** Converts tables of this version, within a transaction that has created those of the journal. */
export const convert = (db: DatabaseSync, version: number, statements: Statements): void => {
  db.exec(stepsFrom(version))
  const twins = new Set(
    db
      .prepare(olderTwins)
      .all()
      .map(({ id }) => String(id))
  )
  const insertDetails = db.prepare(statements.details)
  const insertPage = db.prepare(statements.page)
  const origins = new Origins()
  let pages = 0
  let rows: Array<RowChange> = []
  const addPage = () => {
    insertPage.run(sequence, ++pages, toText(rows))
    rows = []
  }
  for (const row of db.prepare("SELECT * FROM entries ORDER BY id").iterate()) {
    const entry = toEntry(row)
    if (!isQuarantined(entry)) insertDetails.run(entry.id, JSON.stringify(toRow(entry.change)))
    const kept: Entry = twins.has(entry.id)
      ? { ...entry, status: "dead", reason: "quarantined: another entry of the same target waits" }
      : entry
    if (rows.push({ _tag: "Put", row: fromEntry(kept, origins) }) === pageRows) addPage()
  }
  for (const row of db.prepare("SELECT * FROM pauses").iterate()) {
    const pause = toPause(row)
    rows.push({ _tag: "Pause", scope: pause.scope, name: pause.name, pause })
  }
  addPage()
  db.prepare(statements.snapshot).run(sequence, newMessageId())
  db.exec("DROP TABLE entries; DROP TABLE pauses")
}
