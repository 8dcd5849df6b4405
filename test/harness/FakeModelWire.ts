/** Encodes one reply in each protocol, in the shape of the providers' own responses. */
import type { Reply } from "./FakeModelReply.ts"

export type Protocol = "chat" | "responses" | "anthropic" | "gemini" | "bedrock"
export type Spoken = Extract<Reply, { readonly calls?: unknown }>
export const defaultUsage = { input: 100, output: 20, cached: 0 }

export const renderReply = (protocol: Protocol, reply: Spoken, number: number): unknown =>
  renderers[protocol](reply, number, reply.usage ?? defaultUsage)

type Usage = NonNullable<Spoken["usage"]>
type Render = (reply: Spoken, number: number, usage: Usage) => unknown

export const toArguments = (input: unknown): string => (typeof input === "string" ? input : JSON.stringify(input))
export const callId = (number: number, at: number): string => `call_${number}_${at}`

const renderers: Record<Protocol, Render> = {
  chat: ({ calls = [], text = "", refused, cutOff }, number, usage) => ({
    id: `chatcmpl-${number}`,
    object: "chat.completion",
    created: 1_700_000_000,
    model: "fake",
    choices: [
      {
        index: 0,
        finish_reason:
          refused === true ? "content_filter" : cutOff === true ? "length" : calls.length > 0 ? "tool_calls" : "stop",
        message: {
          role: "assistant",
          content: text === "" ? null : text,
          ...(calls.length === 0
            ? {}
            : {
                tool_calls: calls.map(({ name, input }, at) => ({
                  id: callId(number, at),
                  type: "function",
                  function: { name, arguments: toArguments(input) }
                }))
              })
        }
      }
    ],
    usage: {
      prompt_tokens: usage.input,
      completion_tokens: usage.output,
      total_tokens: usage.input + usage.output,
      prompt_tokens_details: { cached_tokens: usage.cached }
    }
  }),

  responses: ({ calls = [], text = "", refused }, number, usage) => ({
    id: `resp_${number}`,
    object: "response",
    created_at: 1_700_000_000,
    status: "completed",
    model: "fake",
    output: [
      ...(text === "" && refused !== true
        ? []
        : [
            {
              id: `msg_${number}`,
              type: "message",
              role: "assistant",
              status: "completed",
              content: [
                refused === true
                  ? { type: "refusal", refusal: "I cannot help with that." }
                  : { type: "output_text", text, annotations: [] }
              ]
            }
          ]),
      ...calls.map(({ name, input }, at) => ({
        id: `fc_${number}_${at}`,
        type: "function_call",
        status: "completed",
        call_id: callId(number, at),
        name,
        arguments: toArguments(input)
      }))
    ],
    incomplete_details: null,
    usage: {
      input_tokens: usage.input,
      input_tokens_details: { cached_tokens: usage.cached },
      output_tokens: usage.output,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: usage.input + usage.output
    }
  }),

  anthropic: ({ calls = [], text = "", refused, cutOff }, number, usage) => ({
    id: `msg_${number}`,
    type: "message",
    role: "assistant",
    model: "fake",
    content: [
      ...(text === "" ? [] : [{ type: "text", text }]),
      ...calls.map(({ name, input }, at) => ({ type: "tool_use", id: callId(number, at), name, input }))
    ],
    stop_reason:
      refused === true ? "refusal" : cutOff === true ? "max_tokens" : calls.length > 0 ? "tool_use" : "end_turn",
    stop_sequence: null,
    usage: {
      input_tokens: usage.input - usage.cached,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: usage.cached,
      output_tokens: usage.output
    }
  }),

  gemini: ({ calls = [], text = "", refused, cutOff }, _number, usage) => ({
    candidates: [
      {
        content: {
          role: "model",
          parts: [
            ...(text === "" ? [] : [{ text }]),
            ...calls.map(({ name, input }) => ({ functionCall: { name, args: input } }))
          ]
        },
        finishReason: refused === true ? "SAFETY" : cutOff === true ? "MAX_TOKENS" : "STOP",
        index: 0
      }
    ],
    usageMetadata: {
      promptTokenCount: usage.input,
      cachedContentTokenCount: usage.cached,
      candidatesTokenCount: usage.output,
      totalTokenCount: usage.input + usage.output
    }
  }),

  bedrock: ({ calls = [], text = "", refused }, number, usage) => ({
    output: {
      message: {
        role: "assistant",
        content: [
          ...(text === "" ? [] : [{ text }]),
          ...calls.map(({ name, input }, at) => ({ toolUse: { toolUseId: callId(number, at), name, input } }))
        ]
      }
    },
    stopReason: refused === true ? "content_filtered" : calls.length > 0 ? "tool_use" : "end_turn",
    usage: {
      inputTokens: usage.input - usage.cached,
      outputTokens: usage.output,
      totalTokens: usage.input + usage.output,
      cacheReadInputTokens: usage.cached,
      cacheWriteInputTokens: 0
    },
    metrics: { latencyMs: 1 }
  })
}
