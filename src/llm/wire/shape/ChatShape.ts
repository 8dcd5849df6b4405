/** The requests of OpenAI's chat completions that an agent may send, with the additions of servers that repeat reasoning. */
import type { RestrictedBody } from "../../WireRow.ts"
import { toJson, toList, toText } from "../WireJson.ts"
import type { WireJson } from "../WireJson.ts"
import { cacheControl, imageData } from "./CommonShapes.ts"
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
  text,
  textOr,
  tools,
  withTools
} from "./WireShape.ts"
import type { WireShape } from "./WireShape.ts"

const parts = {
  text: object({ type: text, text, cache_control: cacheControl }, { required: ["text"] }),
  refusal: object({ type: text, refusal: text }, { required: ["refusal"] }),
  image_url: object(
    {
      type: text,
      image_url: object({ url: data(imageData), detail: allow("auto", "low", "high") }, { required: ["url"] }),
      cache_control: cacheControl
    },
    { required: ["image_url"] }
  )
}
const content = orNull(textOr(list(byField("type", parts))))

const call = byField(
  "type",
  {
    function: object({
      type: text,
      id: text,
      index: number,
      function: object({ name: text, arguments: text }, { required: ["name"] }),
      cache_control: cacheControl,
      // The signature of a thought, which Gemini requires in later requests.
      extra_content: object({ google: object({ thought_signature: text }) })
    }),
    custom: object({ type: text, id: text, index: number, custom: object({ name: text, input: text }) })
  },
  "function"
)

const reasoning = {
  type: text,
  id: orNull(text),
  format: orNull(text),
  index: number
}
const reasoningDetail = byField("type", {
  "reasoning.text": object({ ...reasoning, text: orNull(text), signature: orNull(text) }),
  "reasoning.summary": object({ ...reasoning, summary: text }),
  "reasoning.encrypted": object({ ...reasoning, data: text })
})

const common = { role: text, content, name: text, cache_control: cacheControl }
const message = byField("role", {
  system: object(common, { required: ["content"] }),
  developer: object(common, { required: ["content"] }),
  user: object(common, { required: ["content"] }),
  tool: object({ ...common, tool_call_id: text }, { required: ["content", "tool_call_id"] }),
  assistant: object({
    ...common,
    refusal: orNull(text),
    tool_calls: orNull(list(call)),
    reasoning: orNull(text),
    reasoning_content: orNull(text),
    reasoning_text: orNull(text),
    reasoning_opaque: orNull(text),
    reasoning_details: orNull(list(reasoningDetail)),
    annotations: omitted
  })
})

const tool = tools({
  function: object(
    {
      type: text,
      function: object(
        { name: text, description: text, parameters: schema, strict: orNull(flag) },
        { required: ["name"] }
      ),
      cache_control: cacheControl
    },
    { required: ["function"] }
  ),
  custom: object(
    {
      type: text,
      custom: object(
        {
          name: text,
          description: text,
          format: byField("type", {
            text: object({ type: text }),
            grammar: object({ type: text, grammar: object({ definition: text, syntax: allow("lark", "regex") }) })
          })
        },
        { required: ["name"] }
      )
    },
    { required: ["custom"] }
  )
})

const toolChoice = textOr(
  byField("type", {
    function: object({ type: text, function: object({ name: text }) }),
    custom: object({ type: text, custom: object({ name: text }) })
  })
)

const responseFormat = byField("type", {
  text: object({ type: text }),
  json_object: object({ type: text }),
  json_schema: object({
    type: text,
    json_schema: object({ name: text, description: text, schema, strict: orNull(flag) })
  })
})

/** One response is enough, and each further one costs as much. */
const one = orNull(allow(1))

const searchOptions = object({ search_context_size: allow("low", "medium", "high"), user_location: omitted })

const request: WireShape = object(
  {
    model: text,
    messages: list(message),
    tools: tool,
    tool_choice: toolChoice,
    parallel_tool_calls: flag,
    stream: orNull(flag),
    stream_options: orNull(object({ include_usage: flag, include_obfuscation: flag })),
    max_tokens: orNull(number),
    max_completion_tokens: orNull(number),
    n: one,
    best_of: one,
    temperature: orNull(number),
    top_p: orNull(number),
    top_k: orNull(number),
    min_p: orNull(number),
    frequency_penalty: orNull(number),
    presence_penalty: orNull(number),
    repetition_penalty: orNull(number),
    seed: orNull(number),
    stop: orNull(textOr(list(text))),
    response_format: responseFormat,
    reasoning_effort: orNull(text),
    verbosity: orNull(text),
    reasoning: orNull(object({ effort: text, max_tokens: number, enabled: flag, exclude: flag })),
    thinking: orNull(object({ type: text, budget_tokens: number })),
    enable_thinking: flag,
    prompt_cache_key: text,
    // What providers store, link to persons, or charge more for.
    metadata: omitted,
    prompt_cache_retention: omitted,
    safety_identifier: omitted,
    service_tier: omitted,
    store: omitted,
    user: omitted,
    web_search_options: (value, context) =>
      context.webSearch ? searchOptions(value, context) : void context.removed.add("web_search_options")
  },
  { required: ["messages"] }
)

const toolName = (offered: WireJson): string => toText(toJson(offered["function"] ?? offered["custom"])["name"])

export const restrictChat = (body: WireJson, webSearch: boolean): RestrictedBody =>
  restrictBody(request, body, webSearch, (kept) => {
    const choice = toJson(kept["tool_choice"])
    const chosen = choice["type"] === undefined ? undefined : toolName(choice)
    return withTools(kept, { choice: "tool_choice", chosen, names: new Set(toList(kept["tools"]).map(toolName)) })
  })
