/**
 * Grants permits for requests to a provider: by the concurrency that it has been seen to take, by
 * `queue.rate_limit.per_provider_rps`, and after pauses that the provider requested, which apply to all its users.
 *
 * A permit exists only within `withPermit`, so a caller cannot keep one, whenever it is interrupted.
 */
import { Context, Effect, Latch, Layer, Schedule, Scope } from "effect"
import type { Exit } from "effect"
import { newId } from "../domain/Ids.ts"
import { logFailure, onFirst } from "../observability/LimitedWarnings.ts"
import { makeProviderPermits, permitTtlMillis } from "./ProviderPermits.ts"
import type { CallResult, Permit, PermitRequest, ProviderPermits } from "./ProviderPermits.ts"

/** Result of an effect that needed a permit. `Later`: it was not run, because the wait would be too long. */
export type Permitted<A> = { readonly _tag: "Ended"; readonly value: A } | Extract<Permit, { readonly _tag: "Later" }>

export class Limiter extends Context.Service<
  Limiter,
  {
    /**
     * Waits for a permit for a request of this run, and runs `use` with it; see ProviderPermits. `toResult` derives from the end
     * of `use` what it shows about the limits of the provider. Waiting and `use` are interruptible.
     */
    readonly withPermit: <A, E, R>(
      provider: string,
      request: PermitRequest,
      use: Effect.Effect<A, E, R>,
      toResult: (exit: Exit.Exit<A, E>) => CallResult
    ) => Effect.Effect<Permitted<A>, E, R>
    /** Lets no request to the provider start until a rate limit that it reported as exhausted is reset. */
    readonly pause: (provider: string, millis: number) => Effect.Effect<void>
  }
>()("aicr/llm/Limiter") {
  /** Limiter of this process only. */
  static readonly layerMemory = Layer.effect(
    Limiter,
    Effect.gen(function* () {
      const scope = yield* Effect.scope
      const providers = new Map<string, ProviderPermits>()
      const getPermits = Effect.fnUntraced(function* (provider: string) {
        const known = providers.get(provider)
        if (known !== undefined) return known
        const made = yield* Effect.provideService(makeProviderPermits, Scope.Scope, scope)
        providers.set(provider, made)
        return made
      })
      return yield* makeLimiter({
        acquire: (provider, id, request) =>
          Effect.flatMap(getPermits(provider), (permits) => permits.acquire(id, request)),
        release: (provider, id, result) =>
          Effect.flatMap(getPermits(provider), (permits) => permits.release(id, result)),
        pause: (provider, millis) => Effect.flatMap(getPermits(provider), (permits) => permits.pause(millis)),
        renew: (provider, ids) => Effect.flatMap(getPermits(provider), (permits) => permits.renew(ids))
      })
    })
  )
}

/** Source of permits: this process, or the actors of the providers. The limiter chooses the ids. */
interface PermitSource {
  readonly acquire: (provider: string, id: string, request: PermitRequest) => Effect.Effect<Permit>
  /** Ends a permit, also one that is still waited for. Repeated while it fails. */
  readonly release: (
    provider: string,
    id: string,
    result: CallResult
  ) => Effect.Effect<void, { readonly message: string }>
  readonly pause: (provider: string, millis: number) => Effect.Effect<void>
  readonly renew: (provider: string, ids: ReadonlyArray<string>) => Effect.Effect<void>
}

/** Makes a limiter that renews the permits it holds until they end. */
export const makeLimiter = Effect.fnUntraced(function* (source: PermitSource) {
  const scope = yield* Effect.scope
  const held = new HeldHere()
  yield* Effect.forkScoped(renewal(source, held))
  return Limiter.of({
    pause: (provider, millis) => source.pause(provider, millis),
    withPermit: <A, E, R>(
      provider: string,
      request: PermitRequest,
      use: Effect.Effect<A, E, R>,
      toResult: (exit: Exit.Exit<A, E>) => CallResult
    ) =>
      Effect.uninterruptibleMask((restore) =>
        Effect.suspend(() => {
          const id = newId()
          let result: CallResult = { kind: "failed" }
          const used = restore(use).pipe(
            Effect.onExit((exit) =>
              Effect.sync(() => {
                result = toResult(exit)
              })
            ),
            Effect.map((value): Permitted<A> => ({ _tag: "Ended", value }))
          )
          return restore(source.acquire(provider, id, request)).pipe(
            Effect.flatMap((permit): Effect.Effect<Permitted<A>, E, R> => {
              if (permit._tag === "Later") return Effect.succeed(permit)
              // Nothing can interrupt between here and the removal below.
              held.add(provider, id)
              return used
            }),
            Effect.ensuring(
              Effect.suspend(() => {
                held.remove(provider, id)
                // Neither a response nor the stop of a node waits for the source.
                const released = releaseAgain(provider, source.release(provider, id, result))
                return Effect.forkIn(released, scope, { startImmediately: true })
              })
            )
          )
        })
      )
  })
})

/** Repeats a release until the permit has expired: with few permits, an unused one delays all calls. */
const releaseAgain = Effect.fnUntraced(function* (
  provider: string,
  release: Effect.Effect<void, { readonly message: string }>
) {
  const report = logFailure("permit of a provider not released, retry scheduled", { provider }, { about: provider })
  yield* release.pipe(
    Effect.tapError(onFirst(report)),
    Effect.retry(Schedule.spaced("1 second")),
    Effect.timeoutOption(permitTtlMillis),
    Effect.ignore
  )
})

/** Interval at which a node renews the permits that it holds. */
const renewalMillis = permitTtlMillis / 4

const renewal = (source: PermitSource, held: HeldHere): Effect.Effect<never> =>
  held.some.pipe(
    Effect.andThen(Effect.sleep(renewalMillis)),
    Effect.andThen(
      Effect.suspend(() =>
        Effect.forEach(held.list(), ([provider, ids]) => source.renew(provider, ids), { discard: true })
      )
    ),
    Effect.forever
  )

/** Permits that this process holds, by provider. */
class HeldHere {
  readonly #providers = new Map<string, Set<string>>()
  readonly #some = Latch.makeUnsafe()
  /** Waits until there is one. */
  readonly some: Effect.Effect<void> = this.#some.await

  add(provider: string, id: string): void {
    this.#some.openUnsafe()
    const known = this.#providers.get(provider)
    if (known === undefined) this.#providers.set(provider, new Set([id]))
    else known.add(id)
  }
  remove(provider: string, id: string): void {
    const ids = this.#providers.get(provider)
    ids?.delete(id)
    if (ids?.size === 0) this.#providers.delete(provider)
    if (this.#providers.size === 0) this.#some.closeUnsafe()
  }
  list(): ReadonlyArray<readonly [string, ReadonlyArray<string>]> {
    return [...this.#providers].map(([provider, ids]) => [provider, [...ids]])
  }
}
