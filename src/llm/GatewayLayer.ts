/**
 * The gateway over AI SDK 7: walks the models of a chain, asks each as often as the retry policy allows, and tells apart what
 * helps (Failure.ts). The SDK's own retries are off. One attempt is bounded by the provider's `timeout_ms`, all attempts at one
 * model by `give_up_after_seconds`, the whole call by the request's deadline; interrupting the call aborts the request.
 */
import { generateText, NoSuchToolError } from "ai"
import { Clock, Duration, Effect, Layer, Random } from "effect"
import type { LlmProvider, ModelEntry } from "../config/schema/Llm.ts"
import { Budget } from "./Budget.ts"
import { Catalog } from "./catalog/Catalog.ts"
import { layerMemory } from "./catalog/MemoryCatalogCache.ts"
import type { ModelSpec } from "./catalog/ModelRecord.ts"
import { candidates, modelKey } from "./Chain.ts"
import { makeConnections } from "./Connections.ts"
import { toAnswer, toPrompt, toTools } from "./Conversation.ts"
import { effortFor } from "./Effort.ts"
import { Evidence } from "./Evidence.ts"
import type { AskedModel } from "./Evidence.ts"
import { classify, failure } from "./Failure.ts"
import type { Failure } from "./Failure.ts"
import { Gateway, GatewayError } from "./Gateway.ts"
import type { GatewayAnswer, GatewayRequest } from "./Gateway.ts"
import { Limiter } from "./Limiter.ts"
import { measured } from "./Measured.ts"
import { ModelRun } from "./ModelRun.ts"
import { costUsd } from "./Pricing.ts"
import { providerProblem } from "./Providers.ts"
import { providerSettings, secretsOf } from "./ProviderSettings.ts"
import type { ProviderSettings } from "./ProviderSettings.ts"
import { delayMillis, retryPolicy } from "./RetryPolicy.ts"
import { spending } from "./Spending.ts"
import { resolveToolName } from "./ToolNames.ts"
import { Transport } from "./Transport.ts"

// Its warnings go to stdout, which belongs to the program's output.
globalThis.AI_SDK_LOG_WARNINGS = false

/** Time for one attempt where the provider sets no `timeout_ms`: long reasoning answers arrive whole, not streamed. */
const attemptMillis = 300_000

/** A turn at a provider is waited for so long; a longer wait is another model's chance, or the queue's. */
const turnMillis = 60_000

/** Fewest characters per token that any tokenizer reaches on a whole prompt: a longer prompt cannot fit. */
const mostCharsPerToken = 8

type Answer = Omit<GatewayAnswer, "fallbacks">

/** A model that is about to be asked, with everything that is known about it. */
interface Asked {
  readonly entry: ModelEntry
  readonly settings: ProviderSettings
  readonly spec: ModelSpec
}

