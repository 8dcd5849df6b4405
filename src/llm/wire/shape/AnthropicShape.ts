/** The requests of Anthropic's messages API that an agent may send. */
import { toJson, toList, toText } from "../WireJson.ts"
import type { WireJson } from "../WireJson.ts"
import type { RestrictedBody } from "../../WireRow.ts"
import { cacheControl } from "./CommonShapes.ts"
import { restrictBody } from "./RestrictBody.ts"
import {
  anything,
  byField,
  flag,
  omitted,
  list,
  number,
  object,
  allow,
  orNull,
  schema,
  searching,
  text,
  textOr,
  tools,
  withTools
} from "./WireShape.ts"

const image = object(
  {
    type: text,
    source: byField("type", {
      base64: object(
        { type: text, media_type: allow("image/png", "image/jpeg", "image/gif", "image/webp"), data: text },
        { required: ["media_type", "data"] }
      )
    }),
    cache_control: cacheControl
  },
  { required: ["source"] }
)

/** Sources of a text that a search of the provider has found; they are not loaded again. */
const citation = byField("type", {
  web_search_result_location: object({
    type: text,
    url: text,
    title: orNull(text),
    encrypted_index: text,
    cited_text: text
  })
})
const textBlock = object(
  { type: text, text, cache_control: cacheControl, citations: orNull(searching(list(citation))) },
  { required: ["text"] }
)
const searchResult = byField("type", {
  web_search_result: object({ type: text, url: text, title: text, encrypted_content: text, page_age: orNull(text) })
})

const userBlocks = {
  text: textBlock,
  image,
  tool_result: object(
    {
      type: text,
      tool_use_id: text,
      content: textOr(list(byField("type", { text: textBlock, image }))),
      is_error: flag,
      cache_control: cacheControl
    },
    { required: ["tool_use_id"] }
  )
}
const assistantBlocks = {
  text: textBlock,
  thinking: object({ type: text, thinking: text, signature: text }),
  redacted_thinking: object({ type: text, data: text }),
  tool_use: object(
    { type: text, id: text, name: text, input: anything, cache_control: cacheControl, caller: omitted },
    { required: ["id", "name", "input"] }
  ),
  server_tool_use: searching(
    object({ type: text, id: text, name: allow("web_search"), input: object({ query: text }) })
  ),
  web_search_tool_result: searching(
    object({
      type: text,
      tool_use_id: text,
      content: (value, context) =>
        Array.isArray(value)
          ? list(searchResult)(value, context)
          : object({ type: allow("web_search_tool_result_error"), error_code: text })(value, context),
      cache_control: cacheControl
    })
  )
}

const messageOf = (blocks: Parameters<typeof byField>[1]) =>
  object({ role: text, content: textOr(list(byField("type", blocks))) }, { required: ["content"] })
const message = byField("role", {
  user: messageOf(userBlocks),
  assistant: messageOf(assistantBlocks),
  system: messageOf({ text: textBlock })
})

const clientTool = object(
  {
    type: text,
    name: text,
    description: text,
    input_schema: schema,
    cache_control: cacheControl,
    strict: flag,
    eager_input_streaming: flag
  },
  { required: ["name", "input_schema"] }
)
const searchTool = object(
  {
    type: text,
    name: allow("web_search"),
    max_uses: number,
    allowed_domains: orNull(list(text)),
    blocked_domains: orNull(list(text)),
    user_location: omitted,
    cache_control: cacheControl
  },
  { required: ["name"] }
)

/** Parts of a long conversation that the provider may ignore. */
const edit = byField("type", {
  clear_thinking_20251015: object({ type: text, keep: anything }),
  clear_tool_uses_20250919: object({
    type: text,
    trigger: object({ type: text, value: number }),
    keep: object({ type: text, value: number }),
    clear_at_least: orNull(object({ type: text, value: number })),
    clear_tool_inputs: flag,
    exclude_tools: orNull(list(text))
  })
})

const request = object(
  {
    model: text,
    messages: list(message),
    system: textOr(list(byField("type", { text: textBlock }))),
    tools: tools({ custom: clientTool }, { absent: "custom", search: { web_search_20250305: searchTool } }),
    tool_choice: byField("type", {
      auto: object({ type: text, disable_parallel_tool_use: flag }),
      any: object({ type: text, disable_parallel_tool_use: flag }),
      tool: object({ type: text, name: text, disable_parallel_tool_use: flag }, { required: ["name"] }),
      none: object({ type: text })
    }),
    max_tokens: number,
    stream: flag,
    temperature: number,
    top_p: number,
    top_k: number,
    stop_sequences: list(text),
    thinking: byField("type", {
      enabled: object({ type: text, budget_tokens: number, display: text }),
      adaptive: object({ type: text, display: text }),
      disabled: object({ type: text })
    }),
    output_config: object({
      effort: text,
      format: orNull(byField("type", { json_schema: object({ type: text, schema }) }))
    }),
    context_management: orNull(object({ edits: list(edit) })),
    cache_control: cacheControl,
    // What providers link to persons, or charge more for.
    metadata: omitted,
    service_tier: omitted,
    speed: omitted
  },
  { required: ["messages"] }
)

export const restrictAnthropic = (body: WireJson, webSearch: boolean): RestrictedBody =>
  restrictBody(request, body, webSearch, (kept) => {
    const { name: chosen } = toJson(kept["tool_choice"])
    return withTools(kept, {
      choice: "tool_choice",
      chosen: chosen === undefined ? undefined : toText(chosen),
      names: new Set(toList(kept["tools"]).map(({ name }) => toText(name)))
    })
  })
