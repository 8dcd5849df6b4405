/** Reads and counts the outcomes of published findings. `Runs.settle` writes the records, in the transaction that ends a run. */
import { Context, Schema } from "effect"
import type { Effect } from "effect"
import { OutcomeRecord } from "../domain/FindingOutcome.ts"
import type { JudgedCounts, JudgedFinding } from "../domain/JudgedFinding.ts"
import type { OutcomeCounts } from "../domain/FindingOutcome.ts"
import type { TargetKey } from "../domain/Keys.ts"
import * as Field from "../domain/Field.ts"
import { record } from "../domain/Record.ts"
import type { RecordValues } from "../domain/Record.ts"
import type { StoreError } from "../database/StoreError.ts"

const {
  category,
  dismissedBy,
  fingerprint,
  head,
  mergedBy,
  outcome,
  path,
  private: digest,
  replied,
  settled,
  settledAt,
  severity,
  title
} = OutcomeRecord.fields
/** The outcome of a finding by its own fingerprint, also of one that only maintainers get: for decisions, and not for people. */
export const RuledOutcome = record({ fingerprint, outcome, private: digest })
type RuledOutcome = RecordValues<typeof RuledOutcome>

/**
 * The outcome of a finding, with the runs that found it and that decided it last. One that only maintainers get has its digest as the
 * fingerprint, and no path and title.
 */
export const DatedOutcome = record({
  fingerprint,
  category,
  severity,
  title,
  path,
  private: digest,
  head,
  outcome,
  replied,
  dismissedBy,
  settled,
  settledAt,
  mergedBy,
  foundIn: Field.text,
  foundAt: Field.time,
  decidedIn: Field.text,
  decidedAt: Field.time
})
export type DatedOutcome = RecordValues<typeof DatedOutcome>

const { anchor: _anchor, evidence: _evidence, code: _code, ...listed } = OutcomeRecord.fields
/** An outcome as exports have it: without the digests of its code. */
export const ListedOutcome = record({
  targetKey: Field.text,
  ...listed,
  repository: Field.text,
  agent: Field.text,
  model: Field.text,
  foundIn: Field.text,
  foundAt: Field.time,
  decidedAt: Field.time
})
export type ListedOutcome = RecordValues<typeof ListedOutcome>

export interface OutcomePage {
  /** Lists findings that were found since then (milliseconds since the epoch). */
  readonly since: number
  /** Lists those that follow this one. */
  readonly after?: Pick<ListedOutcome, "fingerprint" | "targetKey"> | undefined
  readonly limit: number
}

/** Groups by which findings are counted. Rules are those that findings cite. */
export const FindingGrouping = Schema.Literals(["category", "severity", "rule", "repository", "workspace", "team"])
export type FindingGrouping = typeof FindingGrouping.Type

/** Findings of one group that were found in a period, and in the one of the same length before it. */
export const FindingGroup = record({
  name: Field.text,
  found: Field.sum,
  fixed: Field.sum,
  dismissed: Field.sum,
  withdrawn: Field.sum,
  foundBefore: Field.sum,
  fixedBefore: Field.sum,
  dismissedBefore: Field.sum
})
type FindingGroup = RecordValues<typeof FindingGroup>

export class Outcomes extends Context.Service<
  Outcomes,
  {
    /** Returns the outcomes of the findings of a pull request or of a branch, of all, or of these ones and those that only maintainers get. */
    readonly ofTarget: (
      targetKey: TargetKey,
      fingerprints?: ReadonlyArray<string>
    ) => Effect.Effect<ReadonlyArray<DatedOutcome>, StoreError>
    /** Returns the outcomes of a target by the fingerprints of its findings. */
    readonly rulings: (targetKey: TargetKey) => Effect.Effect<ReadonlyArray<RuledOutcome>, StoreError>
    /** Lists outcomes by change and fingerprint. */
    readonly list: (page: OutcomePage) => Effect.Effect<ReadonlyArray<ListedOutcome>, StoreError>
    /** Returns the counts per repository, agent and model, of findings found since then (milliseconds since the epoch). */
    readonly counts: (since: number) => Effect.Effect<ReadonlyArray<OutcomeCounts>, StoreError>
    /** Counts findings by group, at most 200 groups, those with the most findings first. Times are milliseconds since the epoch. */
    readonly groups: (period: {
      readonly by: FindingGrouping
      readonly since: number
      readonly until: number
      /** Only findings of this team. */
      readonly team?: string | undefined
    }) => Effect.Effect<ReadonlyArray<FindingGroup>, StoreError>
    /**
     * Counts findings by the author of their change as `trigger:account`, as long as the runs that found them are kept; at most 200 authors,
     * those with the most findings first.
     */
    readonly authors: (period: {
      readonly since: number
      readonly until: number
    }) => Effect.Effect<ReadonlyArray<FindingGroup>, StoreError>
    /** Returns the newest judged findings of each category, severity and model of a repository (`repositoryKey`), newest first. */
    readonly judged: (repository: string) => Effect.Effect<ReadonlyArray<JudgedFinding>, StoreError>
    /** Counts the newest judged findings of all repositories. */
    readonly judgedEverywhere: Effect.Effect<ReadonlyArray<JudgedCounts>, StoreError>
    /** Judged findings of a repository count no longer; only those of these categories if there are any. Returns how many there were. */
    readonly forgetJudged: (
      repository: string,
      categories: ReadonlyArray<string> | undefined
    ) => Effect.Effect<number, StoreError>
  }
>()("aicr/store/Outcomes") {}
