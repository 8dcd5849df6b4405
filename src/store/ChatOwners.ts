/**
 * Owners of chat connections. A node that takes a connection over gets a number above those of all earlier owners; an earlier owner, for
 * example one that was frozen, finds it before it opens a long connection.
 */
import { Context } from "effect"
import type { Effect } from "effect"
import type { StoreError } from "../database/StoreError.ts"

export class ChatOwners extends Context.Service<
  ChatOwners,
  {
    /** Makes this node the owner. Returns the number of its ownership. */
    readonly claim: (connection: string, node: string) => Effect.Effect<number, StoreError>
    /** Returns whether no later owner exists. */
    readonly isCurrent: (connection: string, epoch: number) => Effect.Effect<boolean, StoreError>
  }
>()("aicr/store/ChatOwners") {}
