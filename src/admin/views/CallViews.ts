/** Builds the JSON of recorded model calls for the administration: what a call sent and what it returned, in texts of limited length. */
import { Effect } from "effect"
import type { Evidence, StoredCall } from "../../llm/Evidence.ts"
import type { CallTextRecord } from "../api/CallRecords.ts"
import { toTime } from "./Views.ts"
import { withoutUndefined } from "./WithoutUndefined.ts"

/** Limits of what a response of the administration contains. */
const maxCharacters = 200_000
const maxMessages = 60

export const callView = (id: string, call: StoredCall) => {
  const usage = call.response?.usage ?? call.failure?.usage
  return {
    ...withoutUndefined({
      id,
      model: call.model,
      role: call.role,
      at: toTime(call.at),
      duration_ms: Math.round(call.millis),
      failure: call.failure?.why,
      messages: call.messages.length,
      input_tokens: usage?.inputTokens,
      output_tokens: usage?.outputTokens
    }),
    cost_usd: usage?.costUsd ?? null
  }
}

const cutText = (role: CallTextRecord["role"], text: string): CallTextRecord =>
  text.length <= maxCharacters ? { role, text } : { role, text: text.slice(0, maxCharacters), cut: true }

const parse = (json: string): unknown => {
  try {
    return JSON.parse(json)
  } catch {
    return json
  }
}

const textIn = (value: unknown): string => (typeof value === "string" ? value : "")

/** Formats calls of tools and their results below the text of a message. */
const withData = (text: string, data: unknown): string =>
  data === undefined || (Array.isArray(data) && data.length === 0)
    ? text
    : [text, JSON.stringify(data, null, 2)].filter((part) => part !== "").join("\n\n")

/** Formats a message from its stored form. */
const toMessage = (json: string): CallTextRecord => {
  const { calls, common, results, role, text } = Object(parse(json))
  const shownRole = role === "assistant" || role === "tool" ? role : "user"
  return cutText(
    shownRole,
    withData([textIn(common), textIn(text)].filter((part) => part !== "").join("\n"), calls ?? results)
  )
}

/** Returns the texts of a call. A conversation that is longer than the limit has its first and its last messages. */
export const readCallTexts = Effect.fnUntraced(function* (
  evidence: Evidence["Service"],
  runId: string,
  id: string,
  call: StoredCall
) {
  const { messages, response } = call
  const shown =
    messages.length <= maxMessages ? messages : [...messages.slice(0, 1), ...messages.slice(1 - maxMessages)]
  const read = (name: string) => Effect.map(evidence.text(runId, name), (text) => text ?? "")
  const system = yield* read(call.system)
  const tools = yield* read(call.tools)
  const texts = yield* Effect.forEach(shown, read)
  return withoutUndefined({
    id,
    texts: [
      cutText("system", system),
      ...(tools === "" || tools === "[]" ? [] : [cutText("tools", withData("", parse(tools)))]),
      ...texts.map(toMessage),
      ...(response === undefined ? [] : [cutText("response", withData(response.text, response.calls))])
    ],
    omitted: shown.length === messages.length ? undefined : messages.length - shown.length
  })
})
