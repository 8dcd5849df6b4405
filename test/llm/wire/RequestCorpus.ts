/**
 * Fields and parts that the four formats document, and additions of servers that implement them, each with the verdict of the proxy:
 *
 * `pass` is sent unchanged, `drop` is sent without it, `tool` is sent without this tool and with a notice, `refuse` is not sent at all.
 * `search` is like `pass` with a permission for web search, and like `tool` (of tools) or `refuse` without it.
 */
import type { WireFormat } from "../../../src/llm/WireGateway.ts"

export type Verdict = "pass" | "drop" | "tool" | "refuse" | "search"
export type Row = readonly [verdict: Verdict, value: unknown]

interface FormatCorpus {
  /** A minimal request. */
  readonly base: Readonly<Record<string, unknown>>
  /** Adds a value of one of the groups to the request. */
  readonly place: Readonly<Record<string, (value: unknown) => Readonly<Record<string, unknown>>>>
  readonly rows: Readonly<Record<string, ReadonlyArray<Row>>>
}

const url = "https://attacker.example/?code=secret"
const pixel = "iVBORw0KGgo="
const png = `data:image/png;base64,${pixel}`
const parameters = {
  type: "object",
  properties: { path: { $ref: "#/$defs/path" } },
  $defs: { path: { type: "string" } }
}
const remote = { type: "object", properties: { a: { anyOf: [{ $ref: url }] } } }

const user = { role: "user", content: "x" }
const chatTool = { type: "function", function: { name: "read", parameters } }

