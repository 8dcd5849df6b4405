/** Stores the last fire of each schedule, so that it fires once for a downtime, and never twice. */
import { Context } from "effect"
import type { Effect } from "effect"
import type { StoreError } from "../database/StoreError.ts"

export class Schedules extends Context.Service<
  Schedules,
  {
    /** Returns the last fire of a schedule; a new one is recorded as fired at `now`, so that it starts with its next time. */
    readonly lastFire: (id: string, now: number) => Effect.Effect<number, StoreError>
    /** Records a fire; an earlier one than the recorded one changes nothing. */
    readonly fired: (id: string, at: number) => Effect.Effect<void, StoreError>
  }
>()("aicr/store/Schedules") {}
