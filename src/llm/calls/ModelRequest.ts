/**
 * Sends one request to a model over AI SDK 7 and reads its streamed response. Silence is bounded by Transport.ts, the duration by
 * the caller. The SDK's own retries are disabled; an interrupt aborts the request.
 */
import { NoSuchToolError, streamText, wrapLanguageModel } from "ai"
import { Clock, Effect } from "effect"
import type { ModelEntry } from "../../config/schema/Llm.ts"
import type { ModelSpec } from "../catalog/ModelRecord.ts"
import { modelKey } from "./Chain.ts"
import type { makeConnections } from "../providers/Connections.ts"
import { toResponse, toPrompt, toTools } from "./Conversation.ts"
import { effortFor } from "./Effort.ts"
import { classify, failure } from "./Failure.ts"
import type { GatewayRequest } from "../Gateway.ts"
import { outputLimit } from "./OutputLimit.ts"
import { costUsd } from "./Pricing.ts"
import { promptCharacters } from "./PromptSize.ts"
import { listSecrets } from "../providers/ProviderSettings.ts"
import type { ProviderSettings } from "../providers/ProviderSettings.ts"
import { exhaustedMillis } from "./RateLimitHeaders.ts"
import { ResponseReader } from "./ResponseReader.ts"
import type { Reception } from "./ResponseReader.ts"
import { resolveToolName } from "../ToolNames.ts"

// Its warnings go to stdout, which belongs to the program's output.
globalThis.AI_SDK_LOG_WARNINGS = false

export type Connect = ReturnType<typeof makeConnections>

/** A model of a chain, with its provider and its record in the catalog. */
export interface ConfiguredModel {
  readonly entry: ModelEntry
  readonly settings: ProviderSettings
  readonly spec: ModelSpec
}

/** Starts the request. The SDK reports a refusal as the first part of the stream. */
const start = async (
  connect: Connect,
  request: GatewayRequest,
  { entry, settings, spec }: ConfiguredModel,
  runId: string,
  signal: AbortSignal,
  onHeaders: (headers: Readonly<Record<string, string | undefined>> | undefined) => void
) => {
  const { config } = settings
  const connection = await connect(settings, effortFor(config, spec))
  const tools = toTools(request.tools)
  const model = wrapLanguageModel({
    model: connection.model(entry.model),
    middleware: {
      wrapStream: async ({ doStream }) => {
        const started = await doStream()
        onHeaders(started.response?.headers)
        return started
      }
    }
  })
  return streamText({
    model,
    maxRetries: 0,
    abortSignal: signal,
    ...toPrompt(request, modelKey(entry), connection.cacheMark?.(entry.model)),
    ...(request.tools.length === 0 ? {} : { tools, toolChoice: request.toolChoice ?? "auto" }),
    maxOutputTokens: outputLimit(config, spec, promptCharacters(request)),
    providerOptions: connection.options(runId),
    // They contain the usage of calls that are aborted.
    includeRawChunks: true,
    // The reader of the stream handles errors; the SDK would write them to stderr.
    onError: () => {},
    repairToolCall: ({ toolCall, error }) => {
      const name = NoSuchToolError.isInstance(error)
        ? resolveToolName(toolCall.toolName, Object.keys(tools))
        : undefined
      return Promise.resolve(name === undefined ? null : { ...toolCall, toolName: name })
    }
  })
}

/** Sends the request once. Fails with the provider's error. `receipt` counts what arrives, also if the call fails later. */
export const sendRequest = Effect.fnUntraced(function* (
  connect: Connect,
  request: GatewayRequest,
  model: ConfiguredModel,
  runId: string,
  receipt: Reception
) {
  const { entry, settings, spec } = model
  const clock = yield* Clock.Clock
  const now = clock.currentTimeMillisUnsafe()
  const onHeaders = (headers: Readonly<Record<string, string | undefined>> | undefined): void => {
    const millis = exhaustedMillis(headers, clock.currentTimeMillisUnsafe())
    if (millis !== undefined) receipt.noteExhausted(millis)
  }
  const attempt = <A>(run: () => Promise<A>) =>
    Effect.tryPromise({ try: run, catch: (error) => classify(error, listSecrets(settings), now) })
  const abort = new AbortController()
  return yield* Effect.gen(function* () {
    const streamed = yield* attempt(() => start(connect, request, model, runId, abort.signal, onHeaders))
    const reader = new ResponseReader(
      streamed,
      request.tools.map(({ name }) => name),
      receipt,
      request.onText
    )
    while (true) {
      const call = yield* attempt(() => reader.next())
      if (call === undefined) break
      if (request.onToolCall !== undefined) yield* request.onToolCall(call)
    }
    if (reader.finishReason === "content-filter") {
      return yield* Effect.fail(failure("refused", { _tag: "ModelRefused" }))
    }
    const response = toResponse(reader, yield* attempt(async () => await streamed.responseMessages), modelKey(entry))
    return { ...response, usage: { ...response.usage, costUsd: costUsd(spec.price, response.usage) } }
  }).pipe(Effect.ensuring(Effect.sync(() => abort.abort())))
})