const chat: FormatCorpus = {
  base: { messages: [user] },
  place: {
    field: (value) => ({ messages: [user], ...Object(value) }),
    message: (value) => ({ messages: [user, value] }),
    part: (value) => ({ messages: [{ role: "user", content: [value] }] }),
    "part of a result": (value) => ({ messages: [user, { role: "tool", tool_call_id: "c", content: [value] }] }),
    call: (value) => ({ messages: [user, { role: "assistant", tool_calls: [value] }] }),
    tool: (value) => ({ messages: [user], tools: [chatTool, value] })
  },
  rows: {
    field: [
      ["pass", { model: "m" }],
      ["pass", { stream: true, stream_options: { include_usage: true, include_obfuscation: false } }],
      ["pass", { max_tokens: 5 }],
      ["pass", { max_completion_tokens: 5 }],
      ["pass", { temperature: 1, top_p: 0.9, top_k: 40, min_p: 0.1, seed: 3 }],
      ["pass", { frequency_penalty: 0, presence_penalty: 0, repetition_penalty: 1 }],
      ["pass", { stop: ["a"] }],
      ["pass", { stop: "a" }],
      ["pass", { n: 1, best_of: 1 }],
      ["refuse", { n: 2 }],
      ["refuse", { n: "2" }],
      ["refuse", { best_of: 2 }],
      ["refuse", { use_beam_search: true }],
      ["pass", { reasoning_effort: "high", verbosity: "low" }],
      ["pass", { reasoning: { effort: "high" } }],
      ["pass", { thinking: { type: "enabled", budget_tokens: 100 }, enable_thinking: true }],
      ["pass", { parallel_tool_calls: true, prompt_cache_key: "k" }],
      [
        "pass",
        { response_format: { type: "json_schema", json_schema: { name: "n", schema: parameters, strict: true } } }
      ],
      ["refuse", { response_format: { type: "json_schema", json_schema: { name: "n", schema: remote } } }],
      ["refuse", { guided_json: { $ref: url } }],
      ["refuse", { structured_outputs: { json: { $ref: url } } }],
      ["pass", { tools: [chatTool], tool_choice: "auto" }],
      ["pass", { tools: [chatTool], tool_choice: { type: "function", function: { name: "read" } } }],
      ["refuse", { tools: { function: { name: "read" } } }],
      ["refuse", { functions: [{ name: "f" }], function_call: "auto" }],
      ["drop", { metadata: { a: "b" }, store: true, service_tier: "priority", user: "u" }],
      ["drop", { safety_identifier: "s", prompt_cache_retention: "24h" }],
      ["search", { web_search_options: { search_context_size: "low" } }],
      ["refuse", { search_parameters: { mode: "on", sources: [{ type: "rss", links: [url] }] } }],
      ["refuse", { enable_search: true }],
      ["refuse", { search_options: {} }],
      ["refuse", { plugins: [{ id: "web" }] }],
      ["refuse", { models: ["other/model"] }],
      ["refuse", { provider: { order: ["x"] } }],
      ["refuse", { route: "fallback" }],
      ["refuse", { transforms: ["middle-out"] }],
      ["refuse", { mcp_servers: [{ url }] }],
      ["refuse", { audio: { voice: "v" }, modalities: ["audio"] }],
      ["refuse", { prediction: { type: "content", content: "x" } }],
      ["refuse", { data_sources: [{ type: "azure_search", parameters: { endpoint: url } }] }],
      ["refuse", { documents: [{ url }] }],
      ["refuse", { fallbacks: ["other"] }],
      ["refuse", { api_base: url }],
      ["refuse", { base_url: url }],
      ["refuse", { api_key: "k" }],
      ["refuse", { custom_llm_provider: "x" }],
      ["refuse", { guardrails: ["g"] }],
      ["refuse", { mock_response: "x" }],
      ["refuse", { extra_body: { a: 1 } }],
      ["refuse", { extra_headers: { a: "b" } }],
      ["refuse", { chat_template: "{{ x }}" }],
      ["refuse", { chat_template_kwargs: { a: 1 } }],
      ["refuse", { mm_processor_kwargs: { a: 1 } }],
      ["refuse", { media_io_kwargs: { a: 1 } }],
      ["refuse", { kv_transfer_params: { remote_host: "10.0.0.1" } }],
      ["refuse", { lora_path: url }],
      ["refuse", { prompt: "x" }],
      ["refuse", { logit_bias: { a: 1 } }],
      ["refuse", { __proto: 1 }],
      ["refuse", { messages: { role: "user", content: "x" } }],
      ["refuse", { messages: [null] }],
      ["refuse", { messages: [["x"]] }]
    ],
    message: [
      ["pass", { role: "system", content: "s", cache_control: { type: "ephemeral" } }],
      ["pass", { role: "developer", content: "s", name: "n" }],
      ["pass", { role: "assistant", content: null, refusal: null, tool_calls: null }],
      ["pass", { role: "assistant", content: "x", reasoning: "r", reasoning_content: "r", reasoning_text: "r" }],
      ["pass", { role: "assistant", content: "x", reasoning_opaque: "o" }],
      [
        "pass",
        {
          role: "assistant",
          content: "x",
          reasoning_details: [
            { type: "reasoning.text", text: "t", signature: null, id: null, format: "f", index: 0 },
            { type: "reasoning.summary", summary: "s" },
            { type: "reasoning.encrypted", data: "d" }
          ]
        }
      ],
      ["refuse", { role: "assistant", reasoning_details: [{ type: "reasoning.url", url }] }],
      ["pass", { role: "tool", tool_call_id: "c", content: "r" }],
      ["refuse", { role: "tool", content: "r" }],
      ["refuse", { role: "function", name: "f", content: "r" }],
      ["refuse", { role: "documents", content: [{ url }] }],
      ["refuse", { role: "assistant", audio: { id: "a" } }],
      ["refuse", { role: "assistant", function_call: { name: "f", arguments: "{}" } }],
      ["refuse", { role: "assistant", images: [{ image_url: { url } }] }],
      ["refuse", { role: "user", content: { type: "video_url", video_url: { url } } }],
      ["refuse", { role: "user", content: [["x"]] }],
      ["refuse", { role: "user" }],
      ["refuse", { content: "x" }],
      ["refuse", { role: 1, content: "x" }],
      ["refuse", { role: "user", content: "x", attachments: [{ file_id: "f" }] }]
    ],
    part: [
      ["pass", { type: "text", text: "x", cache_control: { type: "ephemeral" } }],
      ["pass", { type: "refusal", refusal: "x" }],
      ["pass", { type: "image_url", image_url: { url: png, detail: "low" } }],
      ["refuse", { type: "image_url", image_url: { url } }],
      ["refuse", { type: "image_url", image_url: url }],
      ["refuse", { type: "image_url", image_url: { url: "file:///etc/passwd" } }],
      ["refuse", { type: "image_url", image_url: { url: `data:image/svg+xml;base64,${pixel}` } }],
      ["refuse", { type: "image_url", image_url: { url: ` ${png}` } }],
      ["refuse", { type: "image_url", image_url: { url: `data:image/png,${url}` } }],
      ["refuse", { type: "image_url", image_url: { url: png, file_id: "f" } }],
      ["refuse", { type: "text", text: "x", image_url: { url } }],
      ["refuse", { type: "text", text: { url } }],
      ["refuse", { type: "video_url", video_url: { url } }],
      ["refuse", { type: "video", video: [url] }],
      ["refuse", { type: "audio_url", audio_url: { url } }],
      ["refuse", { type: "input_audio", input_audio: { data: url, format: "wav" } }],
      ["refuse", { type: "input_image", image_url: url }],
      ["refuse", { type: "image_embeds", image_embeds: "x" }],
      ["refuse", { type: "file", file: { file_id: "f" } }],
      ["refuse", { type: "file", file: { filename: "a.pdf", file_data: url } }],
      ["refuse", { type: "file_url", file_url: { url } }],
      ["refuse", { type: "document_url", document_url: url }],
      ["refuse", { image_url: { url } }],
      ["refuse", { text: "x" }]
    ],
    "part of a result": [
      ["pass", { type: "text", text: "x" }],
      ["refuse", { type: "video_url", video_url: { url } }]
    ],
    call: [
      ["pass", { id: "c", type: "function", index: 0, function: { name: "f", arguments: "{}" } }],
      [
        "pass",
        { id: "c", function: { name: "f", arguments: "{}" }, extra_content: { google: { thought_signature: "s" } } }
      ],
      ["pass", { id: "c", type: "custom", custom: { name: "f", input: "x" } }],
      ["refuse", { id: "c", type: "web_search", web_search: {} }],
      ["refuse", { id: "c", type: "function", function: { name: "f", arguments: { a: 1 } } }]
    ],
    tool: [
      ["pass", { type: "function", function: { name: "f", description: "d", parameters, strict: true } }],
      [
        "pass",
        {
          type: "custom",
          custom: { name: "f", format: { type: "grammar", grammar: { definition: "d", syntax: "lark" } } }
        }
      ],
      ["refuse", { type: "function", function: { name: "f", parameters: remote } }],
      ["refuse", { type: "function", function: { name: "f", parameters: { $schema: url } } }],
      ["refuse", { type: "function", function: { name: "f", url } }],
      ["tool", { type: "web_search" }],
      ["tool", { type: "browser_search" }],
      ["tool", { type: "code_interpreter" }],
      ["tool", { type: "openrouter:web_search" }],
      ["tool", { type: "mcp", server_url: url }],
      ["tool", { type: "live_search", sources: [url] }],
      ["refuse", { function: { name: "f" } }]
    ]
  }
}

