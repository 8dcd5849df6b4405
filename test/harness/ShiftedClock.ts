/** A clock that differs from another one by a fixed number of milliseconds. Its timers and its monotonic time are the same. */
import { Effect } from "effect"
import type { Clock } from "effect"

export const shiftedClock = (clock: Clock.Clock, millis: number): Clock.Clock => ({
  sleep: (duration) => clock.sleep(duration),
  currentTimeMillis: Effect.map(clock.currentTimeMillis, (now) => now + millis),
  currentTimeMillisUnsafe: () => clock.currentTimeMillisUnsafe() + millis,
  currentTimeNanos: Effect.map(clock.currentTimeNanos, (now) => now + BigInt(millis) * 1_000_000n),
  currentTimeNanosUnsafe: () => clock.currentTimeNanosUnsafe() + BigInt(millis) * 1_000_000n,
  monotonicTimeNanos: clock.monotonicTimeNanos,
  monotonicTimeNanosUnsafe: () => clock.monotonicTimeNanosUnsafe()
})
