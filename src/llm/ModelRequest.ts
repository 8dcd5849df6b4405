/**
 * Sends one request to a model over AI SDK 7, bounded by the provider's `timeout_ms`. The SDK's own retries are disabled; an
 * interrupt aborts it.
 */
import { generateText, NoSuchToolError } from "ai"
import { Clock, Duration, Effect } from "effect"
import type { LlmProvider, ModelEntry } from "../config/schema/Llm.ts"
import type { ModelSpec } from "./catalog/ModelRecord.ts"
import { modelKey } from "./Chain.ts"
import type { makeConnections } from "./Connections.ts"
import { toAnswer, toPrompt, toTools } from "./Conversation.ts"
import { effortFor } from "./Effort.ts"
import { classify, failure } from "./Failure.ts"
import type { GatewayRequest } from "./Gateway.ts"
import { costUsd } from "./Pricing.ts"
import { listSecrets } from "./ProviderSettings.ts"
import type { ProviderSettings } from "./ProviderSettings.ts"
import { resolveToolName } from "./ToolNames.ts"

// Its warnings go to stdout, which belongs to the program's output.
globalThis.AI_SDK_LOG_WARNINGS = false

/** Default timeout of one attempt without `timeout_ms`: long reasoning responses arrive as a whole, not streamed. */
const attemptMillis = 300_000

export type Connect = ReturnType<typeof makeConnections>

/** A model of a chain, with its provider and its record in the catalog. */
export interface ConfiguredModel {
  readonly entry: ModelEntry
  readonly settings: ProviderSettings
  readonly spec: ModelSpec
}

/**
 * The configured limit is always sent. The limit of the catalog is sent only if the protocol requires one, because other servers
 * count it against the context window.
 */
const outputLimit = (config: LlmProvider, { maxOutputTokens }: ModelSpec): number | undefined =>
  config.max_output_tokens ?? (demandsOutput.has(config.kind) ? maxOutputTokens : undefined)
const demandsOutput: ReadonlySet<LlmProvider["kind"]> = new Set(["anthropic", "bedrock", "vertex_ai"])

/** Sends the request once. Fails with the provider's error, or with `timeout`. */
export const sendRequest = Effect.fnUntraced(function* (
  connect: Connect,
  request: GatewayRequest,
  { entry, settings, spec }: ConfiguredModel
) {
  const { config } = settings
  const now = yield* Clock.currentTimeMillis
  const timeout = config.timeout_ms ?? attemptMillis
  const maxOutputTokens = outputLimit(config, spec)
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
    catch: (error) => classify(error, listSecrets(settings), now)
  }).pipe(
    Effect.timeoutOrElse({
      duration: Duration.millis(timeout),
      orElse: () => Effect.fail(failure("timeout", `no response within ${timeout} ms`))
    })
  )
  if (result.finishReason === "content-filter") {
    return yield* Effect.fail(failure("refused", "the model refused the request"))
  }
  const answer = toAnswer(result, modelKey(entry), request.tools)
  return { ...answer, usage: { ...answer.usage, costUsd: costUsd(spec.price, answer.usage) } }
})
