/** Records of agent CLIs, per run and pass, appended when something happens. */
import { Context, Effect, Layer } from "effect"
import type { StoreError } from "../database/StoreError.ts"
import type { AgentPassRecord } from "../domain/AgentPass.ts"

export class AgentPasses extends Context.Service<
  AgentPasses,
  {
    /** Appends a record. `pass` identifies the pass by its contents. If the response is lost, repeating it may add a second one. */
    readonly append: (
      runId: string,
      pass: string,
      record: AgentPassRecord,
      now: number
    ) => Effect.Effect<void, StoreError>
    /** Returns the records of a pass in these runs, in the order of their writing. */
    readonly list: (
      runIds: ReadonlyArray<string>,
      pass: string
    ) => Effect.Effect<ReadonlyArray<AgentPassRecord>, StoreError>
    /** Removes records written before this time. Returns their number. */
    readonly prune: (before: number) => Effect.Effect<number, StoreError>
  }
>()("aicr/store/AgentPasses") {
  /** Stores nothing; for commands that print their result and exit. */
  static readonly layerNone: Layer.Layer<AgentPasses> = Layer.succeed(
    AgentPasses,
    AgentPasses.of({
      append: () => Effect.void,
      list: () => Effect.succeed([]),
      prune: () => Effect.succeed(0)
    })
  )
}
