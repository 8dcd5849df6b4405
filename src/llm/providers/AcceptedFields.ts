/**
 * Sends a request again when the server names an optional field of it in a refusal (400, 422): in the field's next form, or without it. What a
 * model of a provider refused is remembered, so that later requests are sent in the accepted form.
 *
 * | Field | Forms, in order |
 * |---|---|
 * | `tool_choice` | `auto`, absent |
 * | `max_tokens`, `max_completion_tokens` | the one under the name of the other, absent |
 * | a message of the role `system` | as the beginning of the first message of the user |
 * | other optional fields | absent |
 */
import type { FetchFunction } from "@ai-sdk/provider-utils"
import { Effect, Option, Predicate, Schema } from "effect"
import type { LlmProvider } from "../../config/schema/Llm.ts"
import { isOverflowText } from "../calls/OverflowText.ts"

type Body = Readonly<Record<string, unknown>>
type Field = NonNullable<LlmProvider["refused_fields"]>[number]
type Form = (body: Body) => Body

const without =
  (field: string): Form =>
  (body) =>
    Object.fromEntries(Object.entries(body).filter(([name]) => name !== field))
const renamed =
  (from: string, to: string): Form =>
  ({ [from]: value, ...rest }) => ({ ...rest, [to]: value })

const Messages = Schema.Array(Schema.Record(Schema.String, Schema.Unknown))
const isMessages = Schema.is(Messages)

/** Merges system messages with the first message of the user, where both are text; else they become messages of the user. */
const foldSystem: Form = (body) => {
  const messages = body["messages"]
  if (!isMessages(messages)) return body
  const system = messages.filter(({ role }) => role === "system")
  const [first, ...rest] = messages.filter(({ role }) => role !== "system")
  const texts = [...system, ...(first === undefined ? [] : [first])].map(({ content }) => content)
  return first?.["role"] === "user" && texts.every(Predicate.isString)
    ? { ...body, messages: [{ ...first, content: texts.join("\n\n") }, ...rest] }
    : {
        ...body,
        messages: messages.map((message) => (message["role"] === "system" ? { ...message, role: "user" } : message))
      }
}

/** Forms of each field after the first one. A form applies while the field is in the body. */
const forms: Readonly<Record<Field, readonly [Form, ...ReadonlyArray<Form>]>> = {
  tool_choice: [(body) => ({ ...body, tool_choice: "auto" }), without("tool_choice")],
  max_tokens: [renamed("max_tokens", "max_completion_tokens"), without("max_tokens")],
  max_completion_tokens: [renamed("max_completion_tokens", "max_tokens"), without("max_completion_tokens")],
  max_output_tokens: [without("max_output_tokens")],
  system: [foldSystem],
  temperature: [without("temperature")],
  top_p: [without("top_p")],
  stream_options: [without("stream_options")],
  parallel_tool_calls: [without("parallel_tool_calls")],
  prompt_cache_key: [without("prompt_cache_key")],
  reasoning_effort: [without("reasoning_effort")],
  thinking: [without("thinking")],
  store: [without("store")]
}

const isField = (name: string): name is Field => Object.hasOwn(forms, name)
const fields = Object.keys(forms).filter(isField)

/** Number of forms of each field that the server has refused. */
type RefusedForms = Map<Field, number>

const isPresent = (body: Body, field: Field): boolean => {
  if (field !== "system") return body[field] !== undefined
  const messages = body["messages"]
  return isMessages(messages) && messages.some(({ role }) => role === "system")
}

/** Returns the body in the forms that were not refused. */
const adapt = (body: Body, refused: RefusedForms): Body => {
  let adapted = body
  for (const [field, count] of refused) {
    const form = isPresent(body, field) ? forms[field][Math.min(count, forms[field].length) - 1] : undefined
    if (form !== undefined) adapted = form(adapted)
  }
  return adapted
}

const Refusal = Schema.Struct({
  error: Schema.Union([
    Schema.String,
    Schema.Struct({ message: Schema.optional(Schema.String), param: Schema.optional(Schema.NullOr(Schema.String)) })
  ])
})
const decodeRefusal = Schema.decodeUnknownOption(Schema.fromJsonString(Refusal))

