/** Contract between the administration and the receiving part: decides about a stored delivery again, as a new delivery. */
import { Context, Effect, Layer } from "effect"
import type { DeliveryPayload } from "../store/Payloads.ts"
import type { Reason } from "../domain/Reason.ts"

export type ReplayResult =
  /** `eventId` is the id of the new delivery. */
  | {
      readonly _tag: "Decided"
      readonly eventId: string
      readonly decision: string
      readonly reason: string | undefined
    }
  /** `why` names what is missing, for an operator. */
  | { readonly _tag: "NotReplayable"; readonly why: Reason }
  /** Nothing was stored: a store is unavailable, or a queue is full. */
  | { readonly _tag: "Refused" }

export class DeliveryReplay extends Context.Service<
  DeliveryReplay,
  { readonly replay: (payload: DeliveryPayload) => Effect.Effect<ReplayResult> }
>()("aicr/admin/DeliveryReplay") {
  /** Refuses replays by commands over the stores of a service that does not run. */
  static readonly layerNone = Layer.succeed(
    DeliveryReplay,
    DeliveryReplay.of({
      replay: () =>
        Effect.succeed({
          _tag: "NotReplayable",
          why: { _tag: "ServiceDecides" }
        })
    })
  )
}
