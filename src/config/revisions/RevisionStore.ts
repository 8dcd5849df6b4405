/**
 * Stores the revisions of one namespace (`config_sources.database.namespace`) and the results of the operations that made them. Shared by all
 * nodes; every write is a compare-and-set.
 */
import { Context, Schema } from "effect"
import type { Effect } from "effect"
import { Reason } from "../../domain/Reason.ts"
import { inEnglish } from "../../text/en.ts"
import type {
  AppendedRevision,
  ConfigOperationRecord,
  ConfigRevision,
  NewRevision,
  OperationResult,
  RevisionHead,
  RevisionSummary
} from "./Revision.ts"

/** The database source cannot be read or written; a retry may help. */
export class SourceUnavailable extends Schema.TaggedError<SourceUnavailable>()("SourceUnavailable", {
  operation: Schema.String,
  why: Reason
}) {
  override get message(): string {
    return inEnglish(this.why)
  }
}

type Result<A> = Effect.Effect<A, SourceUnavailable>

export interface RevisionPage {
  /** Newest first. */
  readonly items: ReadonlyArray<RevisionSummary>
  /** Value of `before` for the next page; undefined at the end. */
  readonly next: number | undefined
}

/** Bounds of the results of operations that wrote no revision, also between two removals by the retention. */
export interface OperationLimits {
  /** Maximum number of results; the oldest ones are removed. */
  readonly records: number
  /** Results that a process writes before it removes those above the maximum. */
  readonly surplus: number
}

export const operationLimits: OperationLimits = { records: 100_000, surplus: 1000 }

/** Limits of `prune`. */
export interface RevisionRetention {
  /** Revisions beyond this number are removed. */
  readonly count: number
  /** Revisions and operations from before this time are removed. */
  readonly since: number
  /** Newest revisions that are kept in any case, at least 1. */
  readonly protect: number
  /** Revisions that unfinished work is pinned to. */
  readonly pinned: ReadonlySet<number>
}

export class RevisionStore extends Context.Service<
  RevisionStore,
  {
    /** One indexed read: cheap enough for every delivery. */
    readonly head: Result<RevisionHead>
    /** Undefined if the number does not exist or was pruned. */
    readonly read: (number: number) => Result<ConfigRevision | undefined>
    /** Revisions with a number below `before`. `limit`: 1 to 200. */
    readonly list: (page: { readonly before?: number | undefined; readonly limit: number }) => Result<RevisionPage>
    readonly operation: (operationId: string) => Result<ConfigOperationRecord | undefined>
    /**
     * Appends a revision onto `onto`, which must still be the head with the same hash, and records the result of its operation id, together
     * or not at all.
     */
    readonly append: (revision: NewRevision, onto: RevisionHead) => Result<AppendedRevision>
    /** Records the result of an operation that made no revision; returns the earlier record if the id has a result already. */
    readonly conclude: (
      operation: Omit<ConfigOperationRecord, "createdAt"> & { readonly result: OperationResult }
    ) => Result<ConfigOperationRecord>
    /** Replaces the text of a revision whose hash is still `hash`; returns false if it is not. */
    readonly reseal: (
      number: number,
      hash: string,
      next: { readonly document: string; readonly hash: string }
    ) => Result<boolean>
    /** Removes old revisions with their operations, and old operations without a revision. Returns how many revisions. */
    readonly prune: (keep: RevisionRetention) => Result<number>
  }
>()("aicr/config/RevisionStore") {}