const make = Effect.gen(function* () {
  const transport = yield* Transport
  const limiter = yield* Limiter
  const catalog = yield* Catalog
  const budget = yield* Budget
  const evidence = yield* Evidence
  const connect = makeConnections(transport)

  const send = Effect.fnUntraced(function* (request: GatewayRequest, { entry, settings, spec }: Asked) {
    const { config } = settings
    const now = yield* Clock.currentTimeMillis
    const timeout = config.timeout_ms ?? attemptMillis
    const maxOutputTokens = askedOutput(config, spec)
    const result = yield* Effect.tryPromise({
      try: async (signal) => {
        const connection = await connect(settings, effortFor(config, spec))
        const tools = toTools(request.tools)
        return await generateText({
          model: connection.model(entry.model),
          maxRetries: 0,
          abortSignal: signal,
          ...toPrompt(request, modelKey(entry), connection.cacheMark?.(entry.model)),
          ...(request.tools.length === 0 ? {} : { tools }),
          ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
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
    return { ...answer, usage: { ...answer.usage, costUsd: costUsd(spec.price, answer.usage) } }
  })

  /** One request: its turn, its money, its measure. A provider's wish for a pause holds for everybody. */
  const attempt = Effect.fnUntraced(function* (request: GatewayRequest, asked: Asked) {
    const { llm, queue } = request.snapshot.document
    const { id } = asked.settings.config
    const run = yield* ModelRun
    const rps = queue.rate_limit.per_provider_rps?.[id]
    const turn = yield* limiter.acquire({ provider: id, rps, run: run.id, maxWaitMillis: turnMillis })
    if (turn._tag === "Later") {
      const message = "the provider asked for a pause, or has too many requests waiting"
      return yield* Effect.fail(failure("rate_limited", message, Math.max(turn.retryAfterMillis, 1000)))
    }
    const at = yield* Clock.currentTimeMillis
    const model = modelKey(asked.entry)
    const kept = (outcome: AskedModel["outcome"]) =>
      Effect.flatMap(Clock.currentTimeMillis, (now) =>
        evidence.record({ run, model, at, millis: now - at, request, outcome })
      )
    return yield* send(request, asked).pipe(
      spending(budget, llm, asked.spec, characters(request)),
      (counted) => measured({ provider: id, model: asked.entry.model }, counted),
      Effect.tap((answer) =>
        kept({ _tag: "Answered", answer: { text: answer.text, calls: answer.calls, usage: answer.usage } })
      ),
      Effect.tapError(({ kind, message }) => kept({ _tag: "Failed", kind, message })),
      Effect.tapError(({ kind, retryAfterMillis }) =>
        retryAfterMillis !== undefined &&
        (kind === "rate_limited" || kind === "unavailable") &&
        retryPolicy(llm, id).respectRetryAfter
          ? limiter.pause(id, retryAfterMillis)
          : Effect.void
      )
    )
  })

  const ask = Effect.fnUntraced(function* (
    request: GatewayRequest,
    entry: ModelEntry,
    deadline: number
  ): Effect.fn.Return<Answer, Failure> {
    const { llm } = request.snapshot.document
    const config = llm.providers.find(({ id }) => id === entry.provider)
    if (config === undefined) return yield* Effect.fail(failure("not_configured", "no provider with this id"))
    const settings = providerSettings(config, request.snapshot)
    const problem = providerProblem(settings)
    if (problem !== undefined) return yield* Effect.fail(failure("not_configured", problem))
    const spec = yield* catalog.spec(llm, config, entry.model)
    const { contextWindow: window } = spec
    if (window !== undefined && characters(request) > window * mostCharsPerToken) {
      return yield* Effect.fail(failure("overflow", `the prompt cannot fit the context window of ${window} tokens`))
    }
    if (spec.toolCall === false && request.tools.length > 0) {
      return yield* Effect.fail(failure("invalid", "the model takes no tools, by its record in the catalog"))
    }

    const policy = retryPolicy(llm, config.id)
    const started = yield* Clock.currentTimeMillis
    for (let number = 1; ; number++) {
      const left = policy.giveUpMillis === undefined ? undefined : started + policy.giveUpMillis
      const outcome = yield* attempt(request, { entry, settings, spec }).pipe(until(left), Effect.result)
      if (outcome._tag === "Success") return outcome.success
      const failed = outcome.failure
      const wait = delayMillis(policy, number, failed.retryAfterMillis, yield* Random.next)
      const now = yield* Clock.currentTimeMillis
      if (!failed.repeat || number >= policy.maxAttempts || now + wait >= Math.min(left ?? deadline, deadline)) {
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
      const outcome = yield* ask(request, entry, deadline).pipe(until(deadline), Effect.result)
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

/** The gateway over whatever keeps catalog, money and turns. */
export const layer: Layer.Layer<Gateway, never, Catalog | Budget | Limiter | Evidence> = Layer.effect(
  Gateway,
  make
).pipe(Layer.provide(Transport.layer))

/** The gateway of one process that does one thing and ends: nothing is shared and nothing outlives it. */
export const gatewayLayer: Layer.Layer<Gateway | Catalog> = layer.pipe(
  Layer.provide([Budget.layerMemory, Limiter.layerMemory, Evidence.layerNone]),
  Layer.provideMerge(Catalog.layerWith({ waits: true }).pipe(Layer.provide(layerMemory)))
)

/**
 * What the configuration says is always sent. What the catalog knows only where the protocol demands a figure: other servers
 * count it against the window.
 */
const askedOutput = (config: LlmProvider, { maxOutputTokens }: ModelSpec): number | undefined =>
  config.max_output_tokens ?? (demandsOutput.has(config.kind) ? maxOutputTokens : undefined)
const demandsOutput: ReadonlySet<LlmProvider["kind"]> = new Set(["anthropic", "bedrock", "vertex_ai"])

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
    request.system.length + (request.tools.length === 0 ? 0 : JSON.stringify(request.tools).length)
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
