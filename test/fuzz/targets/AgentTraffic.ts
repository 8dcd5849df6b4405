/** Traffic of agent CLIs: their requests to models and tools, and what providers respond to them. */
import { readMessages } from "../../../src/agent/mcp/McpMessages.ts"
import { divide } from "../../../src/agent/mcp/ToolCalls.ts"
import { findOperation } from "../../../src/agent/proxy/ProxyPaths.ts"
import { parseAgentJson } from "../../../src/agent/socket/AgentJson.ts"
import { SseEvents } from "../../../src/llm/wire/SseEvents.ts"
import { wireFormats } from "../../../src/llm/WireFormats.ts"
import { isJson } from "../../../src/llm/wire/WireJson.ts"
import { TunnelFrames } from "../../../src/sandbox/link/Tunnel.ts"
import type { WireFormat } from "../../../src/llm/WireGateway.ts"
import { describeRefusal } from "../../../src/llm/wire/shape/RefusedField.ts"
import { requestCorpus } from "../../llm/wire/RequestCorpus.ts"
import type { FuzzTarget } from "../Target.ts"
import { bytes, ensure, json, text } from "../Target.ts"

const settings = { model: "m", streams: true, maxOutputTokens: 100, thinking: {}, isOpenAi: true }
const usage = {
  inputTokens: 1,
  outputTokens: 1,
  cachedTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
  costUsd: undefined
}
const end = { usage, isCutOff: false }
const calls = [{ id: "c", name: "f", input: { a: 1 } }]

/** Returns the values of fields in which formats have addresses of files, at any depth. */
const addresses = (value: unknown): ReadonlyArray<unknown> =>
  typeof value === "object" && value !== null
    ? Object.entries(value).flatMap(([name, field]) => [
        ...(/^(\$ref|url|.*_url|fileUri|file_data|source)$/.test(name) ? [field] : []),
        ...addresses(field)
      ])
    : []

const agentRequest: FuzzTarget = {
  name: "agent-request",
  seeds: () => [
    ...Object.values(requestCorpus).flatMap(({ place, rows }) =>
      Object.entries(rows).flatMap(([group, list]) => list.map(([, value]) => json(place[group]?.(value))))
    ),
    json({
      messages: [
        { role: "system", content: "s" },
        { role: "user", content: [{ type: "text", text: "u" }] },
        { role: "assistant", tool_calls: [{ id: "c", function: { name: "f", arguments: "{}" } }] },
        { role: "tool", tool_call_id: "c", content: "r" }
      ],
      tools: [{ type: "function", function: { name: "f", parameters: { type: "object" } } }, { type: "web_search" }]
    }),
    json({
      instructions: "i",
      input: [
        { role: "user", content: [{ type: "input_text", text: "u" }] },
        { type: "function_call", call_id: "c", namespace: "n", name: "f", arguments: "{}" },
        { type: "function_call_output", call_id: "c", output: "r" }
      ],
      tools: [
        { type: "namespace", name: "n", tools: [{ type: "function", name: "f" }] },
        { type: "custom", name: "x" }
      ]
    }),
    json({
      system: [{ type: "text", text: "s" }],
      messages: [
        { role: "assistant", content: [{ type: "tool_use", id: "c", name: "f", input: {} }] },
        { role: "user", content: [{ type: "tool_result", tool_use_id: "c", content: [{ type: "text", text: "r" }] }] }
      ],
      tools: [{ name: "f", input_schema: {} }, { type: "web_fetch_20250910" }]
    }),
    json({
      systemInstruction: { parts: [{ text: "s" }] },
      contents: [
        { role: "model", parts: [{ functionCall: { name: "f", args: {} } }] },
        { role: "user", parts: [{ functionResponse: { name: "f", response: { output: "r" } } }] }
      ],
      tools: [{ functionDeclarations: [{ name: "f", parameters: { type: "OBJECT" } }] }, { urlContext: {} }]
    })
  ],
  words: ['"type"', '"content"', '"tools"', '"source"', '"file_id"', '"image_url"', '"fileData"', "null", "[]", "{}"],
  check: (input) => {
    const parsed = parseAgentJson(text(input))
    if (!parsed.ok || !isJson(parsed.value)) return
    for (const [name, row] of Object.entries(wireFormats)) {
      const { body, refused } = row.restrict(parsed.value, false)
      if (refused !== undefined) {
        ensure(describeRefusal(name as WireFormat, refused).length < 500, "a refusal is one short sentence")
        continue
      }
      const again = row.restrict(body, false)
      ensure(again.refused === undefined && again.removed.length === 0, "a restricted request is accepted")
      ensure(JSON.stringify(again.body) === JSON.stringify(body), "nothing of a restricted request is left out")
      ensure(!JSON.stringify(addresses(body)).includes("attacker.example"), "no address of a file is left")
      const { messages } = row.decode(body)
      ensure(
        messages.every((message) => message.role !== "tool" || message.results.length > 0),
        "every message of results has one"
      )
      JSON.stringify(row.prepare(body, settings))
      const encoder = row.encoder("m", body)
      const events = [encoder.begin(), encoder.text("t"), ...calls.map((call) => encoder.call(call)), encoder.end(end)]
      const reader = row.reader()
      for (const event of new SseEvents().read(Buffer.from(events.join("")))) reader.read(event)
      ensure(reader.isComplete() && reader.text() === "t", "a written response can be read")
      JSON.stringify(row.whole("m", body, { ...end, text: "t", calls }))
    }
  }
}

