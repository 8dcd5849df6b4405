/** Counts deliveries with a wrong signature over all nodes, per trigger and hour. */
import { Context } from "effect"
import type { Effect } from "effect"
import type { StoreError } from "../database/StoreError.ts"

export type AddressClass = "loopback" | "private" | "public"

export interface RejectedSignature {
  /** Start of the hour, in milliseconds since the epoch, like all times here. */
  readonly hour: number
  /** A host whose triggers share a path: none of them verified the delivery, so each is counted. */
  readonly trigger: string
  readonly provider: string
  /** Number of deliveries by the class of their addresses. */
  readonly counts: Readonly<Record<AddressClass, number>>
  readonly lastAt: number
}

export class RejectedSignatures extends Context.Service<
  RejectedSignatures,
  {
    /** Adds counts, at most one item for each trigger and hour. If the response is lost, repeating it may count twice. */
    readonly add: (items: ReadonlyArray<RejectedSignature>) => Effect.Effect<void, StoreError>
    /** Lists the hours that end after `since`, newest first. */
    readonly list: (filter: {
      readonly since: number
      readonly limit: number
    }) => Effect.Effect<ReadonlyArray<RejectedSignature>, StoreError>
    /** Removes hours before this time. Returns their number. */
    readonly prune: (before: number) => Effect.Effect<number, StoreError>
  }
>()("aicr/store/RejectedSignatures") {}
