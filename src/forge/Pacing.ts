/**
 * How fast one token may write. Hosts punish bursts of notes with secondary rate limits that hit everything the account does,
 * so all clients of one token share one pace, on this node and with the others (WriteTurns.ts): content writes start at least
 * `WriteGap` apart, one at a time on each node, and a `Retry-After` closes the token for everyone until it has passed. A short
 * closure is waited out, a long one fails at once with the time that is left, so that the publisher can put the work aside
 * instead of holding a fiber.
 */
import { Clock, Context, Duration, Effect, Option, Semaphore } from "effect"
import { maxRetryAfterMillis } from "../domain/RetryAfter.ts"
import { checkFence, WriteOwner } from "./WriteOwner.ts"
import { ForgeError } from "./Forge.ts"
import { WriteTurns } from "./WriteTurns.ts"
import type { WriteTurn } from "./WriteTurns.ts"

/** Time between the starts of two content writes of one token (decisions section 8). Zero only against a server of our own. */
export const WriteGap = Context.Reference<Duration.Duration>("aicr/forge/WriteGap", {
  defaultValue: () => Duration.seconds(1)
})

/** Longest closure that is waited out in place. */
const patience = 5_000

interface Pace {
  readonly turn: Semaphore.Semaphore
  nextWrite: number
  closedUntil: number
}

/** One pace per token, shared by every client in the process. */
export const Paces = Context.Reference<Map<string, Pace>>("aicr/forge/Paces", { defaultValue: () => new Map() })

const paceOf = (key: string) =>
  Effect.map(Paces, (paces) => {
    const known = paces.get(key)
    if (known !== undefined) return known
    const fresh: Pace = { turn: Semaphore.makeUnsafe(1), nextWrite: 0, closedUntil: 0 }
    paces.set(key, fresh)
    return fresh
  })

const waitUntilOpen = Effect.fnUntraced(function* (pace: Pace, operation: string) {
  const left = pace.closedUntil - (yield* Clock.currentTimeMillis)
  if (left <= 0) return
  if (left > patience) {
    return yield* new ForgeError({
      reason: "rate_limited",
      retryAfterMillis: left,
      operation,
      message: `${operation} was not sent: the host's rate limit holds this token for another ${Math.ceil(left / 1000)} s`
    })
  }
  yield* Effect.sleep(left)
})

const closeOnLimit = (key: string, pace: Pace) =>
  Effect.fnUntraced(function* (error: ForgeError) {
    if (error.reason !== "rate_limited" || error.retryAfterMillis === undefined) return
    const millis = Math.min(error.retryAfterMillis, maxRetryAfterMillis)
    pace.closedUntil = Math.max(pace.closedUntil, (yield* Clock.currentTimeMillis) + millis)
    // A read needs no turn; where there are turns, the closure holds for all nodes.
    const turns = yield* Effect.serviceOption(WriteTurns)
    if (Option.isSome(turns)) yield* turns.value.pause(key, millis)
  })

/** Reads: held back only while the host has closed the token. */
export const paced = Effect.fnUntraced(function* <A, R>(
  key: string,
  operation: string,
  request: Effect.Effect<A, ForgeError, R>
) {
  const pace = yield* paceOf(key)
  yield* waitUntilOpen(pace, operation)
  return yield* Effect.tapError(request, closeOnLimit(key, pace))
})

/** Writes that nobody is notified of. */
export const fencedWrite = <A>(key: string, operation: string, request: Effect.Effect<A, ForgeError>) =>
  paced(key, operation, Effect.andThen(checkFence, request))

/** Content writes: one at a time per token, `WriteGap` apart. */
export const pacedWrite = Effect.fnUntraced(function* <A>(
  key: string,
  operation: string,
  request: Effect.Effect<A, ForgeError>
) {
  const pace = yield* paceOf(key)
  const gap = Duration.toMillis(yield* WriteGap)
  const { guard } = yield* WriteOwner
  const turns = yield* WriteTurns
  const write = Effect.fnUntraced(function* ({ started }: WriteTurn) {
    yield* guard
    pace.nextWrite = (yield* Clock.currentTimeMillis) + gap
    yield* checkFence
    yield* started
    return yield* Effect.tapError(request, closeOnLimit(key, pace))
  })
  const inTurn = Effect.gen(function* () {
    yield* waitUntilOpen(pace, operation)
    const now = yield* Clock.currentTimeMillis
    if (pace.nextWrite > now) yield* Effect.sleep(pace.nextWrite - now)
    const turn = yield* turns.take(key, gap)
    return yield* Effect.ensuring(write(turn), turn.giveBack)
  })
  return yield* pace.turn.withPermit(inTurn)
})
