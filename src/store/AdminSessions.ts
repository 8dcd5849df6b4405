/** Sessions of the administration, shared by all nodes. Of a token only its digest is known. */
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
    /** Sessions that have expired by its creation go. */
    readonly open: (digest: string, session: AdminSession) => Effect.Effect<void, StoreError>
    /** Undefined when there is none, or it has expired by `now`. */
    readonly find: (digest: string, now: number) => Effect.Effect<AdminSession | undefined, StoreError>
    /** Ends all sessions but the one with this digest, or all. Returns how many ended. */
    readonly revoke: (except: string | undefined) => Effect.Effect<number, StoreError>
    readonly close: (digest: string) => Effect.Effect<void, StoreError>
  }
>()("aicr/store/AdminSessions") {}
