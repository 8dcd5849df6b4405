/**
 * Run records: the reviewed change, the state and the findings. Every write of a worker names the fencing token of its lease; a run stores
 * the newest token and refuses older ones.
 */
import { Context } from "effect"
import type { Effect } from "effect"
import { Change } from "../domain/Change.ts"
import type { DecidedBy } from "../domain/DecidedBy.ts"
import { Analysis } from "../domain/Analysis.ts"
import type { LeaseToken, PublisherToken } from "../domain/FencingToken.ts"
import { RunVerdict } from "../domain/HeadVerdict.ts"
import type { HeadVerdict } from "../domain/HeadVerdict.ts"
import { TargetKey } from "../domain/Keys.ts"
import { toNanos } from "../domain/Money.ts"
import type { Publication } from "../domain/Publication.ts"
import { Reason } from "../domain/Reason.ts"
import * as Field from "../domain/Field.ts"
import { record } from "../domain/Record.ts"
import type { RecordValues } from "../domain/Record.ts"
import { RunStatus } from "../domain/Run.ts"
import type { StoreError } from "../database/StoreError.ts"
import type { IdRange } from "../database/sql/ListOrder.ts"

export const Run = record({
  id: Field.text,
  entryId: Field.text,
  workspace: Field.text,
  /** Team that the workspace had when the run began. */
  team: Field.optional(Field.text),
  targetKey: Field.stored(TargetKey),
  change: Field.json(Change),
  head: Field.text,
  base: Field.optional(Field.text),
  status: Field.stored(RunStatus),
  /** Reason for waiting, skipping, cancelling or failing. */
  reason: Field.optional(Field.reason),
  partial: Field.flag,
  configHash: Field.text,
  analysis: Field.optional(Field.checkedJson(Analysis)),
  createdAt: Field.time,
  startedAt: Field.optional(Field.time),
  /** Start of waiting for the host, and time of the next attempt. */
  waitingSince: Field.optional(Field.time),
  waitingUntil: Field.optional(Field.time),
  finishedAt: Field.optional(Field.time),
  /** Absent if the run has no verdict about its head. */
  verdict: Field.optional(Field.json(RunVerdict))
})
export type Run = RecordValues<typeof Run>

/** A run that begins: `verdict` is set if its head gets a pending status. */
export type BegunRun = Pick<
  Run,
  "entryId" | "workspace" | "team" | "targetKey" | "change" | "head" | "base" | "configHash" | "verdict"
>

/** A commit of a repository (case-folded) that has a verdict of a pull request and a base branch. */
export const ReviewedHead = record({
  head: Field.text,
  repo: Field.text,
  targetKey: Field.stored(TargetKey),
  baseRef: Field.optional(Field.text)
})
export type ReviewedHead = RecordValues<typeof ReviewedHead>

/** A head of a target that a run has reviewed. */
export const ReviewedChange = record({
  id: Field.text,
  targetKey: Field.stored(TargetKey),
  head: Field.text,
  baseRef: Field.optional(Field.text)
})
export type ReviewedChange = RecordValues<typeof ReviewedChange>

/** Review that a run executed, for the outcomes of its findings. */
export interface SettledBy {
  /** Agent mode. */
  readonly agent: string
  /** Maximum number of findings that its analysis lists. */
  readonly maxProblems: number
}

/** Values that a run must have; undefined ones select nothing. */
export interface RunFilter extends IdRange {
  readonly workspace?: string | undefined
  readonly statuses?: ReadonlyArray<RunStatus> | undefined
  readonly targetKey?: TargetKey | undefined
  /** Full name of the repository, compared case-insensitively. */
  readonly repo?: string | undefined
  /** Number of the pull request or issue. */
  readonly number?: number | undefined
  readonly trigger?: string | undefined
  /** Earliest time of creation, in milliseconds since the epoch. */
  readonly since?: number | undefined
  /** Time before which it was created, in milliseconds since the epoch. */
  readonly until?: number | undefined
  /** Default: by id, the newest first. */
  readonly order?: ValueOrder | undefined
  readonly limit: number
  /** Limit of each of several statuses, so that many runs of one hide none of another. Default: `limit`. */
  readonly limitOfEach?: number | undefined
}

