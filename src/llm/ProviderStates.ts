/** Returns the state of the limiter of a provider, for operators. */
import { Context, Effect, Layer, Schema } from "effect"

/** Cause of a pause: a refusal named the time, refusals without one made it longer, or a response reported an exhausted rate limit. */
export const PauseCause = Schema.Literals(["requested", "refusals", "exhausted"])
export type PauseCause = typeof PauseCause.Type

/** Times are milliseconds since the epoch. */
export const ProviderState = Schema.Struct({
  /** Number of calls that may be executed at the same time: what the provider has been seen to take. */
  concurrency: Schema.Int,
  /** Calls that are executed, and requests that wait. */
  held: Schema.Int,
  waiting: Schema.Int,
  pause: Schema.UndefinedOr(Schema.Struct({ until: Schema.Int, cause: PauseCause })),
  /** Time from which calls are counted: at most the last hour. */
  countedSince: Schema.Int,
  responses: Schema.Int,
  /** Number of failures by their class. */
  errors: Schema.Record(Schema.String, Schema.Int),
  tokensPerMinute: Schema.Int
})
export type ProviderState = typeof ProviderState.Type

export class ProviderStates extends Context.Service<
  ProviderStates,
  {
    /** Returns undefined if the limiter of the provider does not reply. */
    readonly read: (provider: string) => Effect.Effect<ProviderState | undefined>
    /** Ends a pause of a provider: waiting calls start. Returns whether its limiter replied. */
    readonly resume: (provider: string) => Effect.Effect<boolean>
  }
>()("aicr/llm/ProviderStates") {
  /** States where no actors run. */
  static readonly layerNone = Layer.succeed(
    ProviderStates,
    ProviderStates.of({ read: () => Effect.undefined, resume: () => Effect.succeed(false) })
  )
}
