/**
 * Bodies and headers of the newest deliveries, without credentials, for people who search for the reason of a decision and for replays. They
 * are stored after the response, so a crash loses the newest ones; decisions never depend on them.
 */
import { Context } from "effect"
import type { Effect } from "effect"
import type { StoreError } from "../database/StoreError.ts"

/** Scope of a delivery: the triggers that verified a webhook, or the workspaces that the key of a call opens. */
export type Admits =
  | { readonly _tag: "Triggers"; readonly names: ReadonlyArray<string> }
  /** Undefined: all. */
  | { readonly _tag: "Workspaces"; readonly ids: ReadonlyArray<string> | undefined }

export interface DeliveryPayload {
  /** Id of the event record. */
  readonly eventId: string
  readonly receivedAt: number
  /** Name of the path: a kind of host, or of a call. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  /** Text of the body, or the JSON of a form. */
  readonly body: string
  /** Length of the received body in bytes. */
  readonly bytes: number
  /** The body was longer than the limit, and its end is missing. */
  readonly cut: boolean
  readonly admits: Admits
  /** Event of the delivery that this one repeats. */
  readonly replayOf: string | undefined
}

export class Payloads extends Context.Service<
  Payloads,
  {
    /** Stores payloads; an existing one does not change. Removes the oldest ones beyond `maxCount`. */
    readonly store: (payloads: ReadonlyArray<DeliveryPayload>, maxCount: number) => Effect.Effect<void, StoreError>
    readonly get: (eventId: string) => Effect.Effect<DeliveryPayload | undefined, StoreError>
    /** Removes the oldest payloads beyond `maxCount`, and those received before `before`. Returns their number. */
    readonly prune: (keep: { readonly maxCount: number; readonly before: number }) => Effect.Effect<number, StoreError>
  }
>()("aicr/store/Payloads") {}
