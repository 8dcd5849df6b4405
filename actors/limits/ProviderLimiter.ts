/**
 * Decides when a request to a model provider may start, one actor per provider for all nodes: it holds the permits of calls that are
 * executed, the concurrency that the provider has been seen to take, the rate (`queue.rate_limit.per_provider_rps`) and requested
 * pauses. Its state is small and may be lost: a node that takes over learns of held permits when their holders renew them, and of a
 * limit or a pause with the next refusal. A permit of a dead node expires.
 *
 * Messages: `Acquire` (replies when the request may start, or with `Later` when that takes too long), `Release` (also of a permit that
 * is still waited for), `Pause` (a response reported an exhausted rate limit), `Renew`, and those of operators: `Inspect` and `Resume`. The sender chooses the id of a permit. Each may be lost or repeated.
 */
import { Duration, Effect, Layer, Schema } from "effect"
import { ClusterSchema, Entity } from "effect/cluster"
import { Rpc } from "effect/rpc"
import { Limiter, makeLimiter } from "../../src/llm/Limiter.ts"
import { makeProviderPermits } from "../../src/llm/ProviderPermits.ts"
import { ProviderState, ProviderStates } from "../../src/llm/ProviderStates.ts"
import { logFailure } from "../../src/observability/LimitedWarnings.ts"
import { countStart } from "../ActorStarts.ts"
import { everyOne } from "../Placement.ts"

const Acquire = Rpc.make("Acquire", {
  payload: {
    id: Schema.String,
    run: Schema.String,
    expectedCalls: Schema.Number,
    rps: Schema.UndefinedOr(Schema.Number),
    maxWaitMillis: Schema.Number
  },
  success: Schema.Union([
    Schema.TaggedStruct("Granted", {}),
    Schema.TaggedStruct("Later", { retryAfterMillis: Schema.Number })
  ])
})
const Release = Rpc.make("Release", {
  payload: {
    id: Schema.String,
    kind: Schema.Literals(["answered", "throttled", "failed"]),
    retryAfterMillis: Schema.UndefinedOr(Schema.Number),
    error: Schema.UndefinedOr(Schema.String),
    tokens: Schema.UndefinedOr(Schema.Number)
  }
})
const Pause = Rpc.make("Pause", { payload: { millis: Schema.Number } })
const Renew = Rpc.make("Renew", { payload: { ids: Schema.Array(Schema.String) } })
const Inspect = Rpc.make("Inspect", { success: ProviderState })
const Resume = Rpc.make("Resume", {})

export const ProviderLimiter = Entity.make("ProviderLimiter", [
  Acquire,
  Release,
  Pause,
  Renew,
  Inspect,
  Resume
]).annotate(ClusterSchema.ShardGroup, everyOne("actors"))

export const layer = ProviderLimiter.toLayer(
  Effect.gen(function* () {
    yield* countStart("ProviderLimiter")
    const permits = yield* makeProviderPermits
    return ProviderLimiter.of({
      Acquire: ({ payload: { id, ...request } }) => permits.acquire(id, request),
      Release: ({ payload: { id, ...result } }) => permits.release(id, result),
      Pause: ({ payload: { millis } }) => permits.pause(millis),
      Renew: ({ payload: { ids } }) => permits.renew(ids),
      Inspect: () => permits.state,
      Resume: () => permits.resume
    })
  }),
  // Waiting requests do not block new ones. The calls of the last hour are counted.
  { concurrency: "unbounded", disableFatalDefects: true, mailboxCapacity: 4096, maxIdleTime: "70 minutes" }
)

/** Added to the requested timeout: round trip, and takeover by another node. */
const slackMillis = 15_000

/** Time after which `Release` is sent again, and `Pause`, whose sender does not depend on it, is given up. */
const noticeTimeout = Duration.seconds(2)

/** Implements the gateway's limiter with these actors. */
export const limiterLayer = Layer.effect(
  Limiter,
  Effect.gen(function* () {
    const clientOf = yield* ProviderLimiter.client
    return yield* makeLimiter({
      acquire: (provider, id, request) =>
        clientOf(provider)
          .Acquire({ id, ...request })
          .pipe(
            Effect.timeoutOrElse({
              duration: Duration.millis(request.maxWaitMillis + slackMillis),
              orElse: () => Effect.succeed({ _tag: "Later", retryAfterMillis: slackMillis } as const)
            }),
            Effect.catch((error) =>
              Effect.as(logFailure("provider limiter unavailable", { provider }, { about: provider })(error), {
                _tag: "Later",
                retryAfterMillis: slackMillis
              } as const)
            )
          ),
      release: (provider, id, { error, kind, retryAfterMillis, tokens }) =>
        clientOf(provider).Release({ id, kind, retryAfterMillis, error, tokens }).pipe(Effect.timeout(noticeTimeout)),
      pause: (provider, millis) =>
        clientOf(provider)
          .Pause({ millis })
          .pipe(
            Effect.timeoutOption(noticeTimeout),
            Effect.catch(logFailure("pause of a provider not shared", { provider }, { about: provider }))
          ),
      renew: (provider, ids) =>
        Effect.catch(
          clientOf(provider).Renew({ ids }),
          logFailure("permits of a provider not renewed", { provider }, { about: provider })
        )
    })
  })
)

/** Reads and resumes providers for operators by these actors. An actor that does not reply is logged, and its provider has no state. */
export const statesLayer = Layer.effect(
  ProviderStates,
  Effect.gen(function* () {
    const clientOf = yield* ProviderLimiter.client
    const logMissing = (provider: string, error: { readonly message: string }) =>
      Effect.logWarning("state of a provider not read", { provider, error: error.message })
    return ProviderStates.of({
      read: (provider) =>
        clientOf(provider)
          .Inspect()
          .pipe(
            Effect.timeout(noticeTimeout),
            Effect.catch((error) => Effect.as(logMissing(provider, error), undefined))
          ),
      resume: (provider) =>
        clientOf(provider)
          .Resume()
          .pipe(
            Effect.timeout(noticeTimeout),
            Effect.as(true),
            Effect.catch((error) => Effect.as(logMissing(provider, error), false))
          )
    })
  })
)
