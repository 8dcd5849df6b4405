/** Revisions of the database's configuration: a linear history of documents, each with the edit that made it. */
import { Schema } from "effect"
import type { Difference } from "../Diff.ts"
import { Reason } from "../../domain/Reason.ts"

/** A revision in a list, without its document. */
export const RevisionSummary = Schema.Struct({
  /** 1 for the first, then one more each. */
  number: Schema.Int,
  /** Number of the revision before; 0 before the first. */
  parent: Schema.Int,
  /** SHA-256 (hex) of the stored document. */
  hash: Schema.String,
  actor: Schema.String,
  /** Chosen by the caller; the same id is applied once. */
  operationId: Schema.String,
  reason: Schema.String,
  /** Revision that the edit was made for, if others were published in between. */
  rebasedFrom: Schema.optional(Schema.Int),
  /** Revision whose document this one brings back. */
  restores: Schema.optional(Schema.Int),
  /** Number of fields that it changed. */
  changes: Schema.Int,
  /** Milliseconds since 1970 by the clock of the store. */
  createdAt: Schema.Int
})
export type RevisionSummary = typeof RevisionSummary.Type

export interface ConfigRevision extends Omit<RevisionSummary, "changes"> {
  /** JSON of the document, credentials sealed. */
  readonly document: string
  /** Hash of what the caller sent under that id; keyed if it contained credentials. */
  readonly requestHash: string
  /** Masked. */
  readonly diff: ReadonlyArray<Difference>
}

/** A revision that the store has not dated yet. */
export type NewRevision = Omit<ConfigRevision, "createdAt">

/** The newest revision. Number 0 and an empty hash: nothing has been published. */
export interface RevisionHead {
  readonly number: number
  /** Differs from the hash at publication after the credentials of the revision were sealed again. */
  readonly hash: string
}

export const noRevision: RevisionHead = { number: 0, hash: "" }

/** A field that was changed by others since the base of an edit. Credentials are masked. */
export const Conflict = Schema.Struct({
  path: Schema.Array(Schema.String),
  base: Schema.optional(Schema.Unknown),
  head: Schema.optional(Schema.Unknown),
  yours: Schema.optional(Schema.Unknown)
})
export type Conflict = typeof Conflict.Type

export const ResealState = Schema.Literals(["running", "done", "failed"])

/** Final result of an operation id. A refused operation has none, because its reason may disappear: it can be tried again. */
export const OperationResult = Schema.Union([
  Schema.TaggedStruct("Committed", { revision: Schema.Int, rebasedFrom: Schema.optional(Schema.Int) }),
  Schema.TaggedStruct("Unchanged", { revision: Schema.Int }),
  Schema.TaggedStruct("Conflict", { head: Schema.Int, conflicts: Schema.Array(Conflict) }),
  /** Progress of a job that seals credentials with the current key. That of a running one is not stored as a result. */
  Schema.TaggedStruct("Resealed", {
    state: ResealState,
    checked: Schema.Int,
    resealed: Schema.Int,
    failed: Schema.Array(Reason)
  })
])
export type OperationResult = typeof OperationResult.Type
export type ResealResult = Extract<OperationResult, { readonly _tag: "Resealed" }>

export const ConfigOperationRecord = Schema.Struct({
  operationId: Schema.String,
  requestHash: Schema.String,
  result: OperationResult,
  createdAt: Schema.Int
})
export type ConfigOperationRecord = typeof ConfigOperationRecord.Type

/** Result of the compare-and-set on the head. */
export type AppendedRevision =
  | { readonly _tag: "Committed"; readonly revision: ConfigRevision }
  /** The operation id has a result already. */
  | { readonly _tag: "Repeated"; readonly operation: ConfigOperationRecord }
  /** The head has changed in the meantime. */
  | { readonly _tag: "Moved" }
