/**
 * When a request to a provider may start: `queue.rate_limit.per_provider_rps`, and pauses that a provider asked for by
 * Retry-After, which hold for everybody who uses it.
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
    /** When a request of this run may start, or that it is not soon; see ProviderTurns. */
    readonly acquire: (asked: TurnAsked) => Effect.Effect<Turn>
    readonly pause: (provider: string, millis: number) => Effect.Effect<void>
  }
>()("aicr/llm/Limiter") {
  /** For this process alone. */
  static readonly layerMemory = Layer.effect(
    Limiter,
    Effect.gen(function* () {
      const scope = yield* Effect.scope
      const providers = new Map<string, ProviderTurns>()
      const turnsOf = Effect.fnUntraced(function* (provider: string) {
        const known = providers.get(provider)
        if (known !== undefined) return known
        const made = yield* Effect.provideService(makeProviderTurns, Scope.Scope, scope)
        providers.set(provider, made)
        return made
      })
      return Limiter.of({
        acquire: ({ provider, rps, run, maxWaitMillis }) =>
          Effect.flatMap(turnsOf(provider), (turns) => turns.take(run, rps, maxWaitMillis)),
        pause: (provider, millis) => Effect.flatMap(turnsOf(provider), (turns) => turns.pause(millis))
      })
    })
  )
}
