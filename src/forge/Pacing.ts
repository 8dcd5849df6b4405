/**
 * Limits the rate of writes with one token. Public hosts respond to bursts of comments with secondary rate limits that affect all
 * requests of the account, so all clients of one token share one pace, on this node and across nodes (WritePermits.ts): content
 * writes start at least the gap of the host (Profile.ts) apart, one at a time on each node. A `Retry-After` closes the token for all of them until
 * it has passed, and a host that limits the account, or is about to, is written to with the gap of public hosts for a while. A request waits for a short closure; a long one fails immediately with the remaining time, so that the publisher
 * can reschedule the work instead of holding a fiber.
 */
import { Clock, Context, Duration, Effect, Option, Semaphore } from "effect"
import { maxRetryAfterMillis } from "../domain/RetryAfter.ts"
import { checkFence, WriteOwner } from "./WriteOwner.ts"
import { ForgeError } from "./ForgeError.ts"
import { WritePermits } from "./WritePermits.ts"
import type { WritePermit } from "./WritePermits.ts"

/**
 * Minimum time between the starts of two content writes of one token. Zero only in tests and benchmarks against a local server.
 */
export const WriteGap = Context.Reference<Duration.Duration>("aicr/forge/WriteGap", {
  defaultValue: () => Duration.seconds(1)
})

/** Gap of a host that limits the account, and the time for which it applies. */
const carefulGap = Duration.seconds(1)
const carefulMillis = 10 * 60_000

/** Longest closure that a request waits for. */
const maxWaitMillis = 5_000

interface Pace {
  readonly writing: Semaphore.Semaphore
  nextWrite: number
  closedUntil: number
  carefulUntil: number
}

/** Paces by token. */
export type Paces = Map<string, Pace>

const getPace = (paces: Paces, key: string): Pace => {
  const existing = paces.get(key)
  if (existing !== undefined) return existing
  const created: Pace = { writing: Semaphore.makeUnsafe(1), nextWrite: 0, closedUntil: 0, carefulUntil: 0 }
  paces.set(key, created)
  return created
}

const waitUntilOpen = Effect.fnUntraced(function* (pace: Pace, operation: string) {
  const remaining = pace.closedUntil - (yield* Clock.currentTimeMillis)
  if (remaining <= 0) return
  if (remaining > maxWaitMillis) {
    return yield* new ForgeError({
      reason: "rate_limited",
      retryAfterMillis: remaining,
      operation,
      why: { _tag: "RateLimitHolds", operation, seconds: Math.ceil(remaining / 1000) }
    })
  }
  yield* Effect.sleep(remaining)
})

export interface HostGap {
  readonly gap: Duration.Duration
  /** Whether an operator set it: then it stays, whatever the host reports. */
  readonly isFixed: boolean
}

/** Returns the gap of an account at a host with this gap; without one, the general gap. A general gap of zero applies to all. */
export const chooseGap = Effect.fnUntraced(function* (paces: Paces, key: string, ofHost: HostGap | undefined) {
  const general = yield* WriteGap
  if (Duration.isZero(general)) return general
  const { gap, isFixed } = ofHost ?? { gap: general, isFixed: false }
  if (isFixed) return gap
  const { carefulUntil } = getPace(paces, key)
  return carefulUntil > (yield* Clock.currentTimeMillis) ? Duration.max(gap, carefulGap) : gap
})

/** Writes with a gap from now on, because the host reports that it will soon limit the account. */
export const beCareful = Effect.fnUntraced(function* (paces: Paces, key: string) {
  const pace = getPace(paces, key)
  pace.carefulUntil = (yield* Clock.currentTimeMillis) + carefulMillis
})

const closeWhenLimited = (paces: Paces, key: string) =>
  Effect.fnUntraced(function* (error: ForgeError) {
    if (error.reason !== "rate_limited") return
    yield* beCareful(paces, key)
    if (error.retryAfterMillis === undefined) return
    const millis = Math.min(error.retryAfterMillis, maxRetryAfterMillis)
    const pace = getPace(paces, key)
    pace.closedUntil = Math.max(pace.closedUntil, (yield* Clock.currentTimeMillis) + millis)
    // A read needs no permit; where permits are shared, the closure applies to all nodes.
    const permits = yield* Effect.serviceOption(WritePermits)
    if (Option.isSome(permits)) yield* permits.value.pause(key, millis)
  })

/** Runs a read; it waits only while the host's rate limit has closed the token. */
export const paced = Effect.fnUntraced(function* <A, R>(
  paces: Paces,
  key: string,
  operation: string,
  request: Effect.Effect<A, ForgeError, R>
) {
  yield* waitUntilOpen(getPace(paces, key), operation)
  return yield* Effect.tapError(request, closeWhenLimited(paces, key))
})

/** Runs a write that notifies no one. */
export const fencedWrite = <A>(paces: Paces, key: string, operation: string, request: Effect.Effect<A, ForgeError>) =>
  paced(paces, key, operation, Effect.andThen(checkFence, request))

/** Runs a content write: one at a time per token, `WriteGap` apart. */
export const pacedWrite = Effect.fnUntraced(function* <A>(
  paces: Paces,
  key: string,
  operation: string,
  request: Effect.Effect<A, ForgeError>
) {
  const pace = getPace(paces, key)
  const gap = Duration.toMillis(yield* WriteGap)
  const { beforePermit = Effect.void, guard } = yield* WriteOwner
  const permits = yield* WritePermits
  const write = Effect.fnUntraced(function* ({ started }: WritePermit) {
    yield* guard
    pace.nextWrite = (yield* Clock.currentTimeMillis) + gap
    yield* checkFence
    yield* started
    return yield* Effect.tapError(request, closeWhenLimited(paces, key))
  })
  const whilePermitted = Effect.gen(function* () {
    yield* waitUntilOpen(pace, operation)
    const now = yield* Clock.currentTimeMillis
    if (pace.nextWrite > now) yield* Effect.sleep(pace.nextWrite - now)
    yield* beforePermit
    const permit = yield* permits.acquire(key, gap)
    return yield* Effect.ensuring(write(permit), permit.release)
  })
  return yield* pace.writing.withPermit(whilePermitted)
})
