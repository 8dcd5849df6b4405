/**
 * Executes the tool calls of one pass. Calls that read and calls that report are executed one at a time each, so that a slow search does
 * not delay a report. Searches of the web limit their time themselves, and delay neither. The number of calls is limited; reports have a limit of their own, so that an agent at its limit can still report.
 */
import { Duration, Effect, Option, Semaphore } from "effect"
import { refusedText } from "../tools/Tool.ts"
import { reportTools } from "../tools/ReportTools.ts"
import { searchToolName } from "../tools/SearchTool.ts"
import { decodeToolCall } from "../tools/Tools.ts"
import type { ToolServerRequest } from "./ToolServer.ts"

/** Divides long replies into parts, because agents cut long ones before the model sees them. Pure, in linear time. */

/** Room for the note behind a part. */
const noteBytes = 200

/** Divides at the ends of lines where that is possible. Every part has at most `maxBytes` bytes and at least one character. */
export const divide = (text: string, maxBytes: number): ReadonlyArray<string> => {
  const bytes = Buffer.from(text)
  const parts: Array<string> = []
  for (let from = 0; from < bytes.length;) {
    let until = Math.min(bytes.length, from + Math.max(4, maxBytes))
    if (until < bytes.length) {
      const line = bytes.subarray(from, until).lastIndexOf(10)
      if (line > 0) until = from + line + 1
      // Not in the middle of a character.
      else while (((bytes[until] ?? 0) & 0xc0) === 0x80) until--
    }
    parts.push(bytes.toString("utf8", from, until))
    from = until
  }
  return parts.length === 0 ? [""] : parts
}

/** Replies of the last calls that have more than one part. */
class ReplyParts {
  readonly #maxBytes: number
  readonly #kept = new Map<string, ReadonlyArray<string>>()

  constructor(maxReplyBytes: number) {
    this.#maxBytes = maxReplyBytes
  }

  /** Returns a part of a reply to the same call before, undefined if it is not kept. `part` counts from 1. */
  take(key: string, part: number): string | undefined {
    const parts = this.#kept.get(key)
    return parts === undefined ? undefined : this.#note(parts, part)
  }

  /** Returns the requested part of a new reply. */
  add(key: string, text: string, part: number): string {
    this.#kept.delete(key)
    if (Buffer.byteLength(text) <= this.#maxBytes)
      return part <= 1 ? text : "error: the reply has one part; call the tool without `part`"
    const parts = divide(text, this.#maxBytes - noteBytes)
    this.#kept.set(key, parts)
    for (const [oldest] of this.#kept) {
      if (this.#kept.size <= maxKept) break
      this.#kept.delete(oldest)
    }
    return this.#note(parts, part)
  }

  #note(parts: ReadonlyArray<string>, part: number): string {
    const text = parts[part - 1]
    if (text === undefined) return `error: the reply has ${parts.length} parts`
    const place = `part ${part} of ${parts.length}`
    return part === parts.length
      ? `${text}\n[${place}]`
      : `${text}\n[${place}. For the next part, repeat this call with the additional argument "part": ${part + 1}]`
  }
}

const maxKept = 16

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
