/**
 * Run records: what was reviewed, how it went, what was found. Every write of a worker names the fencing token of its lease;
 * a run remembers the newest token it has seen and refuses older ones.
 */
import { Context } from "effect"
import type { Effect } from "effect"
import type { Change } from "../domain/Change.ts"
import type { Analysis } from "../domain/Analysis.ts"
import type { LeaseToken } from "../domain/FencingToken.ts"
import type { Publication } from "../domain/Publication.ts"
import type { RunStatus } from "../domain/Run.ts"
import type { StoreError } from "../database/StoreError.ts"

export interface Run {
  readonly id: string
  readonly entryId: string
  readonly workspace: string
  readonly targetKey: string
  readonly change: Change
  readonly head: string
  readonly base: string | undefined
  readonly status: RunStatus
  /** Why it was skipped or failed, in words for an operator. */
  readonly reason: string | undefined
  readonly partial: boolean
  readonly configHash: string
  readonly analysis: Analysis | undefined
  readonly createdAt: number
  readonly startedAt: number | undefined
  /** Milliseconds since the epoch: since when it waits for its host, and until when before it is tried again. */
  readonly waitingSince?: number | undefined
  readonly waitingUntil?: number | undefined
  readonly finishedAt: number | undefined
}

export class Runs extends Context.Service<
  Runs,
  {
    /**
     * The unfinished run of this entry, or a new one in `queued`; a later `begin` of the entry continues it. Undefined when a worker with a
     * newer token has it.
     */
    readonly open: (
      run: Pick<Run, "entryId" | "workspace" | "targetKey" | "change" | "head" | "base" | "configHash">,
      token: LeaseToken,
      now: number
    ) => Effect.Effect<Run | undefined, StoreError>
    /** Back to `queued`: it waits for its host, and says why. `waitingSince` is kept until the analysis begins. False: the token is stale. */
    readonly wait: (
      runId: string,
      token: LeaseToken,
      waiting: { readonly since: number; readonly until: number; readonly reason: string }
    ) => Effect.Effect<boolean, StoreError>
    /**
     * The run of this entry and head: a new one in `preparing`, or the unfinished one that an earlier worker left, taken over by
     * the higher token. Undefined when a worker with a newer token has it.
     */
    readonly begin: (
      run: Pick<Run, "entryId" | "workspace" | "targetKey" | "change" | "head" | "base" | "configHash">,
      token: LeaseToken,
      now: number
    ) => Effect.Effect<Run | undefined, StoreError>
    /** Compare-and-set on status and token. False: the move is not allowed from where the run is, or the token is stale. */
    readonly move: (
      runId: string,
      token: LeaseToken,
      to: RunStatus,
      now: number,
      reason?: string
    ) => Effect.Effect<boolean, StoreError>
    /**
     * analyzing -> publishing, with the analysis and its publications, in one transaction. Publications whose `operationId` is
     * already there are left as they are. False: the token is stale.
     */
    readonly complete: (
      runId: string,
      token: LeaseToken,
      analysis: Analysis,
      publications: ReadonlyArray<Publication>,
      now: number
    ) => Effect.Effect<boolean, StoreError>
    /** publishing -> succeeded, failed or skipped, by the publisher, once all publications of the run have ended. */
    readonly settle: (
      runId: string,
      to: "succeeded" | "failed" | "skipped",
      options: { readonly partial: boolean; readonly reason?: string | undefined },
      now: number
    ) => Effect.Effect<boolean, StoreError>
    readonly get: (runId: string) => Effect.Effect<Run | undefined, StoreError>
    /** The newest run of a target on a head with one of these states. */
    readonly find: (
      targetKey: string,
      head: string,
      statuses: ReadonlyArray<RunStatus>
    ) => Effect.Effect<Run | undefined, StoreError>
    /** The newest run of a target whose analysis is stored, published or not. */
    readonly latestAnalysis: (targetKey: string) => Effect.Effect<Run | undefined, StoreError>
    /** Newest first. */
    readonly list: (filter: {
      readonly workspace?: string | undefined
      readonly status?: RunStatus | undefined
      readonly targetKey?: string | undefined
      readonly before?: string | undefined
      readonly limit: number
    }) => Effect.Effect<ReadonlyArray<Run>, StoreError>
    readonly prune: (keep: { readonly maxCount: number; readonly before: number }) => Effect.Effect<number, StoreError>
  }
>()("aicr/store/Runs") {}
