/** Encodes one reply as the events of a streamed response in each protocol, in the shape of the providers' own streams. */
import { crc32 } from "node:zlib"
import type { Protocol } from "./FakeModelWire.ts"
import { callId, defaultUsage, toArguments } from "./FakeModelWire.ts"
import type { Spoken } from "./FakeModelWire.ts"

export interface StreamedReply {
  readonly contentType: string
  readonly events: ReadonlyArray<string | Buffer>
}

export const streamReply = (protocol: Protocol, reply: Spoken, number: number): StreamedReply => ({
  contentType: protocol === "bedrock" ? "application/vnd.amazon.eventstream" : "text/event-stream",
  events: streams[protocol](reply, number)
})

type Stream = (reply: Spoken, number: number) => ReadonlyArray<string | Buffer>

const event = (data: unknown): string => `data: ${JSON.stringify(data)}\n\n`
const named = (type: string, more: object = {}): string => `event: ${type}\n${event({ type, ...more })}`

/** Halves of a text, so that every text arrives in pieces. */
const pieces = (text: string): ReadonlyArray<string> => {
  const half = Math.ceil(text.length / 2)
  return [text.slice(0, half), text.slice(half)].filter((piece) => piece !== "")
}

const streams: Record<Protocol, Stream> = {
  chat: ({ calls = [], text = "", refused, cutOff, usage = defaultUsage }, number) => {
    const chunk = (more: object) =>
      event({
        id: `chatcmpl-${number}`,
        object: "chat.completion.chunk",
        created: 1_700_000_000,
        model: "fake",
        ...more
      })
    const delta = (fields: object, finish_reason: string | null = null) =>
      chunk({ choices: [{ index: 0, delta: fields, finish_reason }] })
    const finish = refused ? "content_filter" : cutOff ? "length" : calls.length > 0 ? "tool_calls" : "stop"
    return [
      delta({ role: "assistant", content: "" }),
      ...pieces(text).map((content) => delta({ content })),
      ...calls.flatMap(({ name, input }, index) => [
        delta({
          tool_calls: [{ index, id: callId(number, index), type: "function", function: { name, arguments: "" } }]
        }),
        ...pieces(toArguments(input)).map((piece) => delta({ tool_calls: [{ index, function: { arguments: piece } }] }))
      ]),
      delta({}, finish),
      chunk({
        choices: [],
        usage: {
          prompt_tokens: usage.input,
          completion_tokens: usage.output,
          total_tokens: usage.input + usage.output,
          prompt_tokens_details: { cached_tokens: usage.cached }
        }
      }),
      "data: [DONE]\n\n"
    ]
  },

  responses: ({ calls = [], text = "", refused, cutOff, usage = defaultUsage }, number) => {
    const response = { id: `resp_${number}`, created_at: 1_700_000_000, model: "fake" }
    const item = `msg_${number}`
    const output_index = 0
    return [
      named("response.created", { response }),
      ...(text === "" && !refused
        ? []
        : [
            named("response.output_item.added", { output_index, item: { type: "message", id: item } }),
            ...(refused
              ? [named("response.refusal.delta", { item_id: item, output_index, delta: "I cannot help." })]
              : pieces(text).map((delta) =>
                  named("response.output_text.delta", { item_id: item, output_index, delta })
                )),
            named("response.output_item.done", { output_index, item: { type: "message", id: item } })
          ]),
      ...calls.flatMap(({ input, name, namespace }, at) => {
        const index = at + 1
        const group = namespace === undefined ? {} : { namespace }
        const call = { type: "function_call", id: `fc_${number}_${at}`, call_id: callId(number, at), name, ...group }
        return [
          named("response.output_item.added", { output_index: index, item: { ...call, arguments: "" } }),
          ...pieces(toArguments(input)).map((delta) =>
            named("response.function_call_arguments.delta", { item_id: call.id, output_index: index, delta })
          ),
          named("response.output_item.done", {
            output_index: index,
            item: { ...call, arguments: toArguments(input), status: "completed" }
          })
        ]
      }),
      named(cutOff ? "response.incomplete" : "response.completed", {
        response: {
          ...response,
          ...(cutOff ? { incomplete_details: { reason: "max_output_tokens" } } : {}),
          usage: {
            input_tokens: usage.input,
            input_tokens_details: { cached_tokens: usage.cached },
            output_tokens: usage.output,
            output_tokens_details: { reasoning_tokens: 0 },
            total_tokens: usage.input + usage.output
          }
        }
      })
    ]
  },

  anthropic: ({ calls = [], text = "", refused, cutOff, usage = defaultUsage }, number) => {
    const block = (index: number, start: object, deltas: ReadonlyArray<object>) => [
      named("content_block_start", { index, content_block: start }),
      ...deltas.map((delta) => named("content_block_delta", { index, delta })),
      named("content_block_stop", { index })
    ]
    const texts = text === "" ? 0 : 1
    const stop_reason = refused ? "refusal" : cutOff ? "max_tokens" : calls.length > 0 ? "tool_use" : "end_turn"
    return [
      named("message_start", {
        message: {
          id: `msg_${number}`,
          type: "message",
          role: "assistant",
          model: "fake",
          content: [],
          stop_reason: null,
          stop_sequence: null,
          usage: {
            input_tokens: usage.input - usage.cached,
            cache_creation_input_tokens: 0,
            cache_read_input_tokens: usage.cached,
            output_tokens: 1
          }
        }
      }),
      named("ping"),
      ...(text === ""
        ? []
        : block(
            0,
            { type: "text", text: "" },
            pieces(text).map((piece) => ({ type: "text_delta", text: piece }))
          )),
      ...calls.flatMap(({ name, input }, at) =>
        block(
          at + texts,
          { type: "tool_use", id: callId(number, at), name, input: {} },
          pieces(toArguments(input)).map((piece) => ({ type: "input_json_delta", partial_json: piece }))
        )
      ),
      named("message_delta", { delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: usage.output } }),
      named("message_stop")
    ]
  },

  gemini: ({ calls = [], text = "", refused, cutOff, usage = defaultUsage }) => {
    const parts = [
      ...pieces(text).map((piece) => ({ text: piece })),
      ...calls.map(({ name, input }) => ({ functionCall: { name, args: input } }))
    ]
    const finishReason = refused ? "SAFETY" : cutOff ? "MAX_TOKENS" : "STOP"
    return [
      ...parts.map((part) =>
        event({
          candidates: [{ content: { role: "model", parts: [part] }, index: 0 }],
          usageMetadata: { promptTokenCount: usage.input, cachedContentTokenCount: usage.cached }
        })
      ),
      event({
        candidates: [{ content: { role: "model", parts: [] }, finishReason, index: 0 }],
        usageMetadata: {
          promptTokenCount: usage.input,
          cachedContentTokenCount: usage.cached,
          candidatesTokenCount: usage.output,
          totalTokenCount: usage.input + usage.output
        }
      })
    ]
  },

  bedrock: ({ calls = [], text = "", refused, cutOff, usage = defaultUsage }, number) => {
    const texts = text === "" ? 0 : 1
    const stopReason = refused ? "content_filtered" : cutOff ? "max_tokens" : calls.length > 0 ? "tool_use" : "end_turn"
    return [
      frame("messageStart", { role: "assistant" }),
      ...pieces(text).map((piece) => frame("contentBlockDelta", { contentBlockIndex: 0, delta: { text: piece } })),
      ...(text === "" ? [] : [frame("contentBlockStop", { contentBlockIndex: 0 })]),
      ...calls.flatMap(({ name, input }, at) => {
        const contentBlockIndex = at + texts
        const toolUse = { toolUseId: callId(number, at), name }
        return [
          frame("contentBlockStart", { contentBlockIndex, start: { toolUse } }),
          ...pieces(toArguments(input)).map((piece) =>
            frame("contentBlockDelta", { contentBlockIndex, delta: { toolUse: { input: piece } } })
          ),
          frame("contentBlockStop", { contentBlockIndex })
        ]
      }),
      frame("messageStop", { stopReason }),
      frame("metadata", {
        usage: {
          inputTokens: usage.input - usage.cached,
          outputTokens: usage.output,
          totalTokens: usage.input + usage.output,
          cacheReadInputTokens: usage.cached,
          cacheWriteInputTokens: 0
        }
      })
    ]
  }
}

/** One frame of AWS' binary event stream: lengths, their checksum, headers, payload, checksum of it all. */
const frame = (type: string, payload: unknown): Buffer => {
  const header = (name: string, value: string) => {
    const bytes = Buffer.from(value)
    const length = Buffer.alloc(3)
    length.writeUInt8(7, 0)
    length.writeUInt16BE(bytes.length, 1)
    return Buffer.concat([Buffer.from([name.length]), Buffer.from(name), length, bytes])
  }
  const headers = Buffer.concat([
    header(":event-type", type),
    header(":content-type", "application/json"),
    header(":message-type", "event")
  ])
  const body = Buffer.from(JSON.stringify(payload))
  const prelude = Buffer.alloc(12)
  prelude.writeUInt32BE(16 + headers.length + body.length, 0)
  prelude.writeUInt32BE(headers.length, 4)
  prelude.writeUInt32BE(crc32(prelude.subarray(0, 8)), 8)
  const message = Buffer.concat([prelude, headers, body])
  const checksum = Buffer.alloc(4)
  checksum.writeUInt32BE(crc32(message))
  return Buffer.concat([message, checksum])
}