/** Selects runs whose text has all of these terms (domain/SearchText.ts), in addition to the filter. */
export interface RunSearch extends Omit<RunFilter, "limitOfEach" | "order"> {
  readonly terms: ReadonlyArray<string>
  /** True: only the newest run of each target. */
  readonly isNewest: boolean
}

interface FoundRuns {
  readonly runs: ReadonlyArray<Run>
  /** Id of the last run of the part that was searched to its end; undefined if the list ends there, or the limit was reached before. */
  readonly searchedTo: string | undefined
}

/** Values that runs are listed by. A run without one counts as smaller than all others. */
export const runValues = ["duration", "cost"] as const

/** Lists runs by a value, those with equal ones by id in the same direction. */
export interface ValueOrder {
  readonly by: (typeof runValues)[number]
  readonly smallestFirst: boolean
  /** Lists those that follow this run. */
  readonly from?: { readonly value: number; readonly id: string } | undefined
}

/** Returns the value that a run is listed by. */
export const listedValue = ({ analysis, finishedAt, startedAt }: Run, by: ValueOrder["by"]): number => {
  if (by === "duration") return startedAt === undefined || finishedAt === undefined ? -1 : finishedAt - startedAt
  const cost = analysis?.usage.costUsd
  return cost === undefined ? -1 : toNanos(cost)
}

