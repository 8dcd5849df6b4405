/** Revisions of the database's configuration: a linear history of documents, each with the edit that made it. */
import type { Difference } from "../Diff.ts"
import type { Conflict } from "./Conflicts.ts"
import type { Reason } from "../../domain/Reason.ts"

export interface ConfigRevision {
  /** 1 for the first, then one more each. */
  readonly number: number
  /** Number of the revision before; 0 before the first. */
  readonly parent: number
  /** SHA-256 (hex) of the stored document. */
  readonly hash: string
  /** JSON of the document, credentials sealed. */
  readonly document: string
  readonly actor: string
  /** Chosen by the caller; the same id is applied once. */
  readonly operationId: string
  /** Hash of what the caller sent under that id; keyed if it contained credentials. */
  readonly requestHash: string
  readonly reason: string
  /** Revision that the edit was made for, if others were published in between. */
  readonly rebasedFrom: number | undefined
  /** Revision whose document this one brings back. */
  readonly restores: number | undefined
  /** Masked. */
  readonly diff: ReadonlyArray<Difference>
  /** Milliseconds since 1970 by the clock of the store. */
  readonly createdAt: number
}

/** A revision that the store has not dated yet. */
export type NewRevision = Omit<ConfigRevision, "createdAt">

/** A revision in a list, without its document. */
export type RevisionSummary = Omit<ConfigRevision, "diff" | "document" | "requestHash"> & {
  /** Number of fields that it changed. */
  readonly changes: number
}

/** The newest revision. Number 0 and an empty hash: nothing has been published. */
export interface RevisionHead {
  readonly number: number
  /** Differs from the hash at publication after the credentials of the revision were sealed again. */
  readonly hash: string
}

export const noRevision: RevisionHead = { number: 0, hash: "" }

/** Final result of an operation id. A refused operation has none, because its reason may disappear: it can be tried again. */
export type OperationResult =
  | { readonly _tag: "Committed"; readonly revision: number; readonly rebasedFrom?: number | undefined }
  | { readonly _tag: "Unchanged"; readonly revision: number }
  | { readonly _tag: "Conflict"; readonly head: number; readonly conflicts: ReadonlyArray<Conflict> }
  | ResealResult

/** Progress of a job that seals credentials with the current key. That of a running one is not stored as a result. */
export interface ResealResult {
  readonly _tag: "Resealed"
  readonly state: "running" | "done" | "failed"
  readonly checked: number
  readonly resealed: number
  readonly failed: ReadonlyArray<Reason>
}

export interface ConfigOperationRecord {
  readonly operationId: string
  readonly requestHash: string
  readonly result: OperationResult
  readonly createdAt: number
}

/** Result of the compare-and-set on the head. */
export type AppendedRevision =
  | { readonly _tag: "Committed"; readonly revision: ConfigRevision }
  /** The operation id has a result already. */
  | { readonly _tag: "Repeated"; readonly operation: ConfigOperationRecord }
  /** The head has changed in the meantime. */
  | { readonly _tag: "Moved" }
