/**
 * Decides when a request to a model provider may start, one per provider for all nodes. It holds the rate
 * (`queue.rate_limit.per_provider_rps`) and the pauses that a provider requested, and serves the waiting runs round-robin. Its state is
 * small and may be lost: a node that takes over starts with a fresh second and learns of a pause with the next refusal.
 *
 * Messages: `Acquire` (replies when the request may start, or with `Later` when that takes too long), `Pause`.
 */
import { Duration, Effect, Layer, Schema } from "effect"
import { ClusterSchema, Entity } from "effect/cluster"
import { Rpc } from "effect/rpc"
import { Limiter } from "../src/llm/Limiter.ts"
import { makeProviderTurns } from "../src/llm/ProviderTurns.ts"
import { everyOne } from "./Placement.ts"

const Acquire = Rpc.make("Acquire", {
  payload: { run: Schema.String, rps: Schema.UndefinedOr(Schema.Number), maxWaitMillis: Schema.Number },
  success: Schema.Union([
    Schema.TaggedStruct("Go", {}),
    Schema.TaggedStruct("Later", { retryAfterMillis: Schema.Number })
  ])
})
const Pause = Rpc.make("Pause", { payload: { millis: Schema.Number } })

export const ProviderLimiter = Entity.make("ProviderLimiter", [Acquire, Pause]).annotate(
  ClusterSchema.ShardGroup,
  everyOne("actors")
)

export const layer = ProviderLimiter.toLayer(
  Effect.gen(function* () {
    const turns = yield* makeProviderTurns
    return ProviderLimiter.of({
      Acquire: ({ payload: { run, rps, maxWaitMillis } }) => turns.take(run, rps, maxWaitMillis),
      Pause: ({ payload: { millis } }) => turns.pause(millis)
    })
  }),
  // Waiting requests do not block new ones.
  { concurrency: "unbounded", disableFatalDefects: true, mailboxCapacity: 4096, maxIdleTime: "30 minutes" }
)

/** Added to the requested timeout: round trip, and takeover by another node. */
const slackMillis = 15_000

/** Implements the gateway's limiter with these actors. */
export const limiterLayer = Layer.effect(
  Limiter,
  Effect.gen(function* () {
    const clientOf = yield* ProviderLimiter.client
    return Limiter.of({
      acquire: ({ provider, rps, run, maxWaitMillis }) =>
        clientOf(provider)
          .Acquire({ run, rps, maxWaitMillis })
          .pipe(
            Effect.timeoutOrElse({
              duration: Duration.millis(maxWaitMillis + slackMillis),
              orElse: () => Effect.succeed({ _tag: "Later", retryAfterMillis: slackMillis } as const)
            }),
            Effect.catch((error) =>
              Effect.as(Effect.logWarning("provider limiter unavailable", { provider, error: error.message }), {
                _tag: "Later",
                retryAfterMillis: slackMillis
              } as const)
            )
          ),
      pause: (provider, millis) =>
        Effect.catch(clientOf(provider).Pause({ millis }), (error) =>
          Effect.logWarning("pause of a provider not shared", { provider, error: error.message })
        )
    })
  })
)
