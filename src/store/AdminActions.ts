/** Records what administrators do, also what is refused. A record is stored before the action, and completed with its outcome afterwards. */
import { Context } from "effect"
import type { Effect } from "effect"
import type { StoreError } from "../database/StoreError.ts"
import type { IdRange } from "./ListOrder.ts"

export interface AdminAction {
  /** Ordered by time. */
  readonly id: string
  /** Milliseconds since the epoch. */
  readonly at: number
  readonly actor: string
  /** Address of the client; `local` on the local socket. */
  readonly address: string
  /** Group and endpoint, such as `queue.cancel`. */
  readonly action: string
  /** Path below `/api/admin`, with what the body names. */
  readonly target: string
  readonly reason: string | undefined
  /** `done`, the code of the refusal, `failed`, or `unknown` while it runs and after the process died in it. */
  readonly outcome: string
}

/** Values that an action must have; undefined ones select nothing. */
export interface ActionFilter extends IdRange {
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
