/** The meaning of the formats of agents for the gateway, where they differ most: namespaces, free text, calls without ids, limits. */
import { describe, expect, it } from "vitest"
import { SseEvents } from "../../src/llm/wire/SseEvents.ts"
import { wireFormats } from "../../src/llm/WireFormats.ts"

const usage = {
  inputTokens: 100,
  outputTokens: 20,
  cachedTokens: 30,
  cacheWriteTokens: 10,
  reasoningTokens: 5,
  costUsd: undefined
}
const readEvents = (text: string) => new SseEvents().read(Buffer.from(text))

describe("responses", () => {
  const { decode, encoder, restrict } = wireFormats["openai-responses"]
  const body = {
    instructions: "You review.",
    input: [
      { role: "developer", content: [{ type: "input_text", text: "Rules." }] },
      { role: "user", content: "the diff" },
      { type: "reasoning", summary: [], encrypted_content: "secret" },
      { type: "function_call", call_id: "c1", namespace: "mcp__aicr", name: "skip", arguments: '{"reason":"r"}' },
      { type: "custom_tool_call", call_id: "c2", name: "exec", input: "ls" },
      { type: "function_call_output", call_id: "c1", output: "recorded" },
      { type: "custom_tool_call_output", call_id: "c2", output: [{ type: "input_text", text: "a.ts" }] }
    ],
    tools: [
      {
        type: "namespace",
        name: "mcp__aicr",
        tools: [
          { type: "function", name: "skip", parameters: { type: "object" } },
          { type: "mcp", server_url: "https://attacker.example" }
        ]
      },
      { type: "custom", name: "exec" },
      { type: "web_search" }
    ]
  }

  it("give tools of a namespace one name for models, and their calls both names again", () => {
    const { body: restricted, removed } = restrict(body, false)
    expect(removed).toEqual(["mcp", "web_search"])
    expect(decode(restricted)).toEqual({
      system: "You review.\n\nRules.",
      messages: [
        { role: "user", text: "the diff" },
        {
          role: "assistant",
          text: "",
          calls: [
            { id: "c1", name: "mcp__aicr__skip", input: { reason: "r" } },
            { id: "c2", name: "exec", input: { input: "ls" } }
          ]
        },
        {
          role: "tool",
          results: [
            { id: "c1", name: "mcp__aicr__skip", output: "recorded" },
            { id: "c2", name: "exec", output: "a.ts" }
          ]
        }
      ],
      tools: [
        { name: "mcp__aicr__skip", description: "", parameters: { type: "object" } },
        {
          name: "exec",
          description: "",
          parameters: { type: "object", properties: { input: { type: "string" } }, required: ["input"] }
        }
      ],
      toolChoice: "auto",
      searchTools: [],
      unsupported: []
    })
    const stream = encoder("m", restricted)
    const events = readEvents(
      stream.begin() +
        stream.call({ id: "c3", name: "mcp__aicr__skip", input: { reason: "x" } }) +
        stream.call({ id: "c4", name: "exec", input: { input: "pwd" } }) +
        stream.end({ usage, isCutOff: false })
    )
    const items = events.flatMap(({ item, type }) => (type === "response.output_item.done" ? [item] : []))
    expect(items).toMatchObject([
      { type: "function_call", call_id: "c3", namespace: "mcp__aicr", name: "skip", arguments: '{"reason":"x"}' },
      { type: "custom_tool_call", call_id: "c4", name: "exec", input: "pwd" }
    ])
    expect(events.at(-1)).toMatchObject({
      type: "response.completed",
      response: { output: items, usage: { input_tokens: 100, output_tokens: 20, total_tokens: 120 } }
    })
  })

  it("lose a search where the provider has another API, and the choice of it", () => {
    const { searchTools, toolChoice, tools, unsupported } = decode({
      input: "x",
      tools: [{ type: "web_search" }],
      tool_choice: "required"
    })
    expect({ searchTools, toolChoice, tools, unsupported }).toEqual({
      searchTools: ["web_search"],
      toolChoice: "auto",
      tools: [],
      unsupported: []
    })
  })

  it("are never stored by the provider", () => {
    expect(restrict({ input: "x", store: true, metadata: { a: "b" }, service_tier: "priority" }, false).body).toEqual({
      input: "x",
      store: false
    })
  })
})

it("Gemini's calls without ids get them in order, also two of the same function", () => {
  const call = (n: number) => ({ functionCall: { name: "read", args: { n } } })
  const response = (output: string) => ({ functionResponse: { name: "read", response: { output } } })
  const { messages, tools } = wireFormats.gemini.decode({
    contents: [
      { role: "model", parts: [call(1), call(2)] },
      { role: "user", parts: [response("first"), response("second")] }
    ],
    tools: [
      {
        functionDeclarations: [{ name: "read", parameters: { type: "OBJECT", properties: { n: { type: "INTEGER" } } } }]
      }
    ]
  })
  expect(messages).toEqual([
    {
      role: "assistant",
      text: "",
      calls: [
        { id: "call_1", name: "read", input: { n: 1 } },
        { id: "call_2", name: "read", input: { n: 2 } }
      ]
    },
    {
      role: "tool",
      results: [
        { id: "call_1", name: "read", output: "first" },
        { id: "call_2", name: "read", output: "second" }
      ]
    }
  ])
  expect(tools[0]?.parameters).toEqual({ type: "object", properties: { n: { type: "integer" } } })
})

