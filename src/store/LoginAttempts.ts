/** Counts login attempts over all nodes. An attempt counts as failed until it succeeds. */
import { Context } from "effect"
import type { Effect } from "effect"
import type { StoreError } from "../database/StoreError.ts"

export interface AttemptLimits {
  /** Number of failures of one client within the window after which it is locked. */
  readonly perClient: number
  readonly windowMillis: number
  /** Maximum number of stored failures of all clients. Beyond it the oldest are removed without locking anyone out. */
  readonly total: number
}

/** Client and user of an attempt. */
export interface AttemptSubjects {
  readonly client: string
  readonly user: string
}

export type Attempt =
  /** `userFailures`: failures of this user within the window, before this attempt. */
  | { readonly _tag: "Begun"; readonly id: string; readonly userFailures: number }
  /** The client is locked; nothing was counted. */
  | { readonly _tag: "Held"; readonly until: number }

export class LoginAttempts extends Context.Service<
  LoginAttempts,
  {
    /** Counts an attempt, unless its client is locked. Concurrent attempts cannot exceed the limit. */
    readonly begin: (
      subjects: AttemptSubjects,
      limits: AttemptLimits,
      now: number
    ) => Effect.Effect<Attempt, StoreError>
    /** Removes a successful attempt from the count. */
    readonly succeeded: (id: string) => Effect.Effect<void, StoreError>
  }
>()("aicr/store/LoginAttempts") {}
