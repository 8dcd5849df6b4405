/** Revisions of the database's configuration: a linear history of documents, each with the edit that made it. */
import type { Difference } from "../Diff.ts"

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
  /** SHA-256 (hex) of what the caller sent under that id. */
  readonly requestHash: string
  readonly reason: string
  /** ConfigRevision that the edit was made for, if others were published in between. */
  readonly rebasedFrom: number | undefined
  /** ConfigRevision whose document this one brings back. */
  readonly restores: number | undefined
  /** Masked. */
  readonly diff: ReadonlyArray<Difference>
  /** Milliseconds since 1970 by the clock of the store. */
  readonly createdAt: number
}

/** A revision that the store has not numbered by time yet. */
export type NewRevision = Omit<ConfigRevision, "createdAt">

/** Result of the compare-and-set on the head. */
export type AppendedRevision =
  | { readonly _tag: "Committed"; readonly revision: ConfigRevision }
  /** The operation id was applied before. */
  | { readonly _tag: "Repeated"; readonly revision: ConfigRevision }
  /** Another revision became the head in the meantime. */
  | { readonly _tag: "Moved" }
