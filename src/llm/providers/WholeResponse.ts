/**
 * Chat completions servers that ignore `stream` respond with one JSON document, and some report an error with status 200. The
 * first becomes a stream of one event, the second a failed response.
 */
import type { FetchFunction } from "@ai-sdk/provider-utils"
import { Option, Schema } from "effect"

const Fields = Schema.Record(Schema.String, Schema.Unknown)
const Choice = Schema.StructWithRest(Schema.Struct({ message: Fields }), [Fields])
const Whole = Schema.StructWithRest(Schema.Struct({ choices: Schema.Array(Choice) }), [Fields])
const Failed = Schema.Struct({
  error: Schema.Union([
    Schema.String,
    Schema.Struct({ code: Schema.optional(Schema.Unknown), status: Schema.optional(Schema.Unknown) })
  ])
})
const decodeWhole = Schema.decodeUnknownOption(Schema.fromJsonString(Whole))
const decodeFailed = Schema.decodeUnknownOption(Schema.fromJsonString(Failed))

/** Converts whole documents; streams and failed responses pass through. */
export const wholeAsStream =
  (fetch: FetchFunction): FetchFunction =>
  async (input, init) => {
    const response = await fetch(input, init)
    if (!response.ok || response.headers.get("content-type")?.includes("json") !== true) return response
    const text = await response.text()
    const failed = decodeFailed(text)
    if (Option.isSome(failed))
      return new Response(text, { status: statusOf(failed.value.error), headers: response.headers })
    const whole = decodeWhole(text)
    if (Option.isNone(whole)) return new Response(text, { headers: response.headers })
    const chunk = { ...whole.value, choices: whole.value.choices.map(toDelta) }
    const headers = new Headers(response.headers)
    headers.set("content-type", "text/event-stream")
    return new Response(`data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`, { headers })
  }

const toDelta = ({ message, ...choice }: typeof Choice.Type) => {
  const calls: unknown = message["tool_calls"]
  return {
    ...choice,
    delta: {
      ...message,
      ...(Array.isArray(calls) ? { tool_calls: calls.map((call, index) => ({ ...Object(call), index })) } : {})
    }
  }
}

/** Returns the HTTP status that the error names, else that of a broken gateway. */
const statusOf = (error: typeof Failed.Type.error): number => {
  const named = typeof error === "string" ? [] : [error.status, error.code].map(Number)
  return named.find((status) => Number.isInteger(status) && status >= 400 && status <= 599) ?? 502
}
