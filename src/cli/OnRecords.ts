/** Runs an operation on the records of a configuration file, for commands that read them while the service runs. */
import type { Effect } from "effect"
import type { StoreError } from "../database/StoreError.ts"
import type { ExitWith } from "./Exit.ts"

/** `R`: the records that the command needs. */
export type OnRecords<R> = <A>(
  config: string,
  operation: Effect.Effect<A, StoreError | ExitWith, R>
) => Effect.Effect<A, ExitWith>
