/**
 * How fast one token may write. Hosts punish bursts of notes with secondary rate limits that hit everything the account does,
 * so all clients of one token share one pace: content writes are serial with at least `WriteGap` between their starts, and a
 * `Retry-After` closes the token for everyone until it has passed. A short closure is waited out, a long one fails at once with
 * the time that is left, so that the publisher can put the work aside instead of holding a fiber.
 */
import { Clock, Context, Duration, Effect, Semaphore } from "effect"
import { BeforeWrite } from "./BeforeWrite.ts"
import { ForgeError } from "./Forge.ts"

/** Time between the starts of two content writes of one token (decisions section 8). Zero only against a server of our own. */
export const WriteGap = Context.Reference<Duration.Duration>("aicr/forge/WriteGap", {
  defaultValue: () => Duration.seconds(1)
})

/** Longest closure that is waited out in place. */
const patience = 5_000
/** No host means more than this; a larger value is a broken header. */
const longestClosure = 24 * 3_600_000

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
      message: `${operation} was not sent: the host asked this token to wait another ${Math.ceil(left / 1000)} s`
    })
  }
  yield* Effect.sleep(left)
})

const closeOnLimit = (pace: Pace) => (error: ForgeError) =>
  error.reason === "rate_limited" && error.retryAfterMillis !== undefined
    ? Effect.map(Clock.currentTimeMillis, (now) => {
        const until = now + Math.min(error.retryAfterMillis ?? 0, longestClosure)
        pace.closedUntil = Math.max(pace.closedUntil, until)
      })
    : Effect.void

/** Reads and writes that nobody is notified of: held back only while the host has closed the token. */
export const paced = Effect.fnUntraced(function* <A>(
  key: string,
  operation: string,
  request: Effect.Effect<A, ForgeError>
) {
  const pace = yield* paceOf(key)
  yield* waitUntilOpen(pace, operation)
  return yield* Effect.tapError(request, closeOnLimit(pace))
})

/** Content writes: one at a time per token, `WriteGap` apart. */
export const pacedWrite = Effect.fnUntraced(function* <A>(
  key: string,
  operation: string,
  request: Effect.Effect<A, ForgeError>
) {
  const pace = yield* paceOf(key)
  const gap = Duration.toMillis(yield* WriteGap)
  const guard = yield* BeforeWrite
  const turn = Effect.gen(function* () {
    yield* waitUntilOpen(pace, operation)
    const now = yield* Clock.currentTimeMillis
    if (pace.nextWrite > now) yield* Effect.sleep(pace.nextWrite - now)
    yield* guard
    pace.nextWrite = (yield* Clock.currentTimeMillis) + gap
    return yield* Effect.tapError(request, closeOnLimit(pace))
  })
  return yield* pace.turn.withPermit(turn)
})
