/**
 * Fencing tokens: numbers that grow with each owner of a thing. A store refuses a write that carries an older one. Each kind is a type of
 * its own, so that no count and no token of another thing passes for one.
 */
import { Schema } from "effect"

/** Of the lease of a queue entry: whatever its worker writes carries it. 0 before the first claim. */
export const LeaseToken = Schema.Int.pipe(Schema.brand("LeaseToken"))
export type LeaseToken = typeof LeaseToken.Type

export const noLease = LeaseToken.make(0)

/** The token of the next claim. */
export const nextLease = (token: LeaseToken): LeaseToken => LeaseToken.make(token + 1)

/** Greater than the token of any worker: of who ends a run that no worker has. */
export const afterEveryLease = LeaseToken.make(Number.MAX_SAFE_INTEGER)

/** Of the publisher of a target: its changes of rows and its writes to the host carry it. */
export const PublisherToken = Schema.Int.pipe(Schema.brand("PublisherToken"))
export type PublisherToken = typeof PublisherToken.Type
