/**
 * Bodies and headers of the newest deliveries, without credentials, for people who search for the reason of a decision and for replays. They
 * are stored after the response, so a crash loses the newest ones; decisions never depend on them.
 */
import { Context, Schema } from "effect"
import type { Effect } from "effect"
import type { StoreError } from "../database/StoreError.ts"
import * as Field from "../domain/Field.ts"
import { record } from "../domain/Record.ts"
import type { RecordValues } from "../domain/Record.ts"

/** Scope of a delivery: the triggers that verified a webhook, or the workspaces that the key of a call opens; undefined: all. */
export const Admits = Schema.Union([
  Schema.TaggedStruct("Triggers", { names: Schema.Array(Schema.String) }),
  Schema.TaggedStruct("Workspaces", { ids: Schema.optional(Schema.Array(Schema.String)) })
])
export type Admits = typeof Admits.Type

export const DeliveryPayload = record({
  /** Id of the event record. */
  eventId: Field.text,
  receivedAt: Field.time,
  /** Name of the path: a kind of host, or of a call. */
  path: Field.text,
  headers: Field.json(Schema.Record(Schema.String, Schema.String)),
  /** Text of the body, or the JSON of a form. */
  body: Field.text,
  /** Length of the received body in bytes. */
  bytes: Field.integer,
  /** The body was longer than the limit, and its end is missing. */
  cut: Field.flag,
  admits: Field.json(Admits),
  /** Event of the delivery that this one repeats. */
  replayOf: Field.optional(Field.text)
})
export type DeliveryPayload = RecordValues<typeof DeliveryPayload>

export class Payloads extends Context.Service<
  Payloads,
  {
    /** Stores payloads; an existing one does not change. Removes the oldest ones once there are a twentieth more than `maxCount`. */
    readonly store: (payloads: ReadonlyArray<DeliveryPayload>, maxCount: number) => Effect.Effect<void, StoreError>
    readonly get: (eventId: string) => Effect.Effect<DeliveryPayload | undefined, StoreError>
    /** Removes the oldest payloads beyond `maxCount`, and those received before `before`. Returns their number. */
    readonly prune: (keep: { readonly maxCount: number; readonly before: number }) => Effect.Effect<number, StoreError>
  }
>()("aicr/store/Payloads") {}
