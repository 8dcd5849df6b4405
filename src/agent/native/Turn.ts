/** Executes one response of a model: decodes its tool calls, acts on them and replies, in order. */
import { Effect } from "effect"
import type { GatewayResponse, Message, ToolCall } from "../../llm/Gateway.ts"
import { readTools } from "../tools/ReadTools.ts"
import type { Reports } from "../tools/Reports.ts"
import type { RepositoryReader } from "../tools/RepositoryReader.ts"
import { refusedText } from "../tools/Tool.ts"
import type { Chosen, ToolSession } from "../tools/Tool.ts"
import { decodeToolCall, toolNames } from "../tools/Tools.ts"

/** Maximum number of calls of one response that are repeated in the conversation; all are handled. */
const maxRepeatedCalls = 200

/** Result of one response. */
interface AgentStep {
  /** Messages with which the conversation continues. */
  readonly messages: ReadonlyArray<Message>
  readonly ending: Chosen | undefined
  /** Whether a call was of use: it reported a new problem, read something or ended the review. */
  readonly isUseful: boolean
  /** Error of each invalid call. */
  readonly invalid: ReadonlyArray<string>
}

/** Result of one call. */
interface HandledCall {
  readonly output: string
  readonly ending: Chosen | undefined
  readonly invalid: ReadonlyArray<string>
  readonly isUseful: boolean
}

/** Objects that the calls of a conversation act on. */
interface TurnContext {
  readonly reports: Reports
  readonly reader: RepositoryReader
  readonly maySkip: boolean
}

const handleCall = Effect.fnUntraced(function* (call: ToolCall, { maySkip, reader, reports }: TurnContext) {
  const invalid: Array<string> = []
  const note = (error: string) => void invalid.push(`${call.name.slice(0, 80)}: ${error}`)
  let ending: Chosen | undefined
  let isUseful = Object.hasOwn(readTools, call.name)
  const session: ToolSession = {
    reader,
    maySkip,
    report: (problem) =>
      Effect.sync(() => {
        const result = reports.add(problem)
        if (result === "recorded") isUseful = true
        return result
      }),
    refuse: (error, report) =>
      Effect.sync(() => {
        note(error)
        if (report !== undefined) reports.refuse(report)
      }),
    end: (chosen) =>
      Effect.sync(() => {
        ending = chosen
        isUseful = true
      })
  }
  const decoded = decodeToolCall(call.name, call.input)
  if (!decoded.ok) {
    note(decoded.error)
    for (const report of decoded.reports ?? []) reports.refuse(report)
  }
  const output = decoded.ok ? yield* decoded.run(session) : refusedText(decoded.error)
  const handled: HandledCall = { output, ending, invalid, isUseful: decoded.ok && isUseful }
  return handled
})

/** Handles reports while a response still streams in, so that they are kept if it never ends. */
export class StreamedReports {
  readonly #context: TurnContext
  readonly #handled = new Map<string, HandledCall>()

  constructor(context: TurnContext) {
    this.#context = context
  }

  /** Records the problems of a call; calls of other tools wait for the whole response. */
  record(call: ToolCall): Effect.Effect<void> {
    const key = keyOf(call)
    if (!reportNames.has(call.name) || this.#handled.has(key)) return Effect.void
    return Effect.map(handleCall(call, this.#context), (handled) => void this.#handled.set(key, handled))
  }

  /** Returns the result of a call that was recorded before. */
  take(call: ToolCall): HandledCall | undefined {
    const key = keyOf(call)
    const handled = this.#handled.get(key)
    this.#handled.delete(key)
    return handled
  }
}

const reportNames: ReadonlySet<string> = new Set(["report_problems", "report_problem"])

const keyOf = ({ id, name, input }: ToolCall): string => JSON.stringify([id, name, input])

/** Executes the calls of a response. Problems go to the reports; the reply to an invalid call contains its error. */
export const handle = Effect.fnUntraced(function* (
  response: GatewayResponse,
  context: TurnContext,
  streamed = new StreamedReports(context)
) {
  const results: Array<{ readonly id: string; readonly name: string; readonly output: string }> = []
  const repeated: Array<ToolCall> = []
  const invalid: Array<string> = []
  let isUseful = false
  let ending: Chosen | undefined
  for (const call of response.calls) {
    const handled = streamed.take(call) ?? (yield* handleCall(call, context))
    const { output } = handled
    invalid.push(...handled.invalid)
    isUseful ||= handled.isUseful
    // A summary takes precedence over a request to skip.
    if (handled.ending?._tag === "Summary") ending = handled.ending
    else ending ??= handled.ending
    if (repeated.length < maxRepeatedCalls) {
      // Unknown names are not repeated, because some providers refuse names outside of their alphabet.
      const shown = toolNames.includes(call.name) ? call.name : "unknown_tool"
      repeated.push({ ...call, name: shown })
      results.push({ id: call.id, name: shown, output })
    }
  }
  const { native, text } = response
  const said: Message = { role: "assistant", text, calls: repeated, native }
  const turn: AgentStep = {
    messages:
      repeated.length === 0
        ? [...(text.trim() === "" ? [] : [said]), { role: "user", text: proseReply(context.reports) }]
        : [said, { role: "tool", results }],
    ending,
    isUseful,
    invalid
  }
  return turn
})

const proseReply = (reports: Reports): string =>
  reports.count === 0
    ? "That was no tool call, so nothing of it is used. Report the problems with report_problems and end with publish_summary."
    : "That was no tool call, so nothing of it is used. Report what is missing with report_problems and end with publish_summary."
