/** The requests of OpenAI's responses API that an agent may send. */
import { toJson, toList, toText } from "../WireJson.ts"
import type { WireJson } from "../WireJson.ts"
import type { RestrictedBody } from "../../WireRow.ts"
import { imageData } from "./CommonShapes.ts"
import { restrictBody } from "./RestrictBody.ts"
import {
  byField,
  data,
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
import type { WireShape } from "./WireShape.ts"

/** A source that a search of the provider has found; it is not loaded again. */
const citation = byField("type", {
  url_citation: object({ type: text, url: text, title: text, start_index: number, end_index: number })
})
const textPart = object({ type: text, text }, { required: ["text"] })
const inputParts = {
  input_text: textPart,
  text: textPart,
  output_text: object(
    { type: text, text, annotations: list(searching(citation)), logprobs: omitted },
    { required: ["text"] }
  ),
  refusal: object({ type: text, refusal: text }, { required: ["refusal"] }),
  input_image: object(
    { type: text, image_url: data(imageData), detail: allow("auto", "low", "high", "original") },
    { required: ["image_url"] }
  )
}
const parts = textOr(list(byField("type", inputParts)))

/** Providers look items up by their id. The items of a request are complete, so that no id is sent. */
const item = { type: text, id: omitted, status: orNull(allow("completed", "incomplete", "in_progress")) }

const roles = allow("user", "assistant", "system", "developer")
const message = object({ ...item, role: roles, content: parts, phase: text }, { required: ["role", "content"] })
const call = { ...item, call_id: text, name: text, namespace: text }
const output = object({ ...item, call_id: text, output: parts }, { required: ["call_id", "output"] })

const functionTool = object(
  { type: text, name: text, description: orNull(text), parameters: orNull(schema), strict: orNull(flag) },
  { required: ["name"] }
)
const customTool = object(
  {
    type: text,
    name: text,
    description: text,
    format: byField("type", {
      text: object({ type: text }),
      grammar: object({ type: text, definition: text, syntax: allow("lark", "regex") })
    })
  },
  { required: ["name"] }
)
const namespace = object(
  {
    type: text,
    name: text,
    description: text,
    tools: tools({ function: functionTool, custom: customTool })
  },
  { required: ["name", "tools"] }
)
const searchTool = object({
  type: text,
  search_context_size: allow("low", "medium", "high"),
  external_web_access: flag,
  filters: orNull(object({ allowed_domains: orNull(list(text)), blocked_domains: orNull(list(text)) })),
  user_location: omitted
})
const toolList = tools(
  { function: functionTool, custom: customTool, namespace },
  { search: { web_search: searchTool, web_search_preview: searchTool } }
)

/** A search that the provider made; it is not made again. */
const searchAction = byField("type", {
  search: object({
    type: text,
    query: orNull(text),
    queries: orNull(list(text)),
    sources: orNull(list(object({ type: text, url: text })))
  }),
  open_page: object({ type: text, url: orNull(text) }),
  find_in_page: object({ type: text, url: orNull(text), pattern: orNull(text) })
})

const inputItem = byField(
  "type",
  {
    message,
    reasoning: object({
      ...item,
      summary: list(byField("type", { summary_text: textPart })),
      content: orNull(list(byField("type", { reasoning_text: textPart }))),
      encrypted_content: orNull(text)
    }),
    function_call: object({ ...call, arguments: text }, { required: ["call_id", "name", "arguments"] }),
    custom_tool_call: object({ ...call, input: text }, { required: ["call_id", "name", "input"] }),
    function_call_output: output,
    custom_tool_call_output: output,
    additional_tools: object({ ...item, role: text, tools: toolList }, { required: ["tools"] }),
    web_search_call: searching(object({ ...item, action: searchAction }))
  },
  "message"
)

const toolChoice = textOr(
  byField("type", {
    function: object({ type: text, name: text, namespace: text }),
    custom: object({ type: text, name: text })
  })
)

const request: WireShape = object({
  model: text,
  instructions: orNull(text),
  input: textOr(list(inputItem)),
  tools: toolList,
  tool_choice: toolChoice,
  parallel_tool_calls: orNull(flag),
  stream: orNull(flag),
  max_output_tokens: orNull(number),
  temperature: orNull(number),
  top_p: orNull(number),
  truncation: orNull(allow("auto", "disabled")),
  reasoning: orNull(object({ effort: orNull(text), summary: orNull(text), context: orNull(text) })),
  text: orNull(
    object({
      verbosity: orNull(text),
      format: byField("type", {
        text: object({ type: text }),
        json_object: object({ type: text }),
        json_schema: object({ type: text, name: text, description: text, schema, strict: orNull(flag) })
      })
    })
  ),
  include: orNull(list(allow("reasoning.encrypted_content", "web_search_call.action.sources"))),
  prompt_cache_key: orNull(text),
  // What providers store, link to persons, or charge more for.
  background: orNull(allow(false)),
  client_metadata: omitted,
  metadata: omitted,
  prompt_cache_retention: omitted,
  safety_identifier: omitted,
  service_tier: omitted,
  store: omitted,
  stream_options: omitted,
  user: omitted
})

const toolNames = (offered: unknown): ReadonlyArray<string> =>
  toList(offered).flatMap((tool) => (tool["type"] === "namespace" ? toolNames(tool["tools"]) : [toText(tool["name"])]))

export const restrictResponses = (body: WireJson, webSearch: boolean): RestrictedBody =>
  restrictBody(request, body, webSearch, (kept) => {
    const { name: chosen } = toJson(kept["tool_choice"])
    const names = new Set([
      ...toolNames(kept["tools"]),
      ...toList(kept["input"]).flatMap((one) => toolNames(one["tools"]))
    ])
    return {
      ...withTools(kept, { choice: "tool_choice", chosen: chosen === undefined ? undefined : toText(chosen), names }),
      store: false
    }
  })
