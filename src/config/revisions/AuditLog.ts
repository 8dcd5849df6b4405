/** Records every attempt to change or export the database's configuration, including refused ones. Credentials never appear in it. */
import { Context, Schema } from "effect"
import type { Effect } from "effect"
import { Reason } from "../../domain/Reason.ts"
import type { SourceUnavailable } from "./RevisionStore.ts"

const auditActions = [
  "publish",
  "restore",
  "draft_save",
  "draft_delete",
  "draft_approve",
  "draft_publish",
  "export",
  "import",
  "validate",
  "reseal"
] as const
export type AuditAction = (typeof auditActions)[number]

export const AuditRecord = Schema.Struct({
  /** Ordered by time. */
  id: Schema.String,
  at: Schema.Int,
  actor: Schema.String,
  action: Schema.Literals(auditActions),
  /** `committed`, `unchanged`, `done`, or the code of the refusal. */
  outcome: Schema.String,
  operationId: Schema.optional(Schema.String),
  revision: Schema.optional(Schema.Int),
  draft: Schema.optional(Schema.String),
  /** The reason of the edit, changed fields, or problems; texts of at most 4096 characters. */
  detail: Schema.optional(Reason)
})
export type AuditRecord = typeof AuditRecord.Type

export interface AuditPage {
  /** Newest first. */
  readonly items: ReadonlyArray<AuditRecord>
  /** Value of `before` for the next page; undefined at the end. */
  readonly next: string | undefined
}

export interface AuditLimits {
  /** Maximum number of records; the oldest ones are removed. */
  readonly records: number
  /** Records that a process appends before it removes those above the maximum. */
  readonly surplus: number
}

export const auditLimits: AuditLimits = { records: 100_000, surplus: 1000 }

export class AuditLog extends Context.Service<
  AuditLog,
  {
    /** Also removes the oldest records above the maximum, once per `surplus` records of this process. */
    readonly append: (record: AuditRecord) => Effect.Effect<void, SourceUnavailable>
    /** Records with an id below `before`. `limit`: 1 to 200. */
    readonly list: (page: {
      readonly before?: string | undefined
      readonly limit: number
    }) => Effect.Effect<AuditPage, SourceUnavailable>
    /** Removes records from before `since`, and the oldest ones above the maximum. */
    readonly prune: (since: number) => Effect.Effect<void, SourceUnavailable>
  }
>()("aicr/config/AuditLog") {}
