/**
 * Decides about changes that no delivery reported, as about deliveries: with the same admission, receipt and queue. Implemented where
 * deliveries are received (ingress/ReceiveFound.ts).
 */
import { Context } from "effect"
import type { Effect } from "effect"
import type { TriggerProfile } from "../config/Snapshot.ts"
import type { HostEvent } from "../domain/HostEvent.ts"
import type { DeliveryKey } from "../domain/Keys.ts"

/** Part of the limits of the queue that is kept free for deliveries. */
const keptFree = 0.1

/** Returns how far changes without a delivery may fill a limit of the queue. */
export const fillableBy = (limit: number): number => Math.floor(limit * (1 - keptFree))

export interface FoundEvent {
  readonly trigger: TriggerProfile
  /** The event that a delivery would have had. */
  readonly event: HostEvent
  /** There is one record per key. */
  readonly key: DeliveryKey
}

export type FoundDecision =
  /** Stored and accepted, or stored before. */
  | { readonly _tag: "Accepted" | "Duplicate"; readonly eventId: string }
  /** Stored, and nothing starts. */
  | { readonly _tag: "Ignored"; readonly eventId: string }
  /** Nothing was stored: the records or the queue took nothing. */
  | { readonly _tag: "Refused" }

export class FoundEvents extends Context.Service<
  FoundEvents,
  { readonly decide: (found: FoundEvent) => Effect.Effect<FoundDecision> }
>()("aicr/queue/FoundEvents") {}
