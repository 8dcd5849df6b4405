/**
 * Requests per second to one provider from this process (`queue.rate_limit.per_provider_rps`): callers of one provider queue up
 * for start times that lie 1/rps apart. A burst is at most one second's worth.
 */
import { Clock, Context, Effect, Layer } from "effect"

export class Limiter extends Context.Service<
  Limiter,
  {
    /** Returns when a request to the provider may start; an interrupted caller gives its place up only to later ones. */
    readonly acquire: (provider: string, rps: number | undefined) => Effect.Effect<void>
  }
>()("aicr/llm/Limiter") {
  static readonly layer = Layer.sync(Limiter, () => {
    // The theoretical time of the next request per provider (GCRA): one number instead of a refilled bucket.
    const next = new Map<string, number>()
    return Limiter.of({
      acquire: Effect.fnUntraced(function* (provider, rps) {
        if (rps === undefined) return
        const now = yield* Clock.currentTimeMillis
        const interval = 1000 / rps
        const burst = Math.max(0, 1000 - interval)
        const slot = Math.max(next.get(provider) ?? 0, now)
        next.set(provider, slot + interval)
        const wait = slot - burst - now
        if (wait > 0) yield* Effect.sleep(Math.ceil(wait))
      })
    })
  })
}
