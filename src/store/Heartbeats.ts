/** Records that the processes of a cluster are alive, independently of the bus. */
import { Context } from "effect"
import type { Effect } from "effect"
import type { StoreError } from "../database/StoreError.ts"

export interface Heartbeat {
  /** Process (NodeIdentity.owner). */
  readonly owner: string
  readonly seenAt: number
}

export class Heartbeats extends Context.Service<
  Heartbeats,
  {
    /** Records that the process is alive now. Returns the heartbeats of all others. */
    readonly beat: (owner: string, now: number) => Effect.Effect<ReadonlyArray<Heartbeat>, StoreError>
    /** Removes a process that has ended. */
    readonly remove: (owner: string) => Effect.Effect<void, StoreError>
  }
>()("aicr/store/Heartbeats") {}
