/** When each schedule last fired, so that it fires once for the time it was down, and never twice. */
import { Context } from "effect"
import type { Effect } from "effect"
import type { StoreError } from "../database/StoreError.ts"

export class Schedules extends Context.Service<
  Schedules,
  {
    /** The last fire of a schedule; one that is not known is noted as fired at `now`, so that it starts with its next time. */
    readonly lastFire: (id: string, now: number) => Effect.Effect<number, StoreError>
    /** Notes a fire; an earlier one than is known changes nothing. */
    readonly fired: (id: string, at: number) => Effect.Effect<void, StoreError>
  }
>()("aicr/store/Schedules") {}