export class Runs extends Context.Service<
  Runs,
  {
    /**
     * Returns the unfinished run of this entry, or a new one in `queued`; a later `begin` of the entry continues it. One from before the
     * first claim (`openUnreviewed`) is created now. Undefined if a worker with a newer token has it.
     */
    readonly open: (
      run: Omit<BegunRun, "verdict">,
      token: LeaseToken,
      now: number
    ) => Effect.Effect<Run | undefined, StoreError>
    /**
     * Opens the run of an entry whose review has not begun, with a pending verdict and the publications that `plan` returns for the id of
     * the run, in one transaction. Changes nothing if a run of the entry has begun or has a verdict, and returns undefined.
     */
    readonly openUnreviewed: (
      run: BegunRun,
      plan: (runId: string) => ReadonlyArray<Publication>,
      now: number
    ) => Effect.Effect<Run | undefined, StoreError>
    /**
     * Moves back to `queued`, with the reason for waiting. `waitingSince` is kept until the analysis begins. Returns false if the token is
     * stale.
     */
    readonly wait: (
      runId: string,
      token: LeaseToken,
      waiting: { readonly since: number; readonly until: number; readonly reason: Reason }
    ) => Effect.Effect<boolean, StoreError>
    /**
     * Returns the run of this entry and head: a new one in `preparing`, or the unfinished one of an earlier worker, taken over by the
     * higher token. A queued one with a verdict about another head or base branch ends as skipped. Undefined if a worker with a newer token
     * has it.
     */
    readonly begin: (run: BegunRun, token: LeaseToken, now: number) => Effect.Effect<Run | undefined, StoreError>
    /**
     * Replaces the pending verdict of a run whose review has not ended, and adds the publication that shows it, in one transaction. Returns
     * false if it has another verdict by now.
     */
    readonly replacePending: (
      runId: string,
      pending: RunVerdict,
      verdict: RunVerdict,
      shown: Publication,
      now: number
    ) => Effect.Effect<boolean, StoreError>
    /**
     * Compare-and-set on status and token. Returns false if the transition is not allowed from the current status, or the token is stale. A
     * run that ends gets its verdict (`endVerdict`), or the given one. One that is published ends by `settle` only, because the caller may
     * have decided before its analysis was stored.
     */
    readonly move: (
      runId: string,
      token: LeaseToken,
      to: RunStatus,
      now: number,
      reason?: Reason,
      verdict?: RunVerdict
    ) => Effect.Effect<boolean, StoreError>
    /**
     * Moves analyzing -> publishing, with the analysis, its verdict and its publications, in one transaction. Existing publications with
     * the same `operationId` do not change. Returns false if the token is stale.
     */
    readonly complete: (
      runId: string,
      token: LeaseToken,
      analysis: Analysis,
      publications: ReadonlyArray<Publication>,
      now: number,
      verdict?: RunVerdict
    ) => Effect.Effect<boolean, StoreError>
    /**
     * Moves publishing -> succeeded, failed or skipped, by the publisher, once all publications of the run have ended. A success records the
     * outcomes of the findings (Outcomes) in the same transaction. Returns false if the run has already ended, and changes nothing then.
     */
    readonly settle: (
      runId: string,
      to: "succeeded" | "failed" | "skipped",
      options: {
        readonly partial: boolean
        readonly reason?: Reason | undefined
        /** Absent if its workspace is no longer configured. */
        readonly by?: SettledBy | undefined
      },
      now: number
    ) => Effect.Effect<boolean, StoreError>
    /**
     * Replaces the analysis and the verdict of a published review after a decision about one of its findings, and adds the publications and
     * the outcome that follow, in one transaction. Returns false if the run is not published, or another publisher owns its target.
     */
    readonly rule: (
      runId: string,
      token: PublisherToken,
      ruling: {
        readonly analysis: Analysis
        /** Undefined: its verdict stays. */
        readonly verdict: RunVerdict | undefined
        readonly fingerprint: string
        readonly outcome: "dismissed" | "open" | "withdrawn"
        /** Person who dismissed it; undefined for an objection. */
        readonly dismissedBy?: DecidedBy | undefined
        readonly publications: ReadonlyArray<Publication>
      },
      now: number
    ) => Effect.Effect<boolean, StoreError>
    readonly get: (runId: string) => Effect.Effect<Run | undefined, StoreError>
    /**
     * Returns the newest run of a target on a head that is published, or being published, and the person who paused automatic reviews of the
     * target.
     */
    readonly findReview: (
      targetKey: TargetKey,
      head: string
    ) => Effect.Effect<{ readonly earlier: Run | undefined; readonly pausedBy: string | undefined }, StoreError>
    /** Pauses automatic reviews of a target until `resume`, for as long as records are kept. The last person who did so counts. */
    readonly pause: (targetKey: TargetKey, person: string, now: number) => Effect.Effect<void, StoreError>
    readonly resume: (targetKey: TargetKey) => Effect.Effect<void, StoreError>
    /**
     * Returns the newest runs of these targets that are published, or being published, on one of these heads. A target whose newest run has
     * another head or base may have to be reviewed again, or to get back an earlier verdict.
     */
    readonly reviewed: (
      changes: ReadonlyArray<{ readonly targetKey: TargetKey; readonly head: string }>
    ) => Effect.Effect<ReadonlyArray<ReviewedChange>, StoreError>
    /** Returns the verdicts about a commit of a repository, on every host: those of all runs, or of the last ones where runs were removed. */
    readonly headVerdicts: (head: string, repo: string) => Effect.Effect<ReadonlyArray<HeadVerdict>, StoreError>
    /** Returns which of these commits have a verdict, of which pull requests and base branches. */
    readonly reviewedHeads: (heads: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<ReviewedHead>, StoreError>
    /** Returns the newest run of a target whose analysis is stored, published or not. */
    readonly latestAnalysis: (targetKey: TargetKey) => Effect.Effect<Run | undefined, StoreError>
    /** Lists runs. With an order by value, an index serves a filter by workspace only. */
    readonly list: (filter: RunFilter) => Effect.Effect<ReadonlyArray<Run>, StoreError>
    /** Lists the newest run of each target, by id: those that the filter selects. */
    readonly newest: (filter: Omit<RunFilter, "order">) => Effect.Effect<ReadonlyArray<Run>, StoreError>
    /** Returns the newest runs that replied to comments below a pull request or issue, the newest first. */
    readonly replies: (change: Change, limit: number) => Effect.Effect<ReadonlyArray<Run>, StoreError>
    /** Searches a part of the list of all runs, or of the newest run of each target, and returns where the next part begins. */
    readonly search: (search: RunSearch) => Effect.Effect<FoundRuns, StoreError>
    readonly prune: (keep: { readonly maxCount: number; readonly before: number }) => Effect.Effect<number, StoreError>
  }
>()("aicr/store/Runs") {}
