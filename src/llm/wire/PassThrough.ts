/**
 * Sends the request of an agent to a provider with the same API. The bytes of the response are passed on unchanged, and read on the way for
 * usage, text and calls. They are held until the first event that is no error, so that until then another attempt can replace the response.
 */
import { APICallError } from "ai"
import { Clock, Effect } from "effect"
import type { SendToModel } from "../calls/AttemptModel.ts"
import { modelKey } from "../calls/Chain.ts"
import { effortFor } from "../calls/Effort.ts"
import { classify } from "../calls/Failure.ts"
import type { GatewayUsage } from "../Gateway.ts"
import type { ConfiguredModel } from "../calls/ModelRequest.ts"
import { outputLimit } from "../calls/OutputLimit.ts"
import { costUsd } from "../calls/Pricing.ts"
import { promptCharacters } from "../calls/PromptSize.ts"
import { listSecrets } from "../providers/ProviderSettings.ts"
import { exhaustedMillis } from "../calls/RateLimitHeaders.ts"
import type { Reception } from "../calls/ResponseReader.ts"
import { receivedUsage } from "../calls/Spending.ts"
import type { Transport } from "../providers/Transport.ts"
import type { WireCall } from "../WireGateway.ts"
import { wholeAsStream } from "../providers/WholeResponse.ts"
import { isJson } from "./WireJson.ts"
import type { WireJson } from "./WireJson.ts"
import type { ResponseProgress } from "./ResponseProgress.ts"
import { WireBytes } from "./WireBytes.ts"
import { SseEvents } from "./SseEvents.ts"
import type { Upstream } from "./Upstream.ts"
import { wireFormat } from "../WireFormats.ts"
import type { WireReader } from "../WireRow.ts"

/** Bytes without an event, after which the response counts as begun. */
const maxHeldBytes = 1024 * 1024

const toError = (url: string, status: number, message: string, response?: Response, body = ""): APICallError =>
  new APICallError({
    message,
    url,
    requestBodyValues: {},
    statusCode: status,
    responseHeaders: Object.fromEntries(response?.headers ?? []),
    responseBody: body
  })

/** Returns the message in the body of a refusal. */
const refusalMessage = (body: string): string => {
  try {
    const { error, message } = JSON.parse(body)
    return String(error?.message ?? message ?? error ?? body)
  } catch {
    return body
  }
}

const note = (reader: WireReader, receipt: Reception, before: number): void => {
  receipt.add(reader.characters() - before)
  receipt.partialUsage = reader.usage()
}

const throwError = (reader: WireReader, url: string): void => {
  const error = reader.error()
  if (error !== undefined) throw toError(url, error.status, error.message)
}

/** Copies a stream of events to the agent. */
const copyEvents = async (
  body: ReadableStream<Uint8Array>,
  url: string,
  { reader, receipt, progress }: { reader: WireReader; receipt: Reception; progress: ResponseProgress }
): Promise<void> => {
  const events = new SseEvents()
  let held: Array<Uint8Array> = []
  let heldBytes = 0
  const read = (pieces: ReadonlyArray<WireJson>) => {
    for (const piece of pieces) {
      const before = reader.characters()
      reader.read(piece)
      note(reader, receipt, before)
    }
    return pieces.length
  }
  for await (const chunk of body) {
    const count = read(events.read(chunk))
    if (progress.hasBegun) {
      await progress.write(chunk)
      continue
    }
    held.push(chunk)
    heldBytes += chunk.length
    throwError(reader, url)
    if (count === 0 && heldBytes < maxHeldBytes) continue
    progress.begin("text/event-stream")
    for (const block of held) await progress.write(block)
    held = []
  }
  read(events.end())
  throwError(reader, url)
  if (!reader.isComplete()) throw new Error("the response ended early")
  if (progress.hasBegun) return
  progress.begin("text/event-stream")
  for (const block of held) await progress.write(block)
}

const copyWhole = async (
  response: Response,
  url: string,
  { reader, receipt, progress }: { reader: WireReader; receipt: Reception; progress: ResponseProgress }
): Promise<void> => {
  const text = await response.text()
  const body: unknown = JSON.parse(text)
  if (!isJson(body)) throw new Error("the response is not a JSON object")
  reader.read(body)
  note(reader, receipt, 0)
  throwError(reader, url)
  if (!reader.isComplete()) throw new Error("the response ended early")
  progress.begin("application/json")
  await progress.write(text)
}

const toUsage = (reader: WireReader, model: ConfiguredModel): GatewayUsage | undefined => {
  const { cachedTokens = 0, cacheWriteTokens = 0, inputTokens, outputTokens = 0, reasoningTokens = 0 } = reader.usage()
  if (inputTokens === undefined || inputTokens + outputTokens === 0) return undefined
  const tokens = { inputTokens, outputTokens, cachedTokens, cacheWriteTokens, reasoningTokens }
  return { ...tokens, costUsd: costUsd(model.spec.price, tokens) }
}

export const passThrough =
  (
    transport: Transport["Service"],
    call: WireCall,
    body: WireJson,
    upstream: Upstream,
    progress: ResponseProgress
  ): SendToModel =>
  (request, model, _, receipt) =>
    Effect.gen(function* () {
      const { settings, spec, entry } = model
      const row = wireFormat(call.format)
      const clock = yield* Clock.Clock
      const characters = promptCharacters(request)
      const prepared = row.prepare(body, {
        model: entry.model,
        streams: call.streams,
        maxOutputTokens: outputLimit(settings.config, spec, characters),
        thinking: { ...settings.config, reasoning_effort: effortFor(settings.config, spec) },
        isOpenAi: upstream.isOpenAi
      })
      const { fetch: plain } = transport.httpFor(settings)
      const fetch = call.format === "openai-chat" && call.streams ? wholeAsStream(plain) : plain
      const reader = row.reader()
      const { refused = [], url } = upstream
      const absent = Object.fromEntries(refused.map((field) => [field, undefined]))
      yield* Effect.tryPromise({
        try: async (signal) => {
          const response = await fetch(url, {
            method: "POST",
            headers: { ...upstream.headers, "content-type": "application/json" },
            body: JSON.stringify({ ...prepared, ...absent }),
            signal
          })
          const exhausted = exhaustedMillis(Object.fromEntries(response.headers), clock.currentTimeMillisUnsafe())
          if (exhausted !== undefined) receipt.noteExhausted(exhausted)
          if (!response.ok) {
            const text = await response.text()
            throw toError(url, response.status, refusalMessage(text).slice(0, 2000), response, text.slice(0, 20_000))
          }
          const parts = { reader, receipt, progress }
          if (!call.streams) return copyWhole(response, url, parts)
          if (response.body === null) throw new Error("the response has no body")
          return copyEvents(response.body, url, parts)
        },
        catch: (error) => classify(error, listSecrets(settings), clock.currentTimeMillisUnsafe())
      })
      const usage = toUsage(reader, model) ?? receivedUsage(receipt, spec, characters)
      const name = modelKey(entry)
      return {
        model: name,
        text: reader.text(),
        calls: reader.calls(),
        usage: usage ?? {
          inputTokens: 0,
          outputTokens: 0,
          cachedTokens: 0,
          cacheWriteTokens: 0,
          reasoningTokens: 0,
          costUsd: undefined
        },
        native: new WireBytes(call.format, call.streams, progress.text),
        ...(reader.isCutOff() ? { isCutOff: true } : {})
      }
    })
