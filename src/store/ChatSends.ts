/** Counts the persons to whom an application of a chat platform sent messages on a day, for all nodes. */
import { Context } from "effect"
import type { Effect } from "effect"
import type { StoreError } from "../database/StoreError.ts"

export class ChatSends extends Context.Service<
  ChatSends,
  {
    /** Adds persons unless the day would have more than `limit`; returns whether it did. `day`: `2026-01-31`. */
    readonly take: (app: string, day: string, persons: number, limit: number) => Effect.Effect<boolean, StoreError>
    /** Subtracts persons of messages that were not sent. */
    readonly giveBack: (app: string, day: string, persons: number) => Effect.Effect<void, StoreError>
  }
>()("aicr/store/ChatSends") {}
