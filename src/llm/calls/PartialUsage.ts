/**
 * Reads the usage that a provider reports before the end of a response, for calls that are aborted. The SDK reports usage only at
 * the end.
 *
 * | Wire format | Reported before the end |
 * |---|---|
 * | Anthropic | `message_start`: input and cache; `message_delta`: output |
 * | Gemini | `usageMetadata` of every piece |
 * | chat completions | `usage` of every piece, by some servers |
 * | Responses, Bedrock, Ollama | nothing |
 */
import { Option, Schema } from "effect"

const Tokens = Schema.optional(Schema.NullOr(Schema.Number))
const Anthropic = Schema.Struct({
  input_tokens: Tokens,
  cache_read_input_tokens: Tokens,
  cache_creation_input_tokens: Tokens,
  output_tokens: Tokens
})
const Chat = Schema.Struct({
  prompt_tokens: Schema.Number,
  completion_tokens: Tokens,
  prompt_tokens_details: Schema.optional(Schema.NullOr(Schema.Struct({ cached_tokens: Tokens })))
})
const Gemini = Schema.Struct({
  promptTokenCount: Schema.Number,
  cachedContentTokenCount: Tokens,
  candidatesTokenCount: Tokens,
  thoughtsTokenCount: Tokens
})
const decodeStart = Schema.decodeUnknownOption(
  Schema.Struct({ type: Schema.Literal("message_start"), message: Schema.Struct({ usage: Anthropic }) })
)
const decodeDelta = Schema.decodeUnknownOption(
  Schema.Struct({ type: Schema.Literal("message_delta"), usage: Anthropic })
)
const decodeChat = Schema.decodeUnknownOption(Schema.Struct({ usage: Chat }))
const decodeGemini = Schema.decodeUnknownOption(Schema.Struct({ usageMetadata: Gemini }))

/** Tokens reported so far; later reports replace earlier ones. */
export interface PartialUsage {
  readonly inputTokens?: number
  readonly outputTokens?: number
  readonly cachedTokens?: number
  readonly cacheWriteTokens?: number
}

/** Returns what a piece of a stream, as the provider sent it, reports. Undefined if it reports nothing. */
export const readPartialUsage = (piece: unknown): PartialUsage | undefined => {
  const start = decodeStart(piece)
  if (Option.isSome(start)) {
    const { cache_creation_input_tokens, cache_read_input_tokens, input_tokens } = start.value.message.usage
    const cachedTokens = cache_read_input_tokens ?? 0
    const cacheWriteTokens = cache_creation_input_tokens ?? 0
    return { inputTokens: (input_tokens ?? 0) + cachedTokens + cacheWriteTokens, cachedTokens, cacheWriteTokens }
  }
  const delta = decodeDelta(piece)
  if (Option.isSome(delta)) return { outputTokens: delta.value.usage.output_tokens ?? 0 }
  const chat = decodeChat(piece)
  if (Option.isSome(chat)) {
    const { completion_tokens, prompt_tokens, prompt_tokens_details } = chat.value.usage
    return {
      inputTokens: prompt_tokens,
      outputTokens: completion_tokens ?? 0,
      cachedTokens: prompt_tokens_details?.cached_tokens ?? 0
    }
  }
  const gemini = decodeGemini(piece)
  if (Option.isNone(gemini)) return undefined
  const { cachedContentTokenCount, candidatesTokenCount, promptTokenCount, thoughtsTokenCount } =
    gemini.value.usageMetadata
  return {
    inputTokens: promptTokenCount,
    outputTokens: (candidatesTokenCount ?? 0) + (thoughtsTokenCount ?? 0),
    cachedTokens: cachedContentTokenCount ?? 0
  }
}
