/** Counts the outcomes of published findings. `Runs.settle` writes the records, in the transaction that ends a run. */
import { Context } from "effect"
import type { Effect } from "effect"
import type { OutcomeCounts } from "../domain/FindingOutcome.ts"
import type { StoreError } from "../database/StoreError.ts"

export class Outcomes extends Context.Service<
  Outcomes,
  {
    /** Returns the counts per repository, agent and model, of findings found since then (milliseconds since the epoch). */
    readonly counts: (since: number) => Effect.Effect<ReadonlyArray<OutcomeCounts>, StoreError>
  }
>()("aicr/store/Outcomes") {}
