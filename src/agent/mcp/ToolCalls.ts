/**
 * Executes the tool calls of one pass. Calls that read and calls that report are executed one at a time each, so that a slow search does
 * not delay a report. Searches of the web limit their time themselves, and delay neither. The number of calls is limited; reports have a limit of their own, so that an agent at its limit can still report.
 */
import { Duration, Effect, Option, Semaphore } from "effect"
import { refusedText } from "../tools/Tool.ts"
import { reportTools } from "../tools/ReportTools.ts"
import { searchToolName } from "../tools/SearchTool.ts"
import { decodeToolCall } from "../tools/Tools.ts"
import { ReplyParts } from "./ReplyParts.ts"
import type { ToolServerRequest } from "./ToolServer.ts"

/** Maximum number of calls of reporting tools. A call can report many problems. */
const maxReportCalls = 2_000
const callTimeout = Duration.minutes(2)

interface ToolReply {
  readonly text: string
  readonly isError: boolean
}

export const isReport = (name: string): boolean => Object.hasOwn(reportTools, name)

export class ToolCalls {
  readonly #request: ToolServerRequest
  readonly #parts: ReplyParts
  readonly #reading = Semaphore.makeUnsafe(1)
  readonly #reporting = Semaphore.makeUnsafe(1)
  #reports = 0
  #reads = 0
  #refused = 0
  #hasEnded = false

  constructor(request: ToolServerRequest) {
    this.#request = request
    this.#parts = new ReplyParts(request.maxReplyBytes)
  }

  get counts(): { readonly calls: number; readonly refused: number } {
    return { calls: this.#reports + this.#reads, refused: this.#refused }
  }

  /** Executes a call of an offered tool. */
  call(name: string, input: unknown): Effect.Effect<ToolReply> {
    return Effect.suspend(() => {
      const limit = this.#count(name)
      if (limit !== undefined) return Effect.succeed(this.#refuse(limit))
      if (name === searchToolName) return Effect.andThen(this.#request.onCall(name), this.#execute(name, input))
      const lock = isReport(name) ? this.#reporting : this.#reading
      const executed = lock.withPermit(this.#execute(name, input))
      return Effect.andThen(
        this.#request.onCall(name),
        Effect.map(Effect.timeoutOption(executed, callTimeout), (reply) =>
          Option.getOrElse(reply, () => this.#refuse("the call took over two minutes; narrow it down"))
        )
      )
    })
  }

  #count(name: string): string | undefined {
    if (isReport(name)) {
      if (++this.#reports > maxReportCalls) return "the limit of reports of this review is reached; end the review"
      return undefined
    }
    if (this.#hasEnded) return "the review has ended"
    if (++this.#reads > this.#request.maxCalls)
      return "the limit of calls of this review is reached; report the problems found so far and end with publish_summary"
    return undefined
  }

  #refuse(error: string): ToolReply {
    this.#refused++
    return { text: refusedText(error), isError: true }
  }

  #execute(name: string, input: unknown): Effect.Effect<ToolReply> {
    const { part, rest } = takePart(name, input)
    const key = JSON.stringify([name, rest])
    const kept = part > 1 ? this.#parts.take(key, part) : undefined
    if (kept !== undefined) return Effect.succeed({ text: kept, isError: false })
    const decoded = decodeToolCall(name, rest, this.#request.tools)
    const { session } = this.#request
    if (!decoded.ok) {
      const { error, reports = [] } = decoded
      const refused = reports.length === 0 ? [undefined] : reports
      const refuseEach = Effect.forEach(refused, (report) => session.refuse(`${name}: ${error}`, report), {
        discard: true
      })
      return Effect.as(refuseEach, this.#refuse(error))
    }
    let isError = false
    const run = decoded.run({
      ...session,
      refuse: (error, report) => {
        isError = true
        return session.refuse(error, report)
      },
      end: (chosen) =>
        Effect.tap(session.end(chosen), () =>
          Effect.sync(() => {
            this.#hasEnded = true
          })
        )
    })
    return Effect.map(run, (text) => {
      if (isError) this.#refused++
      return { text: this.#parts.add(key, text, part), isError }
    })
  }
}

/** Separates the number of the requested part, which reading tools accept in addition to their own arguments. */
const takePart = (name: string, input: unknown): { readonly part: number; readonly rest: unknown } => {
  if (isReport(name) || typeof input !== "object" || input === null || !("part" in input))
    return { part: 1, rest: input }
  const { part, ...rest } = input
  return { part: Number.isInteger(part) && Number(part) >= 1 ? Number(part) : 1, rest }
}
