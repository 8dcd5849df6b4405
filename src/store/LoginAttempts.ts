/** Attempts to log in, counted over all nodes. An attempt counts as failed until it is known to be right. */
import { Context } from "effect"
import type { Effect } from "effect"
import type { StoreError } from "../database/StoreError.ts"

export interface AttemptLimits {
  /** Failures of one client within the window, after which it is locked. */
  readonly perClient: number
  readonly windowMillis: number
  /** Failures that are kept, whoever tries: beyond it the oldest are forgotten, nobody is locked. */
  readonly total: number
}

/** Whose attempt it is. */
export interface AttemptSubjects {
  readonly client: string
  readonly user: string
}

export type Attempt =
  /** `userFailures`: of this user within the window, before this attempt. */
  | { readonly _tag: "Begun"; readonly id: string; readonly userFailures: number }
  /** The client is locked; nothing was counted. */
  | { readonly _tag: "Held"; readonly until: number }

export class LoginAttempts extends Context.Service<
  LoginAttempts,
  {
    /** Counts an attempt, unless its client is locked: concurrent attempts cannot exceed the limit either. */
    readonly begin: (
      subjects: AttemptSubjects,
      limits: AttemptLimits,
      now: number
    ) => Effect.Effect<Attempt, StoreError>
    /** The attempt was right and counts no more. */
    readonly succeeded: (id: string) => Effect.Effect<void, StoreError>
  }
>()("aicr/store/LoginAttempts") {}
