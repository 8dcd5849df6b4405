/**
 * Decodes rows of the SQLite queue of earlier releases: a row of the table `entries` has in `opened` the task and the initial state of an
 * entry, in `status` and `state` its current state. The latter are null while it waits unchanged.
 */
import { Schema } from "effect"
import { EntryStatus } from "../../domain/Entry.ts"
import type { Entry } from "../../domain/Entry.ts"
import { LeaseToken, noLease } from "../../domain/FencingToken.ts"
import { TargetKey } from "../../domain/Keys.ts"
import { fromRow, fullNameIndex } from "../core/ChangeRow.ts"
import { quarantinedEntry } from "../core/Quarantined.ts"

const Text = Schema.optional(Schema.NullOr(Schema.String))

const State = Schema.Struct({
  priority: Schema.Int,
  admittedAt: Schema.Int,
  dueAt: Schema.Int,
  attempts: Schema.Int,
  losses: Schema.Int,
  expires: Schema.Boolean,
  reason: Text,
  token: LeaseToken,
  leaseUntil: Schema.optional(Schema.NullOr(Schema.Int)),
  owner: Text,
  awaitsModel: Schema.optional(Schema.Boolean),
  cancelRequested: Text
})

/** The initial state is null in rows of some releases, which have it in `state`. */
const Opened = Schema.Tuple([
  Schema.String,
  Schema.Array(Schema.String),
  Schema.NullOr(Schema.Int),
  Schema.NullOr(Schema.Int),
  Schema.NullOr(Schema.Int),
  Schema.NullOr(Schema.Boolean),
  Schema.NullOr(Schema.String),
  Schema.Array(Schema.Unknown)
])

const Row = Schema.Struct({
  id: Schema.String,
  workspace: Schema.String,
  target_key: TargetKey,
  opened: Schema.fromJsonString(Opened),
  status: Schema.NullOr(EntryStatus),
  state: Schema.NullOr(Schema.fromJsonString(State))
})

const decodeRow = Schema.decodeUnknownSync(Row)
const decodeState = Schema.decodeUnknownSync(State)

/** Returns the entry, quarantined with what its row holds if that cannot be decoded. */
export const toEntry = (row: Readonly<Record<string, unknown>>): Entry => {
  try {
    return decoded(row)
  } catch (cause) {
    return remainsOf(row, cause instanceof Error ? cause.message : String(cause))
  }
}

const decoded = (found: unknown): Entry => {
  const { id, workspace, target_key: targetKey, opened, status, ...row } = decodeRow(found)
  const [configHash, events, priority, admittedAt, dueAt, expires, reason, change] = opened
  const state =
    row.state ?? decodeState({ priority, admittedAt, dueAt, attempts: 0, losses: 0, expires, reason, token: noLease })
  return {
    ...state,
    id,
    workspace,
    targetKey,
    change: fromRow(change),
    configHash,
    events,
    status: status ?? "waiting",
    reason: state.reason ?? undefined,
    leaseUntil: state.leaseUntil ?? undefined,
    owner: state.owner ?? undefined,
    awaitsModel: state.awaitsModel === true,
    cancelRequested: state.cancelRequested ?? undefined
  }
}

const remainsOf = (row: Readonly<Record<string, unknown>>, why: string): Entry => {
  const opened = parse(row["opened"])
  const state = parse(row["state"])
  const values: ReadonlyArray<unknown> = Array.isArray(opened) ? opened : []
  const [, events, , admittedAt] = values
  const change: unknown = values[7]
  const current: unknown = hasAdmission(state) ? state.admittedAt : admittedAt
  const remains = {
    id: String(row["id"]),
    workspace: readText(row["workspace"]),
    targetKey: TargetKey.make(readText(row["target_key"])),
    repo: readText(Array.isArray(change) ? change[fullNameIndex] : undefined),
    events: isTexts(events) ? events : [],
    admittedAt: isInt(current) ? current : 0
  }
  return quarantinedEntry(remains, "what the queue holds of it", why)
}

const parse = (text: unknown): unknown => {
  try {
    return JSON.parse(readText(text))
  } catch {
    return undefined
  }
}
const readText = (value: unknown): string => (typeof value === "string" ? value : "")
const isInt = Schema.is(Schema.Int)
const isTexts = Schema.is(Schema.Array(Schema.String))
const hasAdmission = Schema.is(Schema.Struct({ admittedAt: Schema.Int }))

export const toPause = Schema.decodeUnknownSync(
  Schema.Struct({
    scope: Schema.Literals(["workspace", "node"]),
    name: Schema.String,
    reason: Schema.String,
    since: Schema.Int
  })
)
