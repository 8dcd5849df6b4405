/**
 * The gateway over AI SDK 7: walks the models of a chain, asks each as often as the retry policy allows, and tells apart what
 * helps (Failure.ts). The SDK's own retries are off. One attempt is bounded by the provider's `timeout_ms`, all attempts at one
 * model by `give_up_after_seconds`, the whole call by the request's deadline; interrupting the call aborts the request.
 */
import { generateText, NoSuchToolError } from "ai"
import { Clock, Duration, Effect, Layer, Random } from "effect"
import type { ModelEntry } from "../config/schema/Llm.ts"
import { candidates, modelKey } from "./Chain.ts"
import { toAnswer, toPrompt, toTools } from "./Conversation.ts"
import { classify, failure } from "./Failure.ts"
import type { Failure } from "./Failure.ts"
import { Gateway, GatewayError } from "./Gateway.ts"
import type { GatewayAnswer, GatewayRequest } from "./Gateway.ts"
import { Limiter } from "./Limiter.ts"
import { measured } from "./Measured.ts"
import { costUsd } from "./Pricing.ts"
import { providerProblem, providerRow } from "./Providers.ts"
import type { Connection } from "./ProviderRow.ts"
import { providerSettings, secretsOf } from "./ProviderSettings.ts"
import type { ProviderSettings } from "./ProviderSettings.ts"
import { delayMillis, retryPolicy } from "./RetryPolicy.ts"
import { resolveToolName } from "./ToolNames.ts"
import { Transport } from "./Transport.ts"

// Its warnings go to stdout, which belongs to the program's output.
globalThis.AI_SDK_LOG_WARNINGS = false

/** Time for one attempt where the provider sets no `timeout_ms`: long reasoning answers arrive whole, not streamed. */
const attemptMillis = 300_000

/** Fewest characters per token that any tokenizer reaches on a whole prompt: a longer prompt cannot fit. */
const mostCharsPerToken = 8

type Answer = Omit<GatewayAnswer, "fallbacks">

