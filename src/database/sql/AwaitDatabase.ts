/** Waits for the database at a start, as a running node does. Errors other than those of the connection, as wrong credentials, end the start. */
import { Effect, Schedule } from "effect"
import type { SqlError } from "effect/sql"

/** Notifications of a start that waits. */
export interface DatabaseWait {
  readonly failed: (message: string) => Effect.Effect<void>
  readonly connected: Effect.Effect<void>
}

/** Repeats the first statement until the database is connected. */
export const awaitDatabase = <A>(
  first: Effect.Effect<A, SqlError.SqlError>,
  { connected, failed }: DatabaseWait
): Effect.Effect<A, SqlError.SqlError> =>
  first.pipe(
    Effect.tapError((error) => (isDisconnected(error) ? failed(error.message) : Effect.void)),
    Effect.retry({ while: isDisconnected, schedule: Schedule.spaced("500 millis") }),
    Effect.tap(() => connected)
  )

const isDisconnected = ({ reason }: SqlError.SqlError): boolean => reason._tag === "ConnectionError"
