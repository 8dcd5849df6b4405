/** How an entry stands in the table `entries`, with its events as a JSON array. */
import { Schema } from "effect"
import { Change } from "../domain/Change.ts"
import { EntryStatus } from "../domain/Entry.ts"
import type { Entry } from "../domain/Entry.ts"

const Row = Schema.Struct({
  id: Schema.String,
  workspace: Schema.String,
  target_key: Schema.String,
  change: Schema.fromJsonString(Change),
  config_hash: Schema.String,
  priority: Schema.Int,
  status: EntryStatus,
  events: Schema.fromJsonString(Schema.Array(Schema.String)),
  admitted_at: Schema.Int,
  due_at: Schema.Int,
  attempts: Schema.Int,
  losses: Schema.Int,
  expires: Schema.Literals([0, 1]),
  reason: Schema.NullOr(Schema.String),
  token: Schema.Int,
  lease_until: Schema.NullOr(Schema.Int),
  owner: Schema.NullOr(Schema.String),
  cancel_requested: Schema.NullOr(Schema.String)
})

const decodeRow = Schema.decodeUnknownSync(Row)

/** Throws when the row does not decode. */
export const toEntry = (found: unknown): Entry => {
  const row = decodeRow(found)
  return {
    id: row.id,
    workspace: row.workspace,
    targetKey: row.target_key,
    change: row.change,
    configHash: row.config_hash,
    priority: row.priority,
    status: row.status,
    events: row.events,
    admittedAt: row.admitted_at,
    dueAt: row.due_at,
    attempts: row.attempts,
    losses: row.losses,
    expires: row.expires === 1,
    reason: row.reason ?? undefined,
    token: row.token,
    leaseUntil: row.lease_until ?? undefined,
    owner: row.owner ?? undefined,
    cancelRequested: row.cancel_requested ?? undefined
  }
}
