/**
 * One per model provider, for all nodes: when a request may start. It holds the rate (`queue.rate_limit.per_provider_rps`) and
 * the pauses that a provider asked for, and serves the runs that wait in turn. Its state is small and may be lost: a node that
 * takes over starts with a fresh second and learns of a pause with the next refusal.
 *
 * Messages: `Acquire` (answered when the turn comes, or with `Later` when that takes too long), `Pause`.
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
  // Those who wait do not hold up those who come.
  { concurrency: "unbounded", disableFatalDefects: true, mailboxCapacity: 4096, maxIdleTime: "30 minutes" }
)

/** Beyond what was asked for: the way there and back, and a node that takes over. */
const slackMillis = 15_000

/** The gateway's limiter over these actors. */
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
