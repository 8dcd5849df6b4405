/** Stores sessions of the administration, shared by all nodes. Only the digest of a token is stored. */
import { Context } from "effect"
import type { Effect } from "effect"
import type { StoreError } from "../database/StoreError.ts"

export interface AdminSession {
  readonly username: string
  readonly createdAt: number
  readonly expiresAt: number
}

export class AdminSessions extends Context.Service<
  AdminSessions,
  {
    /** Stores a session and removes those that have expired by its creation. */
    readonly open: (digest: string, session: AdminSession) => Effect.Effect<void, StoreError>
    /** Returns undefined if there is none, or it has expired by `now`. */
    readonly find: (digest: string, now: number) => Effect.Effect<AdminSession | undefined, StoreError>
    /** Ends all sessions except the one with this digest, or all. Returns how many ended. */
    readonly revoke: (except: string | undefined) => Effect.Effect<number, StoreError>
    /** Ends a session and returns it, to one of several callers only. Undefined if there is none, or it has expired by `now`. */
    readonly take: (digest: string, now: number) => Effect.Effect<AdminSession | undefined, StoreError>
    readonly close: (digest: string) => Effect.Effect<void, StoreError>
  }
>()("aicr/store/AdminSessions") {}