const systemText = /\bsystem[ _](?:role|message|prompt|instruction)|\brole\b.{0,40}\bsystem\b|\bdeveloper instruction/i
/** Returns the field of the request that the refusal names: by `param`, else by the first name in its text. */
const findRefused = (response: string, body: Body): Field | undefined => {
  const { error } = Option.getOrElse(decodeRefusal(response), () => ({ error: response }))
  const text = Predicate.isString(error) ? error : (error.message ?? "")
  const param = Predicate.isString(error) ? undefined : (error.param ?? undefined)
  if (isOverflowText(text)) return undefined
  const present = fields.filter((field) => isPresent(body, field))
  const words: ReadonlyArray<string> = text.match(/\w+/g) ?? []
  const named = words.find((word) => present.some((field) => field === word && field !== "system"))
  const isSystem = present.includes("system") && systemText.test(text)
  return (
    present.find((field) => field === param) ??
    present.find((field) => field === named) ??
    (isSystem ? "system" : undefined)
  )
}

/** Longer refusals are not searched. */
const maxRefusal = 64 * 1024

const parse = (body: RequestInit["body"]): Body | undefined => {
  if (!Predicate.isString(body)) return undefined
  const parsed: unknown = JSON.parse(body)
  return Predicate.isObject(parsed) ? { ...parsed } : undefined
}

export interface AcceptedFields {
  /** Fields that the configuration names (`refused_fields`). */
  readonly configured: ReadonlyArray<Field>
  /** Refused forms of each model, by its name. The connections of a provider share them. */
  readonly refused: Map<string, RefusedForms>
  /** Called for each newly refused form. */
  readonly onRefused: (model: string, field: Field) => void
}

/** Keeps what models refused while the process runs, by provider, address and model. */
export const makeAcceptedFields = () => {
  const kept = new Map<string, AcceptedFields["refused"]>()
  const news: Array<{ readonly provider: string; readonly model: string; readonly field: string }> = []
  return {
    of: ({ base_url = "", id, refused_fields: configured = [] }: LlmProvider): AcceptedFields => {
      const key = JSON.stringify([id, base_url, configured])
      const refused: AcceptedFields["refused"] = kept.get(key) ?? new Map()
      kept.set(key, refused)
      return { configured, refused, onRefused: (model, field) => void news.push({ provider: id, model, field }) }
    },
    logRefused: Effect.suspend(() =>
      Effect.forEach(
        news.splice(0),
        (one) => Effect.logInfo("model refused a field of a request, which was sent again in another form", one),
        { discard: true }
      )
    )
  }
}

/** Returns a transport that adapts bodies. Each repetition excludes a form, so that they end. A body is parsed only if something was refused. */
export const adaptFields =
  (fetch: FetchFunction, { configured, onRefused, refused }: AcceptedFields): FetchFunction =>
  async (input, init) => {
    const isFirst = configured.length === 0 && refused.size === 0
    let response = isFirst ? await fetch(input, init) : undefined
    if (response !== undefined && !isRefusal(response)) return response
    const body = parse(init?.body)
    if (body === undefined || !inOpenAiFormat.test(String(input instanceof Request ? input.url : input)))
      return response ?? fetch(input, init)
    const model = String(body["model"] ?? (input instanceof Request ? input.url : input))
    const own = refused.get(model) ?? new Map(configured.map((field) => [field, 1]))
    for (;;) {
      const sent = adapt(body, own)
      response ??= await fetch(input, sent === body ? init : { ...init, body: JSON.stringify(sent) })
      if (!isRefusal(response)) return response
      const text = await response.text()
      const field = text.length > maxRefusal ? undefined : originOf(findRefused(text, sent), body)
      const count = field === undefined ? 0 : (own.get(field) ?? 0)
      if (field === undefined || count >= forms[field].length)
        return new Response(text, { status: response.status, headers: response.headers })
      refused.set(model, own.set(field, count + 1))
      onRefused(model, field)
      response = undefined
    }
  }

const inOpenAiFormat = /\/(?:chat\/completions|responses)(?:\?|$)/

const isRefusal = ({ status }: Response): boolean => status === 400 || status === 422

/** Returns the field of the original body: the form that was refused may be its other name. */
const originOf = (field: Field | undefined, body: Body): Field | undefined =>
  field === undefined || isPresent(body, field)
    ? field
    : field === "max_completion_tokens" && isPresent(body, "max_tokens")
      ? "max_tokens"
      : field === "max_tokens" && isPresent(body, "max_completion_tokens")
        ? "max_completion_tokens"
        : undefined