const responsesTool = { type: "function", name: "read", parameters }
const output = (value: unknown) => ({ type: "function_call_output", call_id: "c", output: [value] })

const responses: FormatCorpus = {
  base: { input: "x", store: false },
  place: {
    field: (value) => ({ input: "x", store: false, ...Object(value) }),
    item: (value) => ({ input: [value], store: false }),
    part: (value) => ({ input: [{ type: "message", role: "user", content: [value] }], store: false }),
    "part of a result": (value) => ({ input: [output(value)], store: false }),
    tool: (value) => ({ input: "x", store: false, tools: [responsesTool, value] }),
    "tool of a namespace": (value) => ({
      input: "x",
      store: false,
      tools: [{ type: "namespace", name: "n", tools: [responsesTool, value] }]
    }),
    "added tool": (value) => ({ input: [{ type: "additional_tools", tools: [responsesTool, value] }], store: false })
  },
  rows: {
    field: [
      ["pass", { model: "m", instructions: "i", stream: true, max_output_tokens: 5 }],
      ["pass", { temperature: 1, top_p: 1, truncation: "auto", parallel_tool_calls: true, prompt_cache_key: "k" }],
      ["pass", { reasoning: { effort: "high", summary: "auto" }, include: ["reasoning.encrypted_content"] }],
      [
        "pass",
        { text: { verbosity: "low", format: { type: "json_schema", name: "n", schema: parameters, strict: true } } }
      ],
      ["refuse", { text: { format: { type: "json_schema", name: "n", schema: remote } } }],
      ["pass", { tools: [responsesTool], tool_choice: "required" }],
      ["pass", { tools: [responsesTool], tool_choice: { type: "function", name: "read" } }],
      ["refuse", { tools: [responsesTool], tool_choice: { type: "mcp", server_label: "s" } }],
      [
        "drop",
        { metadata: { a: "b" }, client_metadata: { a: "b" }, service_tier: "priority", user: "u", stream_options: {} }
      ],
      ["drop", { safety_identifier: "s", prompt_cache_retention: "24h", store: true }],
      ["refuse", { include: ["computer_call_output.output.image_url"] }],
      ["refuse", { include: ["file_search_call.results"] }],
      ["refuse", { previous_response_id: "resp_1" }],
      ["refuse", { conversation: "conv_1" }],
      ["refuse", { prompt: { id: "p" } }],
      ["refuse", { background: true }],
      ["refuse", { context_management: [{ type: "compaction" }] }],
      ["refuse", { max_tool_calls: 100 }],
      ["refuse", { top_logprobs: 5 }],
      ["refuse", { n: 2 }],
      ["refuse", { input: { role: "user", content: "x" } }]
    ],
    item: [
      ["pass", { role: "user", content: "x" }],
      [
        "pass",
        { type: "message", role: "assistant", phase: "commentary", content: [{ type: "output_text", text: "x" }] }
      ],
      ["pass", { role: "developer", content: [{ type: "input_text", text: "x" }] }],
      [
        "pass",
        {
          type: "reasoning",
          summary: [{ type: "summary_text", text: "s" }],
          content: [{ type: "reasoning_text", text: "r" }],
          encrypted_content: "e"
        }
      ],
      ["pass", { type: "function_call", call_id: "c", name: "f", namespace: "n", arguments: "{}" }],
      ["pass", { type: "function_call_output", call_id: "c", output: "r" }],
      ["pass", { type: "custom_tool_call", call_id: "c", name: "f", input: "x" }],
      ["pass", { type: "custom_tool_call_output", call_id: "c", output: "r" }],
      ["search", { type: "web_search_call", action: { type: "search", query: "q", sources: [{ type: "url", url }] } }],
      ["refuse", { type: "item_reference", id: "i" }],
      ["refuse", { id: "msg_1" }],
      ["refuse", { type: null, id: "msg_1" }],
      ["refuse", { type: "message", id: "msg_1" }],
      ["refuse", { role: "user", content: { file_url: url } }],
      ["refuse", { role: "user" }],
      ["refuse", { type: "computer_call", call_id: "c", action: { type: "screenshot" } }],
      [
        "refuse",
        { type: "computer_call_output", call_id: "c", output: { type: "computer_screenshot", image_url: url } }
      ],
      ["refuse", { type: "tool_search_call", arguments: {} }],
      ["refuse", { type: "tool_search_output", tools: [{ type: "mcp", server_url: url, server_label: "s" }] }],
      ["refuse", { type: "mcp_call", server_label: "s", name: "f", arguments: "{}" }],
      ["refuse", { type: "mcp_list_tools", server_label: "s", tools: [] }],
      ["refuse", { type: "mcp_approval_response", approve: true, approval_request_id: "a" }],
      ["refuse", { type: "file_search_call", id: "f", queries: ["q"] }],
      ["refuse", { type: "code_interpreter_call", id: "c", container_id: "c", code: "x" }],
      ["refuse", { type: "image_generation_call", id: "i" }],
      ["refuse", { type: "local_shell_call", call_id: "c", action: { type: "exec", command: ["ls"] } }],
      ["refuse", { type: "shell_call", call_id: "c", action: { commands: ["ls"] } }],
      ["refuse", { type: "apply_patch_call", call_id: "c" }],
      ["refuse", { type: "compaction", encrypted_content: "e" }]
    ],
    part: [
      ["pass", { type: "input_text", text: "x" }],
      ["pass", { type: "refusal", refusal: "x" }],
      ["pass", { type: "input_image", image_url: png, detail: "auto" }],
      ["refuse", { type: "input_image", image_url: url }],
      ["refuse", { type: "input_image", image_url: { url } }],
      ["refuse", { type: "input_image", file_id: "f" }],
      ["refuse", { type: "input_image", image_url: png, file_id: "f" }],
      ["refuse", { type: "input_file", file_url: url }],
      ["refuse", { type: "input_file", file_id: "f" }],
      ["refuse", { type: "input_file", filename: "a.pdf", file_data: `data:application/pdf;base64,${pixel}` }],
      ["refuse", { type: "input_audio", input_audio: { data: url, format: "wav" } }],
      ["refuse", { type: "input_video", video_url: url }],
      ["refuse", { type: "computer_screenshot", image_url: url }]
    ],
    "part of a result": [
      ["pass", { type: "input_text", text: "x" }],
      ["refuse", { type: "input_image", image_url: url }],
      ["refuse", { type: "input_file", file_url: url }]
    ],
    tool: [
      ["pass", { type: "function", name: "f", description: "d", parameters, strict: false }],
      [
        "pass",
        { type: "custom", name: "f", description: "d", format: { type: "grammar", definition: "d", syntax: "regex" } }
      ],
      ["pass", { type: "namespace", name: "n2", tools: [] }],
      ["refuse", { type: "function", name: "f", parameters: remote }],
      ["search", { type: "web_search", external_web_access: true, search_context_size: "low" }],
      ["search", { type: "web_search_preview" }],
      ["tool", { type: "web_search_2025_08_26" }],
      ["tool", { type: "mcp", server_label: "s", server_url: url }],
      ["tool", { type: "file_search", vector_store_ids: ["v"] }],
      ["tool", { type: "code_interpreter", container: { type: "auto" } }],
      ["tool", { type: "image_generation" }],
      ["tool", { type: "computer_use_preview" }],
      ["tool", { type: "tool_search" }],
      ["tool", { type: "shell" }],
      ["tool", { type: "local_shell" }],
      ["tool", { type: "apply_patch" }],
      ["refuse", { name: "f" }]
    ],
    "tool of a namespace": [
      ["pass", { type: "custom", name: "f" }],
      ["tool", { type: "mcp", server_label: "s", server_url: url }],
      ["tool", { type: "web_search" }]
    ],
    "added tool": [
      ["pass", { type: "function", name: "f" }],
      ["search", { type: "web_search" }],
      ["tool", { type: "mcp", server_label: "s", server_url: url }]
    ]
  }
}

