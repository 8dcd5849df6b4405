/** Executes one response of a model: decodes its tool calls, acts on them and replies, in order. */
import { Effect } from "effect"
import type { GatewayResponse, Message, ToolCall } from "../llm/Gateway.ts"
import type { Reports } from "./Reports.ts"
import type { RepositoryReader } from "./RepositoryReader.ts"
import { refusedText } from "./Tool.ts"
import type { Chosen, ToolSession } from "./Tool.ts"
import { decodeToolCall, toolNames } from "./Tools.ts"

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

/** Result of one call. */
interface HandledCall {
  readonly output: string
  readonly ending: Chosen | undefined
  readonly invalid: ReadonlyArray<string>
}

const handleCall = Effect.fnUntraced(function* (call: ToolCall, reports: Reports, reader: RepositoryReader) {
  const invalid: Array<string> = []
  const refuse = (error: string) => void invalid.push(`${call.name.slice(0, 80)}: ${error}`)
  let ending: Chosen | undefined
  const session: ToolSession = {
    reader,
    report: (problem) => Effect.sync(() => reports.add(problem)),
    refuse,
    end: (chosen) => Effect.sync(() => void (ending = chosen))
  }
  const decoded = decodeToolCall(call.name, call.input)
  if (!decoded.ok) refuse(decoded.error)
  const output = decoded.ok ? yield* decoded.run(session) : refusedText(decoded.error)
  const handled: HandledCall = { output, ending, invalid }
  return handled
})

/** Handles reports while a response still streams in, so that they are kept if it never ends. */
export class StreamedReports {
  readonly #reports: Reports
  readonly #reader: RepositoryReader
  readonly #handled = new Map<string, HandledCall>()

  constructor(reports: Reports, reader: RepositoryReader) {
    this.#reports = reports
    this.#reader = reader
  }

  /** Records the problems of a call; calls of other tools wait for the whole response. */
  record(call: ToolCall): Effect.Effect<void> {
    const key = keyOf(call)
    if (!reportNames.has(call.name) || this.#handled.has(key)) return Effect.void
    return Effect.map(handleCall(call, this.#reports, this.#reader), (handled) => void this.#handled.set(key, handled))
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

/** Executes the calls of a response. Problems go to `reports`; the reply to an invalid call contains its error. */
export const handle = Effect.fnUntraced(function* (
  response: GatewayResponse,
  reports: Reports,
  reader: RepositoryReader,
  streamed = new StreamedReports(reports, reader),
  before = reports.problems.length
) {
  const results: Array<{ readonly id: string; readonly name: string; readonly output: string }> = []
  const repeated: Array<ToolCall> = []
  const invalid: Array<string> = []
  let refused = 0
  let ending: Chosen | undefined
  for (const call of response.calls) {
    const handled = streamed.take(call) ?? (yield* handleCall(call, reports, reader))
    const { output } = handled
    invalid.push(...handled.invalid)
    if (handled.invalid.length > 0) refused++
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
  const whole = repeated.length === response.calls.length && invalid.length === 0
  const said: Message = {
    role: "assistant",
    text: response.text,
    calls: repeated,
    ...(whole ? { native: response.native } : {})
  }
  const turn: AgentStep = {
    messages:
      repeated.length === 0
        ? [...(response.text.trim() === "" ? [] : [said]), { role: "user", text: proseReply(reports) }]
        : [said, { role: "tool", results }],
    ending,
    valid: response.calls.length - refused,
    recorded: reports.problems.length - before,
    invalid
  }
  return turn
})

const proseReply = (reports: Reports): string =>
  reports.problems.length === 0
    ? "That was no tool call, so nothing of it is used. Report the problems with report_problems and end with publish_summary or skip."
    : "That was no tool call, so nothing of it is used. Report what is missing with report_problems and end with publish_summary."