export const gatewayLayer: Layer.Layer<Gateway> = Layer.effect(
  Gateway,
  Effect.gen(function* () {
    const transport = yield* Transport
    const limiter = yield* Limiter
    const connections = new WeakMap<object, Promise<Connection>>()

    const connect = (settings: ProviderSettings): Promise<Connection> => {
      const known = connections.get(settings.config)
      if (known !== undefined) return known
      const made = providerRow(settings.config.kind).connect(settings, transport.httpFor(settings))
      connections.set(settings.config, made)
      // What is mended outside the configuration, such as a key file, counts with the next call.
      made.catch(() => connections.delete(settings.config))
      return made
    }

    const attempt = Effect.fnUntraced(function* (
      request: GatewayRequest,
      entry: ModelEntry,
      settings: ProviderSettings
    ) {
      const { llm, queue } = request.snapshot.document
      const { config } = settings
      yield* limiter.acquire(config.id, queue.rate_limit.per_provider_rps?.[config.id])
      const now = yield* Clock.currentTimeMillis
      const timeout = config.timeout_ms ?? attemptMillis
      const result = yield* Effect.tryPromise({
        try: async (signal) => {
          const connection = await connect(settings)
          const tools = toTools(request.tools)
          return await generateText({
            model: connection.model(entry.model),
            maxRetries: 0,
            abortSignal: signal,
            ...toPrompt(request, modelKey(entry), connection.cacheMark?.(entry.model)),
            ...(request.tools.length === 0 ? {} : { tools }),
            ...(config.max_output_tokens === undefined ? {} : { maxOutputTokens: config.max_output_tokens }),
            providerOptions: connection.options,
            repairToolCall: ({ toolCall, error }) => {
              const name = NoSuchToolError.isInstance(error)
                ? resolveToolName(toolCall.toolName, Object.keys(tools))
                : undefined
              return Promise.resolve(name === undefined ? null : { ...toolCall, toolName: name })
            }
          })
        },
        catch: (error) => classify(error, secretsOf(settings), now)
      }).pipe(
        Effect.timeoutOrElse({
          duration: Duration.millis(timeout),
          orElse: () => Effect.fail(failure("timeout", `no answer within ${timeout} ms`))
        })
      )
      if (result.finishReason === "content-filter") {
        return yield* Effect.fail(failure("refused", "the model refused to answer"))
      }
      const answer = toAnswer(result, modelKey(entry), request.tools)
      return { ...answer, usage: { ...answer.usage, costUsd: costUsd(llm, config, entry.model, answer.usage) } }
    })

    const ask = Effect.fnUntraced(function* (
      request: GatewayRequest,
      entry: ModelEntry
    ): Effect.fn.Return<Answer, Failure> {
      const { llm } = request.snapshot.document
      const config = llm.providers.find(({ id }) => id === entry.provider)
      if (config === undefined) return yield* Effect.fail(failure("not_configured", "no provider with this id"))
      const settings = providerSettings(config, request.snapshot)
      const problem = providerProblem(settings)
      if (problem !== undefined) return yield* Effect.fail(failure("not_configured", problem))
      const window = config.context_window
      if (window !== undefined && characters(request) > window * mostCharsPerToken) {
        return yield* Effect.fail(failure("overflow", `the prompt cannot fit the context window of ${window} tokens`))
      }

      const policy = retryPolicy(llm, config.id)
      const started = yield* Clock.currentTimeMillis
      for (let number = 1; ; number++) {
        const left = policy.giveUpMillis === undefined ? undefined : started + policy.giveUpMillis
        const counted = measured({ provider: entry.provider, model: entry.model }, attempt(request, entry, settings))
        const outcome = yield* counted.pipe(until(left), Effect.result)
        if (outcome._tag === "Success") return outcome.success
        const failed = outcome.failure
        const wait = delayMillis(policy, number, failed.retryAfterMillis, yield* Random.next)
        const now = yield* Clock.currentTimeMillis
        if (!failed.repeat || number >= policy.maxAttempts || (left !== undefined && now + wait >= left)) {
          return yield* Effect.fail(failed)
        }
        yield* Effect.logDebug("model call failed, asking again").pipe(
          Effect.annotateLogs({ model: modelKey(entry), attempt: number, wait, reason: failed.message })
        )
        yield* Effect.sleep(Duration.millis(wait))
      }
    })

    const call = Effect.fn("llm.call")(function* (request: GatewayRequest) {
      const chain = candidates(request.snapshot.document.llm, request)
      if (chain.length === 0) return yield* noModel(request)
      const deadline = (yield* Clock.currentTimeMillis) + request.deadlineMillis
      const left: Array<{ readonly model: string; readonly failed: Failure }> = []
      for (const entry of chain) {
        const outcome = yield* ask(request, entry).pipe(until(deadline), Effect.result)
        if (outcome._tag === "Success") {
          return {
            ...outcome.success,
            fallbacks: left.map(({ model, failed }) => ({ model, reason: `${failed.kind}: ${failed.message}` }))
          }
        }
        left.push({ model: modelKey(entry), failed: outcome.failure })
        yield* Effect.logWarning("model left").pipe(
          Effect.annotateLogs({ model: modelKey(entry), kind: outcome.failure.kind, reason: outcome.failure.message })
        )
        if (!outcome.failure.next || (yield* Clock.currentTimeMillis) >= deadline) break
      }
      return yield* exhausted(left)
    })

    return Gateway.of({ call })
  })
).pipe(Layer.provide([Transport.layer, Limiter.layer]))

/** Fails with `timeout` at this point in time. */
const until =
  (time: number | undefined) =>
  <A, E>(effect: Effect.Effect<A, E>): Effect.Effect<A, E | Failure> =>
    time === undefined
      ? effect
      : Effect.flatMap(Clock.currentTimeMillis, (now) =>
          Effect.timeoutOrElse(effect, {
            duration: Duration.millis(Math.max(0, time - now)),
            orElse: () => Effect.fail(failure("timeout", "the time for this call is used up"))
          })
        )

const characters = (request: GatewayRequest): number =>
  request.messages.reduce(
    (sum, message) =>
      sum +
      (message.role === "tool"
        ? message.results.reduce((all, { output }) => all + output.length, 0)
        : message.text.length),
    request.system.length
  )

const noModel = (request: GatewayRequest): GatewayError =>
  request.avoid !== undefined && request.avoid.length > 0
    ? new GatewayError({ reason: "invalid", message: `every model of the group "${request.group}" was tried` })
    : new GatewayError({
        reason: "not_configured",
        message: `llm.model_chain has no group "${request.group}"; add it, or name another in llm.default_model_chain`
      })

/** The reason is one that may pass, if there is one: trying the chain again later can then help. */
const exhausted = (left: ReadonlyArray<{ readonly model: string; readonly failed: Failure }>): GatewayError => {
  const passing = left.filter(({ failed }) => ["rate_limited", "unavailable", "timeout"].includes(failed.kind))
  const last = passing[0] ?? left.at(-1)
  const waits = passing.flatMap(({ failed }) =>
    failed.retryAfterMillis === undefined ? [] : [failed.retryAfterMillis]
  )
  return new GatewayError({
    reason: last?.failed.kind ?? "not_configured",
    message: left.map(({ model, failed }) => `${model}: ${failed.message}`).join("; "),
    ...(waits.length === 0 ? {} : { retryAfterMillis: Math.min(...waits) })
  })
}
