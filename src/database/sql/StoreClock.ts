/**
 * Provides the time of the record database as the clock of this node. Nodes compare times that others wrote: leases, due times, owners. With
 * one clock for all of them the clocks of their machines may differ by any amount.
 *
 * Between two readings of the database time passes by this machine's monotonic clock, so that setting its wall clock has no effect,
 * and so that a database that is unavailable does not stop the clock.
 */
import { Clock, Effect, Layer, Schedule } from "effect"
import type { Duration } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql"
import { useIdClock } from "../../domain/Ids.ts"
import { awaitDatabase } from "./AwaitDatabase.ts"
import type { DatabaseWait } from "./AwaitDatabase.ts"
import type { StoreError } from "../StoreError.ts"
import { unavailable } from "./StoreFailure.ts"

const readInterval = "10 seconds"
/** Smaller differences between two readings do not move the clock. */
const toleranceMillis = 50
/** Differences between the clocks of this machine and of the database that are reported. */
const reportedMillis = 2000

/** A reading: the time of the database less the monotonic time of this process, and the maximum error. */
interface ClockReading {
  readonly offset: number
  readonly error: number
}

/** Returns the offset after a reading. A reading that may be exact keeps the current offset. */
export const adjust = (current: number | undefined, { error, offset }: ClockReading): number =>
  current === undefined || Math.abs(offset - current) > error + toleranceMillis ? offset : current

class StoreClock implements Clock.Clock {
  offset = 0
  readonly currentTimeMillis = Effect.sync(() => this.currentTimeMillisUnsafe())
  readonly currentTimeNanos = Effect.sync(() => this.currentTimeNanosUnsafe())
  readonly monotonicTimeNanos: Effect.Effect<bigint>
  readonly #machine: Clock.Clock

  constructor(machine: Clock.Clock) {
    this.#machine = machine
    this.monotonicTimeNanos = machine.monotonicTimeNanos
  }

  currentTimeMillisUnsafe(): number {
    return Math.floor(performance.now() + this.offset)
  }

  currentTimeNanosUnsafe(): bigint {
    return BigInt(Math.floor((performance.now() + this.offset) * 1000)) * 1000n
  }

  monotonicTimeNanosUnsafe(): bigint {
    return this.#machine.monotonicTimeNanosUnsafe()
  }

  sleep(duration: Duration.Duration): Effect.Effect<void> {
    return this.#machine.sleep(duration)
  }
}

const read = Effect.fnUntraced(function* (sql: SqlClient.SqlClient): Effect.fn.Return<ClockReading, SqlError.SqlError> {
  const sentAt = performance.now()
  const [row] = yield* sql<{ millis: number }>`SELECT extract(epoch FROM clock_timestamp()) * 1000 AS millis`
  const receivedAt = performance.now()
  return { offset: Number(row?.millis) - (sentAt + receivedAt) / 2, error: (receivedAt - sentAt) / 2 }
})

/** Replaces the clock of everything that is built over this layer. Over Postgres. */
export const layer = (wait: DatabaseWait): Layer.Layer<never, StoreError, SqlClient.SqlClient> =>
  Layer.effect(
    Clock.Clock,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const machine = yield* Clock.Clock
      const clock = new StoreClock(machine)
      let current: number | undefined
      let reported = 0
      const synchronise = Effect.gen(function* () {
        current = adjust(current, yield* read(sql))
        clock.offset = current
        const apart = clock.currentTimeMillisUnsafe() - machine.currentTimeMillisUnsafe()
        if (Math.abs(apart - reported) < reportedMillis) return
        reported = apart
        yield* Effect.logWarning("clock of this machine differs from the clock of the database, which is used", {
          seconds: Math.round(apart / 1000)
        })
      })
      yield* awaitDatabase(synchronise, wait)
      useIdClock(() => clock.currentTimeMillisUnsafe())
      yield* Effect.addFinalizer(() => Effect.sync(() => useIdClock(Date.now)))
      yield* synchronise.pipe(
        Effect.catch(() => Effect.void),
        Effect.delay(readInterval),
        Effect.repeat(Schedule.forever),
        Effect.forkScoped
      )
      return clock
    }).pipe(unavailable("open"))
  )
