/** Attempts to log in, counted over all nodes. An attempt counts as failed until it is known to be right. */
import { Context } from "effect"
import type { Effect } from "effect"
import type { StoreError } from "./StoreError.ts"

export interface AttemptLimits {
  /** Failures of one subject within the window. */
  readonly most: number
  readonly windowMillis: number
  /** Of all subjects together: what is kept is bounded, whoever tries. */
  readonly mostOfAll: number
}

export type Attempt =
  | { readonly _tag: "Begun"; readonly id: string }
  /** Nothing was counted. */
  | { readonly _tag: "Held"; readonly until: number }

export class LoginAttempts extends Context.Service<
  LoginAttempts,
  {
    /** Counts an attempt of these subjects together, unless one of them has used up its own: attempts at once cannot pass either. */
    readonly begin: (
      subjects: ReadonlyArray<string>,
      limits: AttemptLimits,
      now: number
    ) => Effect.Effect<Attempt, StoreError>
    /** The attempt was right and counts no more. */
    readonly succeeded: (id: string) => Effect.Effect<void, StoreError>
  }
>()("aicr/store/LoginAttempts") {}
