/**
 * Permits for one provider. A permit is held for the duration of a call: there are as many as the provider has been seen to take
 * (LearntConcurrency.ts), at most `rps` start per second (with a burst of one second's worth), and none during a pause that the
 * provider requested. Of waiting runs, every second permit goes to the one that expects the fewest calls, the
 * others round-robin, so that neither a long nor a short run waits for all the others.
 */
import { Clock, Deferred, Duration, Effect, Random } from "effect"
import type { Scope } from "effect"
import { LearntConcurrency } from "./permits/LearntConcurrency.ts"
import { RecentCalls } from "./permits/RecentCalls.ts"
import { StartRate } from "./permits/StartRate.ts"
import { WaitingRuns } from "./permits/WaitingRuns.ts"
import type { ProviderState } from "./ProviderStates.ts"

export type Permit = { readonly _tag: "Granted" } | { readonly _tag: "Later"; readonly retryAfterMillis: number }

export interface PermitRequest {
  readonly run: string
  /** Calls that the run expects to make. */
  readonly expectedCalls: number
  readonly rps: number | undefined
  readonly maxWaitMillis: number
}

/** Result of the call of a permit. `throttled`: the provider refused it, because it is overloaded or limits the rate. */
export interface CallResult {
  readonly kind: "answered" | "throttled" | "failed"
  readonly retryAfterMillis?: number | undefined
  /** Class of the failure; absent for a response, and for a call that was interrupted. */
  readonly error?: string | undefined
  readonly tokens?: number | undefined
}

export interface ProviderPermits {
  /**
   * Returns `Granted` when a request may start. Returns `Later`, with the rest of a pause, when the wait would exceed or has
   * exceeded `maxWaitMillis`. The caller chooses the id, so that it can release a permit whose grant it never received. An
   * interrupted caller leaves the queue; it has to release the id as well.
   */
  readonly acquire: (id: string, request: PermitRequest) => Effect.Effect<Permit>
  /** Ends a permit, also one that is still waited for. Unknown ids are ignored. */
  readonly release: (id: string, result: CallResult) => Effect.Effect<void>
  /** Lets no request start for this time, plus jitter, because the provider reported an exhausted rate limit. */
  readonly pause: (millis: number) => Effect.Effect<void>
  /** Extends held permits, also of a provider whose permits were lost with another node. */
  readonly renew: (ids: ReadonlyArray<string>) => Effect.Effect<void>
  /** Ends a pause, so that the next calls start. */
  readonly resume: Effect.Effect<void>
  readonly state: Effect.Effect<ProviderState>
  /** Number of waiting requests. */
  readonly waiting: () => number
  readonly held: () => number
}

/** A permit that is not renewed for this time belongs to a node that has died. */
export const permitTtlMillis = 20_000

/** Pause after a refusal without Retry-After: doubles with each refusal in sequence, with jitter. */
const basePauseMillis = 500
const maxPauseMillis = 30_000
/** Part by which a pause until the reset of a rate limit is lengthened at most. */
const pauseJitter = 0.1

/** Permits that are held, each until its holder stops to renew it. */
class HeldPermits {
  readonly #held = new Map<string, { expiresAt: number; readonly generation: number }>()

