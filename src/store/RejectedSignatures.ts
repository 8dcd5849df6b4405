/** Counts deliveries with a wrong signature over all nodes, per trigger and hour. */
import { Context } from "effect"
import type { Effect } from "effect"
import type { StoreError } from "../database/StoreError.ts"
import * as Field from "../domain/Field.ts"
import { record } from "../domain/Record.ts"
import type { RecordValues } from "../domain/Record.ts"

export const RejectedSignature = record({
  /** Start of the hour. */
  hour: Field.time,
  /** A host whose triggers share a path: none of them verified the delivery, so each is counted. */
  trigger: Field.named("trigger_name", Field.text),
  provider: Field.text,
  /** Number of deliveries by the class of their addresses. */
  counts: Field.group({
    loopback: Field.named("from_loopback", Field.integer),
    private: Field.named("from_private", Field.integer),
    public: Field.named("from_public", Field.integer)
  }),
  lastAt: Field.time
})
export type RejectedSignature = RecordValues<typeof RejectedSignature>
export type AddressClass = keyof RejectedSignature["counts"]

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
