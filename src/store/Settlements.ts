/**
 * Ends of changes whose findings have no outcome yet. The request is the receipt of the delivery that reported the end: its record has the
 * reason `closed` and no outcome, until the findings are decided about. A node claims it for a time; a claim of a process that ended is free.
 */
import { Context } from "effect"
import type { Effect } from "effect"
import { OutcomeRecord } from "../domain/FindingOutcome.ts"
import type { LaterChange } from "../domain/FindingOutcome.ts"
import * as Field from "../domain/Field.ts"
import { TargetKey } from "../domain/Keys.ts"
import { TriggerKind } from "../domain/Kinds.ts"
import { record } from "../domain/Record.ts"
import type { RecordValues } from "../domain/Record.ts"
import type { StoreError } from "../database/StoreError.ts"

/** Age in milliseconds from which an end is no longer decided about. */
export const maxEndAgeMillis = 3 * 86_400_000

/** The end of a change that this node decides about. */
export const ClaimedEnd = record({
  targetKey: Field.stored(TargetKey),
  eventId: Field.text,
  provider: Field.stored(TriggerKind),
  trigger: Field.named("trigger_name", Field.text),
  workspace: Field.text,
  repo: Field.text,
  /** Number of the pull request, or of the shelf. */
  number: Field.integer,
  /** Changelist as which a shelf was submitted; absent if it was deleted without a submit. */
  head: Field.optional(Field.text),
  /** Branch of a shelf. */
  branch: Field.optional(Field.text),
  receivedAt: Field.time,
  /** Failed attempts. */
  attempts: Field.integer
})
export type ClaimedEnd = RecordValues<typeof ClaimedEnd>

/** A shelved changelist of Perforce with findings that no end has decided about. */
export const OpenShelf = record({
  targetKey: Field.stored(TargetKey),
  workspace: Field.text,
  /** Name of its repository. */
  repo: Field.text,
  /** Time of its newest outcome. */
  decidedAt: Field.time
})
export type OpenShelf = RecordValues<typeof OpenShelf>

/** Findings of one merge whose code is read again. */
export interface LaterFindings {
  readonly trigger: string
  /** Name of the repository at its host. */
  readonly repo: string
  readonly settledHead: string
  /** Branch that the change was merged into. */
  readonly baseRef: string
  /** Newest commit of the branch that a review has used. */
  readonly tip: string
  readonly records: ReadonlyArray<OutcomeRecord & { readonly targetKey: TargetKey }>
}

interface ClaimRequest {
  /** NodeIdentity.owner. */
  readonly owner: string
  /** Owners whose processes have ended. */
  readonly gone: ReadonlySet<string>
  readonly now: number
  readonly until: number
  /** Older ends are not decided about. */
  readonly since: number
  readonly limit: number
}

export class Settlements extends Context.Service<
  Settlements,
  {
    /** Claims ends of changes with findings that have no outcome yet. */
    readonly claim: (request: ClaimRequest) => Effect.Effect<ReadonlyArray<ClaimedEnd>, StoreError>
    /** Returns the owners of all claims. */
    readonly owners: Effect.Effect<ReadonlyArray<string>, StoreError>
    /** Extends the claims of an owner. */
    readonly renew: (owner: string, until: number) => Effect.Effect<void, StoreError>
    /**
     * Returns the outcomes of a change that its end has not decided, the newest first. Those of an earlier end without a merge are among them: the
     * change may have been opened again and merged.
     */
    readonly undecided: (
      end: Pick<ClaimedEnd, "receivedAt" | "targetKey">
    ) => Effect.Effect<ReadonlyArray<OutcomeRecord>, StoreError>
    /** Returns the shelves of a trigger that are not known to have ended, at most 1000, of these numbers if there are any. */
    readonly openShelves: (
      trigger: string,
      numbers?: ReadonlyArray<number>
    ) => Effect.Effect<ReadonlyArray<OpenShelf>, StoreError>
    /** Returns whether a review of the change has not ended, or one of a shelf waits. */
    readonly isReviewed: (targetKey: TargetKey) => Effect.Effect<boolean, StoreError>
    /** Returns the claim, to be taken again after `until`. */
    readonly postpone: (
      end: ClaimedEnd,
      owner: string,
      until: number,
      isAttempt: boolean
    ) => Effect.Effect<void, StoreError>
    /**
     * Stores outcomes, counts them in the statistics, and ends the claim, in one transaction. An outcome that was decided since then stays.
     * Returns the number of outcomes that changed. Without records the end is dropped: the change is open again.
     */
    readonly settle: (
      end: ClaimedEnd,
      records: ReadonlyArray<OutcomeRecord>,
      now: number
    ) => Effect.Effect<number, StoreError>
    /**
     * Returns merged findings that were not fixed, which were decided about before `until` and not before `since`, with a newer commit of their
     * branch: at most 200 findings.
     */
    readonly later: (period: {
      readonly since: number
      readonly until: number
    }) => Effect.Effect<ReadonlyArray<LaterFindings>, StoreError>
    readonly storeLater: (
      changes: ReadonlyArray<{
        readonly targetKey: TargetKey
        readonly fingerprint: string
        readonly later: LaterChange
      }>
    ) => Effect.Effect<void, StoreError>
  }
>()("aicr/store/Settlements") {}
