/**
 * Grants permits for requests to a provider: by `queue.rate_limit.per_provider_rps`, and after pauses that the provider requested
 * by Retry-After, which apply to all its users.
 */
import { Context, Effect, Layer, Scope } from "effect"
import { makeProviderTurns } from "./ProviderTurns.ts"
import type { ProviderTurns, Turn } from "./ProviderTurns.ts"

export interface TurnAsked {
  readonly provider: string
  readonly rps: number | undefined
  readonly run: string
  readonly maxWaitMillis: number
}

export class Limiter extends Context.Service<
  Limiter,
  {
    /** Waits for a permit for a request of this run, or returns that the wait would be too long; see ProviderTurns. */
    readonly acquire: (asked: TurnAsked) => Effect.Effect<Turn>
    readonly pause: (provider: string, millis: number) => Effect.Effect<void>
  }
>()("aicr/llm/Limiter") {
  /** Limiter of this process only. */
  static readonly layerMemory = Layer.effect(
    Limiter,
    Effect.gen(function* () {
      const scope = yield* Effect.scope
      const providers = new Map<string, ProviderTurns>()
      const getPermits = Effect.fnUntraced(function* (provider: string) {
        const known = providers.get(provider)
        if (known !== undefined) return known
        const made = yield* Effect.provideService(makeProviderTurns, Scope.Scope, scope)
        providers.set(provider, made)
        return made
      })
      return Limiter.of({
        acquire: ({ provider, rps, run, maxWaitMillis }) =>
          Effect.flatMap(getPermits(provider), (turns) => turns.take(run, rps, maxWaitMillis)),
        pause: (provider, millis) => Effect.flatMap(getPermits(provider), (turns) => turns.pause(millis))
      })
    })
  )
}
