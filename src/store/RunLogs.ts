/** Lines of log about runs, for people who search for the reason of a result. Bounded per run; removed with the run. */
import { Context, Schema } from "effect"
import type { Effect } from "effect"
import type { StoreError } from "../database/StoreError.ts"

export const RunLogLine = Schema.Struct({
  /** Milliseconds since the epoch. */
  at: Schema.Int,
  level: Schema.Literals(["trace", "debug", "info", "warn", "error", "fatal"]),
  message: Schema.String,
  fields: Schema.Record(Schema.String, Schema.Json)
})
export type RunLogLine = typeof RunLogLine.Type

/** Maximum size of the log of a run in characters. Further lines are dropped. */
export const maxRunLog = 256 * 1024

export class RunLogs extends Context.Service<
  RunLogs,
  {
    /** Appends lines to the log of a run that has room left. */
    readonly append: (runId: string, lines: ReadonlyArray<RunLogLine>, now: number) => Effect.Effect<void, StoreError>
    /** Returns the lines of a run in the order of their writing; `cut` if the log is full. */
    readonly read: (
      runId: string
    ) => Effect.Effect<{ readonly lines: ReadonlyArray<RunLogLine>; readonly cut: boolean }, StoreError>
    /** Removes lines that were written before this time. Those of removed runs go with the runs. Returns the number of batches. */
    readonly prune: (before: number) => Effect.Effect<number, StoreError>
  }
>()("aicr/store/RunLogs") {}