const anthropicTool = { name: "read", input_schema: parameters }
const image = { type: "image", source: { type: "base64", media_type: "image/png", data: pixel } }

const anthropic: FormatCorpus = {
  base: { messages: [user] },
  place: {
    field: (value) => ({ messages: [user], ...Object(value) }),
    message: (value) => ({ messages: [user, value] }),
    block: (value) => ({ messages: [{ role: "user", content: [value] }] }),
    "block of the model": (value) => ({ messages: [user, { role: "assistant", content: [value] }] }),
    "block of a result": (value) => ({
      messages: [{ role: "user", content: [{ type: "tool_result", tool_use_id: "t", content: [value] }] }]
    }),
    tool: (value) => ({ messages: [user], tools: [anthropicTool, value] })
  },
  rows: {
    field: [
      ["pass", { model: "m", max_tokens: 5, stream: true, temperature: 1, top_p: 1, top_k: 1, stop_sequences: ["a"] }],
      ["pass", { system: "s" }],
      ["pass", { system: [{ type: "text", text: "s", cache_control: { type: "ephemeral" } }] }],
      ["refuse", { system: [image] }],
      ["pass", { thinking: { type: "enabled", budget_tokens: 100 } }],
      ["pass", { thinking: { type: "adaptive", display: "updates" }, output_config: { effort: "high" } }],
      ["pass", { thinking: { type: "disabled" } }],
      ["pass", { output_config: { format: { type: "json_schema", schema: parameters } } }],
      ["refuse", { output_config: { format: { type: "json_schema", schema: remote } } }],
      ["pass", { context_management: { edits: [{ type: "clear_thinking_20251015", keep: "all" }] } }],
      [
        "pass",
        {
          context_management: {
            edits: [{ type: "clear_tool_uses_20250919", trigger: { type: "input_tokens", value: 5 } }]
          }
        }
      ],
      ["refuse", { context_management: { edits: [{ type: "compact_20260112" }] } }],
      ["pass", { cache_control: { type: "ephemeral" } }],
      ["pass", { tools: [anthropicTool], tool_choice: { type: "auto", disable_parallel_tool_use: true } }],
      ["pass", { tools: [anthropicTool], tool_choice: { type: "tool", name: "read" } }],
      ["drop", { metadata: { user_id: "u" }, service_tier: "auto", speed: "fast" }],
      ["refuse", { mcp_servers: [{ type: "url", url, name: "x" }] }],
      ["refuse", { container: "c" }],
      ["refuse", { container: { skills: [{ type: "anthropic", skill_id: "pdf" }] } }],
      ["refuse", { fallbacks: [{ model: "m" }] }],
      ["refuse", { inference_geo: "us" }],
      ["refuse", { betas: ["files-api-2025-04-14"] }],
      ["refuse", { output_format: { type: "json_schema", schema: {} } }],
      ["refuse", { messages: { role: "user", content: "x" } }]
    ],
    message: [
      ["pass", { role: "system", content: "s" }],
      ["refuse", { role: "system", content: [{ type: "tool_addition", tools: [{ type: "mcp_toolset" }] }] }],
      ["refuse", { role: "tool", content: "x" }],
      ["refuse", { role: "user" }],
      ["refuse", { role: "user", content: { type: "text", text: "x" } }],
      ["refuse", { role: "user", content: "x", source: { type: "url", url } }]
    ],
    block: [
      ["pass", { type: "text", text: "x", cache_control: { type: "ephemeral" } }],
      ["pass", image],
      ["pass", { type: "tool_result", tool_use_id: "t", content: "r", is_error: true }],
      ["refuse", { type: "image", source: { type: "url", url } }],
      ["refuse", { type: "image", source: { type: "file", file_id: "f" } }],
      ["refuse", { type: "image", source: { ...image.source, url } }],
      ["refuse", { type: "image", source: { type: "base64", media_type: "image/svg+xml", data: pixel } }],
      ["refuse", { type: "document", source: { type: "url", url } }],
      ["refuse", { type: "document", source: { type: "file", file_id: "f" } }],
      ["refuse", { type: "document", source: { type: "base64", media_type: "application/pdf", data: pixel } }],
      ["refuse", { type: "document", source: { type: "content", content: [image] } }],
      ["refuse", { type: "search_result", source: url, title: "t", content: [{ type: "text", text: "x" }] }],
      ["refuse", { type: "container_upload", file_id: "f" }],
      ["refuse", { type: "video", source: { type: "url", url } }],
      ["refuse", { text: "x" }]
    ],
    "block of the model": [
      ["pass", { type: "thinking", thinking: "t", signature: "s" }],
      ["pass", { type: "redacted_thinking", data: "d" }],
      ["pass", { type: "tool_use", id: "t", name: "read", input: { path: "a" } }],
      ["search", { type: "server_tool_use", id: "s", name: "web_search", input: { query: "q" } }],
      ["refuse", { type: "server_tool_use", id: "s", name: "web_fetch", input: { url } }],
      [
        "search",
        {
          type: "web_search_tool_result",
          tool_use_id: "s",
          content: [{ type: "web_search_result", url, title: "t", encrypted_content: "e", page_age: null }]
        }
      ],
      ["refuse", { type: "web_fetch_tool_result", tool_use_id: "s", content: { type: "web_fetch_result", url } }],
      ["refuse", { type: "code_execution_tool_result", tool_use_id: "s", content: {} }],
      ["refuse", { type: "bash_code_execution_tool_result", tool_use_id: "s", content: {} }],
      ["refuse", { type: "mcp_tool_use", id: "m", name: "f", server_name: "x", input: {} }],
      ["refuse", { type: "mcp_tool_result", tool_use_id: "m", content: [] }],
      ["refuse", { type: "compaction", content: "x" }]
    ],
    "block of a result": [
      ["pass", { type: "text", text: "x" }],
      ["pass", image],
      ["refuse", { type: "image", source: { type: "url", url } }],
      ["refuse", { type: "document", source: { type: "url", url } }],
      ["refuse", { type: "tool_reference", tool_name: "x" }],
      ["refuse", { type: "search_result", source: url, title: "t", content: [] }]
    ],
    tool: [
      [
        "pass",
        { type: "custom", name: "f", description: "d", input_schema: parameters, cache_control: { type: "ephemeral" } }
      ],
      ["refuse", { name: "f", input_schema: remote }],
      ["refuse", { name: "f", input_schema: {}, allowed_callers: ["code_execution_20250825"] }],
      ["search", { type: "web_search_20250305", name: "web_search", max_uses: 8, allowed_domains: ["a.example"] }],
      ["tool", { type: "web_search_20260209", name: "web_search" }],
      ["tool", { type: "web_fetch_20250910", name: "web_fetch" }],
      ["tool", { type: "code_execution_20250825", name: "code_execution" }],
      ["tool", { type: "mcp_toolset", mcp_server_name: "x" }],
      ["tool", { type: "bash_20250124", name: "bash" }],
      ["tool", { type: "text_editor_20250728", name: "str_replace_based_edit_tool" }],
      ["tool", { type: "memory_20250818", name: "memory" }],
      ["tool", { type: "computer_20250124", name: "computer" }],
      ["tool", { type: "tool_search_tool_regex_20251119", name: "tool_search_tool_regex" }],
      ["tool", { type: "advisor_20260301", name: "advisor", model: "m" }]
    ]
  }
}