const settings = { model: "m", streams: true, maxOutputTokens: 100, thinking: {}, isOpenAi: false }

it.each([
  ["openai-chat", { max_tokens: 5_000 }, { max_tokens: 100, stream_options: { include_usage: true } }],
  ["openai-chat", { max_completion_tokens: 50 }, { max_completion_tokens: 50 }],
  ["openai-responses", {}, { max_output_tokens: 100 }],
  ["anthropic-messages", { max_tokens: 5_000 }, { max_tokens: 100 }],
  [
    "gemini",
    { generationConfig: { candidateCount: 8 } },
    { generationConfig: { candidateCount: 1, maxOutputTokens: 100 } }
  ]
] as const)("%s: the limit of output tokens bounds %j", (format, body, expected) => {
  const prepared = wireFormats[format].prepare(body, settings)
  expect(prepared).toMatchObject(expected)
  expect(prepared["model"]).toBe(format === "gemini" ? undefined : "m")
})

const adaptive = { thinking: { type: "adaptive", display: "updates" }, output_config: { effort: "high" } }

it.each([
  ["openai-chat", { reasoning_effort: "low" }, { reasoning_effort: "medium" }, { reasoning_effort: "low" }],
  ["openai-chat", { thinking_budget_tokens: 9 }, {}, { thinking: { type: "enabled", budget_tokens: 9 } }],
  [
    "openai-responses",
    { thinking_level: "off" },
    { reasoning: { summary: "auto" } },
    { reasoning: { summary: "auto", effort: "none" } }
  ],
  ["anthropic-messages", { reasoning_effort: "low" }, adaptive, { ...adaptive, output_config: { effort: "low" } }],
  [
    "anthropic-messages",
    { thinking_budget_tokens: 2_000 },
    adaptive,
    { thinking: { type: "enabled", budget_tokens: 2_000, display: "updates" } }
  ],
  [
    "anthropic-messages",
    { thinking_budget_tokens: 90_000 },
    {},
    { thinking: { type: "enabled", budget_tokens: 9_999 } }
  ],
  [
    "anthropic-messages",
    { thinking_level: "off" },
    { ...adaptive, context_management: { edits: [] } },
    { thinking: { type: "disabled" }, context_management: undefined }
  ],
  ["anthropic-messages", { thinking_budget_tokens: 2_000 }, { tool_choice: { type: "any" } }, { thinking: undefined }],
  ["anthropic-messages", {}, adaptive, adaptive],
  [
    "gemini",
    { thinking_level: "low" },
    { generationConfig: { thinkingConfig: { includeThoughts: true, thinkingBudget: 8_192 } } },
    { generationConfig: { thinkingConfig: { includeThoughts: true, thinkingLevel: "low" } } }
  ],
  ["gemini", { thinking_budget_tokens: 500 }, {}, { generationConfig: { thinkingConfig: { thinkingBudget: 500 } } }]
] as const)("%s: the thinking %j of the configuration replaces that of %j", (format, thinking, body, expected) => {
  const prepared = wireFormats[format].prepare(body, { ...settings, maxOutputTokens: 10_000, thinking })
  const limits = format === "gemini" ? { candidateCount: 1, maxOutputTokens: 10_000 } : {}
  const own = Object.fromEntries(Object.keys(expected).map((name) => [name, prepared[name]]))
  expect(own).toEqual(
    "generationConfig" in expected ? { generationConfig: { ...limits, ...expected.generationConfig } } : expected
  )
})

it("gemini: fields in the spelling of protocol buffers are restricted as well, and content of the agent is not changed", () => {
  const args = { a_b: { c_d: 1 } }
  const body = {
    system_instruction: { parts: [{ text: "s" }] },
    contents: [{ role: "model", parts: [{ function_call: { name: "read_file", args } }] }],
    generation_config: { candidate_count: 1, max_output_tokens: 5_000 },
    tools: [{ google_search: {}, code_execution: {}, function_declarations: [{ name: "f", parameters: { a_b: 1 } }] }]
  }
  const restricted = wireFormats.gemini.restrict(body, false)
  expect(restricted.removed).toEqual(["googleSearch", "codeExecution"])
  expect(wireFormats.gemini.prepare(restricted.body, settings)).toEqual({
    systemInstruction: { parts: [{ text: "s" }] },
    contents: [{ role: "model", parts: [{ functionCall: { name: "read_file", args } }] }],
    generationConfig: { candidateCount: 1, maxOutputTokens: 100 },
    tools: [{ functionDeclarations: [{ name: "f", parameters: { a_b: 1 } }] }]
  })
})

it.each(Object.entries(wireFormats))("%s: a written response has the usage that was counted", (_, row) => {
  const stream = row.encoder("m", { stream_options: { include_usage: true } })
  const reader = row.reader()
  for (const event of readEvents(stream.begin() + stream.text("t") + stream.end({ usage, isCutOff: true })))
    reader.read(event)
  expect(reader.usage()).toMatchObject({ inputTokens: 100, outputTokens: 20, cachedTokens: 30 })
  expect(reader.isCutOff()).toBe(true)
})