  get size(): number {
    return this.#held.size
  }
  has(id: string): boolean {
    return this.#held.has(id)
  }
  hold(id: string, generation: number, now: number): void {
    this.#held.set(id, { expiresAt: now + permitTtlMillis, generation })
  }
  renew(id: string, generation: number, now: number): void {
    const known = this.#held.get(id)
    if (known === undefined) this.hold(id, generation, now)
    else known.expiresAt = now + permitTtlMillis
  }
  /** Returns the generation in which the permit was granted. */
  release(id: string): number | undefined {
    const generation = this.#held.get(id)?.generation
    this.#held.delete(id)
    return generation
  }
  expire(now: number): void {
    for (const [id, { expiresAt }] of this.#held) if (expiresAt <= now) this.#held.delete(id)
  }
}

interface State {
  readonly waiting: WaitingRuns
  readonly held: HeldPermits
  readonly rate: StartRate
  readonly learnt: LearntConcurrency
  readonly recent: RecentCalls
  /** Refusals without a response since then. */
  refusals: number
  isServing: boolean
  /** Completes when a permit is released, or a pause is ended. */
  released: Deferred.Deferred<void>
}

export const makeProviderPermits: Effect.Effect<ProviderPermits, never, Scope.Scope> = Effect.gen(function* () {
  const scope = yield* Effect.scope
  const state: State = {
    waiting: new WaitingRuns(),
    held: new HeldPermits(),
    rate: new StartRate(),
    learnt: new LearntConcurrency(),
    recent: new RecentCalls(yield* Clock.currentTimeMillis),
    refusals: 0,
    isServing: false,
    released: Deferred.makeUnsafe<void>()
  }
  const { held, learnt, rate, recent, waiting } = state
  return {
    waiting: () => waiting.size,
    held: () => held.size,
    acquire: (id, request) => acquire(state, scope, id, request),
    release: Effect.fnUntraced(function* (id, result) {
      waiting.remove(id)
      const inFlight = held.size
      const generation = held.release(id)
      if (generation !== undefined && result.kind === "answered") learnt.answered(inFlight)
      if (generation !== undefined && result.kind === "throttled") learnt.throttled(inFlight, generation)
      state.refusals = result.kind === "answered" ? 0 : state.refusals + (result.kind === "throttled" ? 1 : 0)
      const now = yield* Clock.currentTimeMillis
      const { error, kind, retryAfterMillis, tokens = 0 } = result
      if (kind === "answered" || error !== undefined) recent.add(now, tokens, error)
      const pause = pauseMillis(state, result, yield* Random.next)
      if (pause > 0) rate.pause(pause, now, retryAfterMillis === undefined ? "refusals" : "requested")
      yield* wake(state)
    }),
    pause: Effect.fnUntraced(function* (millis) {
      rate.pause(millis * (1 + pauseJitter * (yield* Random.next)), yield* Clock.currentTimeMillis, "exhausted")
    }),
    resume: Effect.suspend(() => {
      rate.resume()
      state.refusals = 0
      return Effect.asVoid(wake(state))
    }),
    state: Effect.map(Clock.currentTimeMillis, (now) => {
      held.expire(now)
      const pause = rate.findPause(now)
      return { concurrency: learnt.limit, held: held.size, waiting: waiting.size, pause, ...recent.summarize(now) }
    }),
    renew: Effect.fnUntraced(function* (ids) {
      const now = yield* Clock.currentTimeMillis
      for (const id of ids) held.renew(id, learnt.generation, now)
    })
  }
})

/** Returns the pause that a result demands: that of the provider, or a growing one while it refuses everything. */
const pauseMillis = ({ held, refusals }: State, { kind, retryAfterMillis }: CallResult, random: number): number => {
  if (retryAfterMillis !== undefined) return retryAfterMillis
  // While other calls are executed, the end of one of them shows that the provider has room.
  if (kind !== "throttled" || held.size > 0) return 0
  return Math.min(maxPauseMillis, basePauseMillis * 2 ** Math.min(refusals, 10)) * (0.5 + random / 2)
}

const wake = (state: State): Effect.Effect<unknown> =>
  Effect.suspend(() => {
    const { released } = state
    state.released = Deferred.makeUnsafe<void>()
    return Deferred.succeed(released, undefined)
  })

const acquire = Effect.fnUntraced(function* (state: State, scope: Scope.Scope, id: string, request: PermitRequest) {
  const { held, rate, waiting } = state
  rate.set(request.rps)
  const now = yield* Clock.currentTimeMillis
  if (waiting.size === 0 && rate.startAt() <= now && hasRoom(state, now)) {
    grant(state, id, now)
    return { _tag: "Granted" } satisfies Permit
  }
  if (rate.pauseMillis(now) > request.maxWaitMillis) return later(rate.pauseMillis(now))
  const granted = Deferred.makeUnsafe<void>()
  waiting.add(request, { id, granted })
  if (!state.isServing) {
    state.isServing = true
    yield* Effect.forkIn(serve(state), scope)
  }
  yield* Deferred.await(granted).pipe(
    Effect.timeoutOption(Duration.millis(request.maxWaitMillis)),
    Effect.ensuring(Effect.sync(() => waiting.remove(id)))
  )
  // The permit may have been granted at the moment of the timeout.
  if (held.has(id)) return { _tag: "Granted" } satisfies Permit
  return later(rate.pauseMillis(yield* Clock.currentTimeMillis))
})

const hasRoom = ({ held, learnt }: State, now: number): boolean => {
  held.expire(now)
  return held.size < learnt.limit
}

const grant = ({ held, learnt, rate, waiting }: State, id: string, now: number): void => {
  rate.started(now, waiting.size > 0)
  held.hold(id, learnt.generation, now)
}

/** Expired permits are looked for at this interval. */
const expiryMillis = 5_000

const serve = Effect.fnUntraced(function* (state: State) {
  const { rate, waiting } = state
  while (waiting.size > 0) {
    const now = yield* Clock.currentTimeMillis
    const wait = rate.startAt() - now
    if (wait > 0) {
      // An operator may end the pause.
      yield* Effect.timeoutOption(Deferred.await(state.released), Duration.millis(Math.ceil(wait)))
      continue
    }
    if (!hasRoom(state, now)) {
      yield* Effect.timeoutOption(Deferred.await(state.released), Duration.millis(expiryMillis))
      continue
    }
    const request = waiting.next()
    if (request === undefined) continue
    grant(state, request.id, now)
    yield* Deferred.succeed(request.granted, undefined)
  }
  state.isServing = false
})

const later = (retryAfterMillis: number): Permit => ({ _tag: "Later", retryAfterMillis })