const said = { role: "user", parts: [{ text: "x" }] }
const declaration = { name: "read", parameters }
const inlineData = { mimeType: "image/png", data: pixel }

const gemini: FormatCorpus = {
  base: { contents: [said] },
  place: {
    field: (value) => ({ contents: [said], ...Object(value) }),
    content: (value) => ({ contents: [said, value] }),
    part: (value) => ({ contents: [{ role: "user", parts: [value] }] }),
    config: (value) => ({ contents: [said], generationConfig: value }),
    tool: (value) => ({ contents: [said], tools: [{ functionDeclarations: [declaration] }, value] })
  },
  rows: {
    field: [
      ["pass", { systemInstruction: { role: "user", parts: [{ text: "s" }] } }],
      ["refuse", { systemInstruction: { parts: [{ fileData: { fileUri: url } }] } }],
      ["refuse", { systemInstruction: { parts: { fileData: { fileUri: url } } } }],
      ["refuse", { system_instruction: { parts: [{ file_data: { file_uri: url } }] } }],
      [
        "pass",
        {
          tools: [{ functionDeclarations: [declaration] }],
          toolConfig: { functionCallingConfig: { mode: "ANY", allowedFunctionNames: ["read"] } }
        }
      ],
      ["refuse", { tools: { urlContext: {} } }],
      ["refuse", { tools: [{ functionDeclarations: [declaration] }], toolConfig: { retrievalConfig: { latLng: {} } } }],
      ["pass", { safetySettings: [{ category: "HARM_CATEGORY_HARASSMENT", threshold: "BLOCK_NONE" }] }],
      ["drop", { labels: { a: "b" }, serviceTier: "priority", store: true, model: "models/other" }],
      ["drop", { service_tier: "priority" }],
      ["refuse", { cachedContent: "cachedContents/1" }],
      ["refuse", { cached_content: "cachedContents/1" }],
      ["refuse", { modelArmorConfig: {} }],
      ["refuse", { contents: said }],
      ["refuse", { contents: { parts: { fileData: { fileUri: url } } } }],
      ["refuse", { contents: { parts: [{ fileData: { fileUri: url } }] } }],
      ["refuse", { contents: [{ parts: { fileData: { fileUri: url } } }] }],
      ["refuse", { contents: "x" }]
    ],
    content: [
      ["pass", { role: "model", parts: [{ text: "x" }] }],
      ["refuse", { role: "user", parts: { text: "x" } }],
      ["refuse", { role: "user", parts: [["x"]] }],
      ["refuse", { role: "user", parts: [{ text: "x" }], fileData: { fileUri: url } }]
    ],
    part: [
      ["pass", { text: "x", thought: true, thoughtSignature: "s" }],
      ["pass", { inlineData }],
      ["pass", { functionCall: { id: "c", name: "f", args: { file_data: { a_b: 1 } } }, thoughtSignature: "s" }],
      ["pass", { functionResponse: { id: "c", name: "f", response: { output: "r", file_data: 1 } } }],
      ["pass", { functionResponse: { name: "f", response: {}, parts: [{ inlineData }] } }],
      ["refuse", { fileData: { fileUri: url } }],
      ["refuse", { file_data: { file_uri: url, mime_type: "image/png" } }],
      ["refuse", { text: "x", fileData: { fileUri: url } }],
      ["refuse", { functionResponse: { name: "f", response: {}, parts: [{ fileData: { fileUri: url } }] } }],
      ["refuse", { function_response: { name: "f", parts: { file_data: { file_uri: url } } } }],
      ["refuse", { inlineData: { mimeType: "application/pdf", data: pixel } }],
      ["refuse", { inlineData: { mimeType: "image/png", data: pixel, fileUri: url } }],
      ["refuse", { executableCode: { language: "PYTHON", code: "x" } }],
      ["refuse", { codeExecutionResult: { outcome: "OUTCOME_OK", output: "x" } }],
      ["refuse", { toolCall: { toolType: "URL_CONTEXT", args: { urls: [url] } } }],
      ["refuse", { toolResponse: { toolType: "URL_CONTEXT", response: {} } }],
      ["refuse", { inlineData, videoMetadata: { fps: 60 } }],
      ["refuse", { text: { fileData: { fileUri: url } } }],
      ["refuse", { thought: "yes" }]
    ],
    config: [
      [
        "pass",
        { temperature: 1, topP: 1, topK: 64, seed: 1, maxOutputTokens: 5, stopSequences: ["a"], candidateCount: 1 }
      ],
      ["pass", { thinkingConfig: { includeThoughts: true, thinkingBudget: 100, thinkingLevel: "high" } }],
      ["pass", { responseMimeType: "application/json", responseJsonSchema: parameters, mediaResolution: "LOW" }],
      ["refuse", { responseJsonSchema: remote }],
      ["refuse", { candidateCount: 8 }],
      ["refuse", { candidate_count: 8 }],
      ["refuse", { responseModalities: ["IMAGE"] }],
      ["refuse", { response_modalities: ["AUDIO"] }],
      ["refuse", { speechConfig: {} }],
      ["refuse", { imageConfig: { imageSize: "4K" } }],
      ["refuse", { routingConfig: {} }]
    ],
    tool: [
      ["pass", { functionDeclarations: [{ name: "f", description: "d", parametersJsonSchema: parameters }] }],
      ["refuse", { functionDeclarations: [{ name: "f", parametersJsonSchema: remote }] }],
      ["refuse", { functionDeclarations: { name: "f" } }],
      ["search", { googleSearch: {} }],
      ["tool", { urlContext: {} }],
      ["tool", { url_context: {} }],
      ["tool", { codeExecution: {} }],
      ["tool", { googleSearchRetrieval: {} }],
      ["tool", { googleMaps: {} }],
      ["tool", { fileSearch: { fileSearchStoreNames: ["s"] } }],
      ["tool", { computerUse: {} }],
      ["tool", { enterpriseWebSearch: {} }],
      ["tool", { retrieval: { externalApi: { endpoint: url } } }],
      ["tool", { mcpServers: [{ streamableHttpTransport: { url } }] }]
    ]
  }
}

export const requestCorpus: Readonly<Record<WireFormat, FormatCorpus>> = {
  "openai-chat": chat,
  "openai-responses": responses,
  "anthropic-messages": anthropic,
  gemini
}
