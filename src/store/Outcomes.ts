/** Reads and counts the outcomes of published findings. `Runs.settle` writes the records, in the transaction that ends a run. */
import { Context } from "effect"
import type { Effect } from "effect"
import type { OutcomeCounts, OutcomeRecord } from "../domain/FindingOutcome.ts"
import type { TargetKey } from "../domain/Keys.ts"
import type { StoreError } from "../database/StoreError.ts"

/** The outcome of a finding, with the runs that found it and that decided it last. */
export interface DatedOutcome extends Pick<OutcomeRecord, "fingerprint" | "outcome" | "replied"> {
  readonly foundIn: string
  /** Milliseconds since the epoch. */
  readonly foundAt: number
  readonly decidedIn: string
  readonly decidedAt: number
}

export class Outcomes extends Context.Service<
  Outcomes,
  {
    /** Returns the outcomes of the findings of a pull request. */
    readonly ofTarget: (targetKey: TargetKey) => Effect.Effect<ReadonlyArray<DatedOutcome>, StoreError>
    /** Returns the counts per repository, agent and model, of findings found since then (milliseconds since the epoch). */
    readonly counts: (since: number) => Effect.Effect<ReadonlyArray<OutcomeCounts>, StoreError>
  }
>()("aicr/store/Outcomes") {}
