/**
 * Fencing tokens: numbers that increase with each owner of a resource. A store refuses a write that carries an older one. Each kind is a
 * separate type, so that a count or a token of another resource is a type error.
 */
import { Schema } from "effect"

/** Token of a queue entry's lease, carried by every write of its worker. 0 before the first claim. */
export const LeaseToken = Schema.Int.pipe(Schema.brand("LeaseToken"))
export type LeaseToken = typeof LeaseToken.Type

export const noLease = LeaseToken.make(0)

/** Returns the token of the next claim. */
export const nextLease = (token: LeaseToken): LeaseToken => LeaseToken.make(token + 1)

/** Greater than the token of any worker; used to end a run without a worker. */
export const afterEveryLease = LeaseToken.make(Number.MAX_SAFE_INTEGER)

/** Token of a target's publisher, carried by its changes of rows and its writes to the host. */
export const PublisherToken = Schema.Int.pipe(Schema.brand("PublisherToken"))
export type PublisherToken = typeof PublisherToken.Type
