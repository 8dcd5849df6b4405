/** Executes one response of a model: decodes its tool calls, acts on them and replies, in order. */
import { Effect } from "effect"
import type { GatewayAnswer, Message, ToolCall } from "../llm/Gateway.ts"
import type { Reader } from "./ExtraContext.ts"
import type { Reports } from "./Reports.ts"
import { decodeToolInput, toolNames } from "./Tools.ts"

/** The end of the review as requested by the model. */
export type Chosen =
  | { readonly _tag: "Summary"; readonly markdown: string }
  | { readonly _tag: "Skip"; readonly reason: string }

/** Maximum number of calls of one response that are repeated in the conversation; all are handled. */
const maxRepeatedCalls = 200

/** Result of one response. */
export interface AgentStep {
  /** Messages with which the conversation continues. */
  readonly messages: ReadonlyArray<Message>
  readonly ending: Chosen | undefined
  readonly valid: number
  /** Number of new problems. */
  readonly recorded: number
  /** Error of each invalid call. */
  readonly invalid: ReadonlyArray<string>
}

/** Executes every call of a response. Problems go to `reports`; the reply to an invalid call contains its error. */
export const handle = Effect.fnUntraced(function* (answer: GatewayAnswer, reports: Reports, extra: Reader) {
  const before = reports.problems.length
  const results: Array<{ readonly id: string; readonly name: string; readonly output: string }> = []
  const repeated: Array<ToolCall> = []
  const invalid: Array<string> = []
  let ending: Chosen | undefined
  for (const call of answer.calls) {
    const name = toolNames.includes(call.name) ? call.name : undefined
    const decoded =
      name === undefined
        ? { ok: false as const, error: `unknown tool; the tools are ${toolNames.join(", ")}` }
        : decodeToolInput(name, call.input)
    let output: string
    if (!decoded.ok) {
      output = `error: not accepted. ${decoded.error}`
      invalid.push(`${(name ?? call.name).slice(0, 80)}: ${decoded.error}`)
    } else {
      const { request } = decoded
      switch (request.tool) {
        case "report_problem":
          output = reports.add(request.input)
          break
        case "publish_summary":
          ending = { _tag: "Summary", markdown: withTitle(request.input) }
          output = "recorded"
          break
        case "skip":
          ending ??= { _tag: "Skip", reason: request.input.reason }
          output = "recorded"
          break
        case "fetch_more_context":
          output = yield* extra.fetch(request.input)
          break
        case "try_blame":
          output = yield* extra.blame(request.input)
      }
    }
    if (repeated.length < maxRepeatedCalls) {
      // Unknown names are not repeated, because some providers refuse names outside of their alphabet.
      const shown = name ?? "unknown_tool"
      repeated.push({ ...call, name: shown })
      results.push({ id: call.id, name: shown, output })
    }
  }
  const whole = repeated.length === answer.calls.length && invalid.length === 0
  const said: Message = {
    role: "assistant",
    text: answer.text,
    calls: repeated,
    ...(whole ? { native: answer.native } : {})
  }
  const turn: AgentStep = {
    messages:
      repeated.length === 0
        ? [...(answer.text.trim() === "" ? [] : [said]), { role: "user", text: proseAnswer(reports) }]
        : [said, { role: "tool", results }],
    ending,
    valid: answer.calls.length - invalid.length,
    recorded: reports.problems.length - before,
    invalid
  }
  return turn
})

const withTitle = ({ markdown, title }: { readonly markdown: string; readonly title?: string | undefined }): string =>
  title === undefined ? markdown : `## ${title.replace(/\s+/g, " ")}\n\n${markdown}`

const proseAnswer = (reports: Reports): string =>
  reports.problems.length === 0
    ? "That was no tool call, so nothing of it is used. Report each problem with report_problem and end with publish_summary, or call skip."
    : "That was no tool call, so nothing of it is used. Report what is missing with report_problem and end with publish_summary."
