/**
 * Permits for one provider: at most `rps` requests start per second (with a burst of one second's worth), none during a pause
 * that the provider requested. Waiting runs are served round-robin, so that a run with many requests does not delay the others.
 */
import { Clock, Deferred, Duration, Effect, Option } from "effect"
import type { Scope } from "effect"
import { StartRate } from "./StartRate.ts"

export type Turn = { readonly _tag: "Go" } | { readonly _tag: "Later"; readonly retryAfterMillis: number }

export interface ProviderTurns {
  /**
   * Returns `Go` when a request may start. Returns `Later`, with the rest of a pause, when the wait would exceed or has exceeded
   * `maxWaitMillis`. An interrupted caller leaves the queue.
   */
  readonly take: (run: string, rps: number | undefined, maxWaitMillis: number) => Effect.Effect<Turn>
  /** Starts no requests during this time. */
  readonly pause: (millis: number) => Effect.Effect<void>
  /** Number of waiting requests. */
  readonly waiting: () => number
}

/** Waiting requests by run, served round-robin. */
class Rounds {
  readonly #runs = new Map<string, Set<Deferred.Deferred<void>>>()
  #size = 0

  get size(): number {
    return this.#size
  }
  add(run: string, turn: Deferred.Deferred<void>): void {
    const known = this.#runs.get(run)
    if (known === undefined) this.#runs.set(run, new Set([turn]))
    else known.add(turn)
    this.#size++
  }
  remove(run: string, turn: Deferred.Deferred<void>): void {
    const turns = this.#runs.get(run)
    if (turns?.delete(turn) !== true) return
    this.#size--
    if (turns.size === 0) this.#runs.delete(run)
  }
  /** Takes the oldest request of the next run and moves the run to the end of the round. */
  next(): Deferred.Deferred<void> | undefined {
    const [first] = this.#runs
    const turn = first?.[1].values().next().value
    if (first === undefined || turn === undefined) return undefined
    const [run, turns] = first
    this.remove(run, turn)
    if (this.#runs.delete(run)) this.#runs.set(run, turns)
    return turn
  }
}

export const makeProviderTurns: Effect.Effect<ProviderTurns, never, Scope.Scope> = Effect.gen(function* () {
  const scope = yield* Effect.scope
  const rounds = new Rounds()
  const rate = new StartRate()
  let isServing = false

  const serve = Effect.gen(function* () {
    while (rounds.size > 0) {
      const now = yield* Clock.currentTimeMillis
      const wait = rate.startAt() - now
      if (wait > 0) {
        yield* Effect.sleep(Math.ceil(wait))
        continue
      }
      const turn = rounds.next()
      if (turn === undefined) continue
      rate.started(now, rounds.size > 0)
      yield* Deferred.succeed(turn, undefined)
    }
    isServing = false
  })

  return {
    waiting: () => rounds.size,
    pause: Effect.fnUntraced(function* (millis) {
      rate.pause(millis, yield* Clock.currentTimeMillis)
    }),
    take: Effect.fnUntraced(function* (run, rps, maxWaitMillis) {
      rate.set(rps)
      const now = yield* Clock.currentTimeMillis
      if (rounds.size === 0 && rate.startAt() <= now) {
        rate.started(now, false)
        return go
      }
      if (rate.pauseMillis(now) > maxWaitMillis) return later(rate.pauseMillis(now))
      const turn = Deferred.makeUnsafe<void>()
      rounds.add(run, turn)
      if (!isServing) {
        isServing = true
        yield* Effect.forkIn(serve, scope)
      }
      const came = yield* Deferred.await(turn).pipe(
        Effect.timeoutOption(Duration.millis(maxWaitMillis)),
        Effect.ensuring(Effect.sync(() => rounds.remove(run, turn)))
      )
      return Option.isSome(came) ? go : later(rate.pauseMillis(yield* Clock.currentTimeMillis))
    })
  }
})

const go: Turn = { _tag: "Go" }
const later = (retryAfterMillis: number): Turn => ({ _tag: "Later", retryAfterMillis })
