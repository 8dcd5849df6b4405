/** Records what administrators do, also what is refused. A record is stored before the action, and completed with its outcome afterwards. */
import { Context } from "effect"
import type { Effect } from "effect"
import type { StoreError } from "../database/StoreError.ts"
import * as Field from "../domain/Field.ts"
import { record } from "../domain/Record.ts"
import type { RecordValues } from "../domain/Record.ts"
import type { IdRange } from "../database/sql/ListOrder.ts"

export const AdminAction = record({
  /** Ordered by time. */
  id: Field.text,
  at: Field.time,
  actor: Field.text,
  /** Address of the client; `local` on the local socket. */
  address: Field.text,
  /** Group and endpoint, such as `queue.cancel`. */
  action: Field.text,
  /** Path below `/api/admin`, with what the body names. */
  target: Field.text,
  reason: Field.optional(Field.text),
  /** `done`, the code of the refusal, `failed`, or `unknown` while it runs and after the process died in it. */
  outcome: Field.text
})
export type AdminAction = RecordValues<typeof AdminAction>

/** Values that an action must have; undefined ones select nothing. */
interface ActionFilter extends IdRange {
  readonly actor?: string | undefined
  readonly action?: string | undefined
  readonly outcome?: string | undefined
  /** Earliest time, in milliseconds since the epoch. */
  readonly since?: number | undefined
  readonly limit: number
}

export const unknownOutcome = "unknown"

/** Maximum number of records. */
export const maxAdminActions = 100_000

/** Records that a process stores before it removes those above the maximum. */
export const surplusActions = 1000

export class AdminActions extends Context.Service<
  AdminActions,
  {
    /** Also removes the oldest records above `maxAdminActions`, once per `surplusActions` records of this process. */
    readonly start: (action: AdminAction) => Effect.Effect<void, StoreError>
    readonly finish: (id: string, outcome: string) => Effect.Effect<void, StoreError>
    /** Removes a record that is not kept. */
    readonly discard: (id: string) => Effect.Effect<void, StoreError>
    /** Lists actions, newest first. */
    readonly list: (filter: ActionFilter) => Effect.Effect<ReadonlyArray<AdminAction>, StoreError>
    /** Removes records from before this time, and the oldest ones above `maxCount`. Returns how many. */
    readonly prune: (keep: { readonly maxCount: number; readonly before: number }) => Effect.Effect<number, StoreError>
  }
>()("aicr/store/AdminActions") {}
