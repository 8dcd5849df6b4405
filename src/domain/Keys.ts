/**
 * Idempotency keys: texts that name one piece of work, so that repeating it changes nothing. Each kind is a type of its own, so that no key
 * of another thing and no other text passes for one. Stores, messages and hosts hold the plain text.
 */
import { Schema } from "effect"

/**
 * A target of reviews: a pull request, a branch, an issue. At most one entry of a target waits in the queue, and one publisher writes to
 * it. Made by `targetKey` (Change.ts).
 */
export const TargetKey = Schema.String.pipe(Schema.brand("TargetKey"))
export type TargetKey = typeof TargetKey.Type

/** Returns whether two targets are of one repository, whichever triggers their keys name. */
export const isSameRepository = (one: TargetKey, other: TargetKey): boolean => one.split(":")[1] === other.split(":")[1]

/** A delivery, however often it is sent: `<provider>:<delivery id>`. There is one event record per key. */
export const DeliveryKey = Schema.String.pipe(Schema.brand("DeliveryKey"))
export type DeliveryKey = typeof DeliveryKey.Type

/** An operation at a host, however often it is planned. There is one publication per id, and what is posted carries it in its marker. */
export const OperationId = Schema.String.pipe(Schema.brand("OperationId"))
export type OperationId = typeof OperationId.Type

/** A reservation in the ledger, however often it is reserved, settled or refunded. */
export const ReservationId = Schema.String.pipe(Schema.brand("ReservationId"))
export type ReservationId = typeof ReservationId.Type

/** Returns the key of a delivery that a host or the sender of a call named. */
export const deliveryKey = (provider: string, name: string): DeliveryKey => DeliveryKey.make(`${provider}:${name}`)

/** Returns the key of a command: its comment may be delivered under several ids and found at the host, and is executed once. */
export const commandKey = (provider: string, target: TargetKey, comment: string): DeliveryKey =>
  deliveryKey(provider, `command:${target}:${comment}`)

/** Returns a key that no other delivery has: of a record that is to prevent none. */
export const uniqueDeliveryKey = (key: DeliveryKey, eventId: string): DeliveryKey =>
  DeliveryKey.make(`${key}#${eventId}`)

const replyPrefix = "help:"

/** Returns the id of the comment that replies to a command: there is one per event. */
export const replyId = (eventId: string): OperationId => OperationId.make(`${replyPrefix}${eventId}`)
export const isReplyId = (id: OperationId): boolean => id.startsWith(replyPrefix)