const modelEvents: FuzzTarget = {
  name: "model-events",
  seeds: () =>
    [
      'data: {"choices":[{"delta":{"content":"a","tool_calls":[{"index":0,"id":"c","function":{"name":"f","arguments":"{"}}]}}]}\n\ndata: [DONE]\n\n',
      'event: response.completed\ndata: {"type":"response.completed","response":{"status":"completed","output":[],"usage":{"input_tokens":1}}}\n\n',
      'event: content_block_start\ndata: {"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"c","name":"f"}}\r\n\r\n',
      'data: {"candidates":[{"content":{"parts":[{"text":"a"},{"functionCall":{"name":"f"}}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":1}}\n\n'
    ].map(bytes),
  words: ["data:", "event:", "\n\n", "\r\n\r\n", '"delta"', '"index"', '"usage"', '"error"', "null", "1e999"],
  check: (input) => {
    const whole = new SseEvents()
    const events = [...whole.read(input), ...whole.end()]
    const parts = new SseEvents()
    const pieces = [...parts.read(input.subarray(0, 7)), ...parts.read(input.subarray(7)), ...parts.end()]
    ensure(JSON.stringify(pieces) === JSON.stringify(events), "events do not depend on how they arrive")
    for (const row of Object.values(wireFormats)) {
      const reader = row.reader()
      for (const event of events) reader.read(event)
      const { inputTokens = 0, outputTokens = 0 } = reader.usage()
      ensure(Number.isFinite(inputTokens) && Number.isFinite(outputTokens), "usage is finite")
      ensure(reader.characters() >= 0, "characters count up")
      JSON.stringify([reader.text(), reader.calls(), reader.error()])
    }
  }
}

const toolMessages: FuzzTarget = {
  name: "tool-messages",
  seeds: () => [
    json({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "mcp__aicr__skip", arguments: {} } }),
    json([{ jsonrpc: "2.0", id: 1, method: "initialize" }])
  ],
  words: ['"tools/call"', '"params"', '"name"', '"method"', "null", "[]"],
  check: (input) => {
    const given = text(input)
    readMessages(given, ["skip", "report_problem"])
    ensure(divide(given, 20).join("") === Buffer.from(given).toString("utf8"), "parts are the whole together")
    findOperation("gemini", "POST", given, new URLSearchParams(given))
  }
}

/** Frames in parts of some size; undefined if one is refused. */
const parseFrames = (input: Uint8Array, size: number) => {
  const parser = new TunnelFrames()
  const frames: Array<readonly [number, number, string]> = []
  try {
    for (let at = 0; at < input.length; at += size)
      for (const { content, id, type } of parser.parse(Buffer.from(input.subarray(at, at + size))))
        frames.push([type, id, content.toString("hex")])
    return frames
  } catch {
    return undefined
  }
}

const tunnelFrames: FuzzTarget = {
  name: "tunnel-frames",
  seeds: () => [
    Buffer.from("01000000070001000200000007000361626304000000070000", "hex"),
    Buffer.from("030000000700040000100005000000070000", "hex")
  ],
  check: (input) => {
    const whole = parseFrames(input, input.length)
    for (const size of [1, 7, 50])
      ensure(
        JSON.stringify(parseFrames(input, size)) === JSON.stringify(whole),
        "frames do not depend on how they arrive"
      )
  }
}

export const agentTraffic: ReadonlyArray<FuzzTarget> = [agentRequest, modelEvents, toolMessages, tunnelFrames]
