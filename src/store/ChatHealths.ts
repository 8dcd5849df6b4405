/** States of chat connections over all nodes: the owner of each connection reports it. */
import { Context } from "effect"
import type { Effect } from "effect"
import type { ChatHealth } from "../domain/ChatHealth.ts"
import type { StoreError } from "../database/StoreError.ts"

export class ChatHealths extends Context.Service<
  ChatHealths,
  {
    /** Replaces the report of a connection. A later one of another owner is not replaced. */
    readonly report: (health: ChatHealth) => Effect.Effect<void, StoreError>
    readonly list: Effect.Effect<ReadonlyArray<ChatHealth>, StoreError>
    /** Removes reports before this time. */
    readonly prune: (before: number) => Effect.Effect<void, StoreError>
  }
>()("aicr/store/ChatHealths") {}
