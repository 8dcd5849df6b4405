/**
 * Repeats a scan on request and by its own alarm. Scans run one at a time. All requests before a scan starts share it; a request during a
 * scan gets the next one.
 */
import { Deferred, Effect, FiberHandle, Semaphore } from "effect"
import type { Scope } from "effect"

/** `scan` returns the milliseconds until it runs again without a request, or undefined for never. */
export const repeatScan = Effect.fnUntraced(function* <R>(
  scan: Effect.Effect<number | undefined, never, R>
): Effect.fn.Return<Effect.Effect<void>, never, R | Scope.Scope> {
  const scope = yield* Effect.scope
  const services = yield* Effect.context<R>()
  const alarm = yield* FiberHandle.make()
  const oneAtATime = yield* Semaphore.make(1)
  /** Completed by the scan that has not started yet. */
  let pending: Deferred.Deferred<void> | undefined

  // The scan runs outside the alarm's fiber, because setting the next alarm ends that fiber.
  const setAlarm = (millis: number | undefined): Effect.Effect<void> =>
    millis === undefined
      ? FiberHandle.clear(alarm)
      : Effect.sleep(millis).pipe(
          Effect.andThen(Effect.forkIn(request, scope)),
          (ring) => FiberHandle.run(alarm, ring),
          Effect.asVoid
        )
  const begin = Effect.sync(() => {
    pending = undefined
  })
  const scanAndSetAlarm = Effect.flatMap(Effect.provideContext(scan, services), setAlarm)
  /** Succeeds when the next scan after the request has ended. */
  const request: Effect.Effect<void> = Effect.suspend(() => {
    if (pending !== undefined) return Deferred.await(pending)
    const scanned = Deferred.makeUnsafe<void>()
    pending = scanned
    // Reviews that end together wake together: requests of the same iteration of the event loop share a scan.
    return Effect.yieldNow.pipe(
      Effect.andThen(oneAtATime.withPermits(1)(Effect.andThen(begin, scanAndSetAlarm))),
      Effect.andThen(Deferred.succeed(scanned, undefined)),
      Effect.forkIn(scope),
      Effect.andThen(Deferred.await(scanned))
    )
  })
  return request
})
