/**
 * Converts a log event of Effect to the data of one log line: the message, its annotations (`run`, `workspace`, …), the ids of trace and
 * span, open log spans with their age, and the cause with its stack.
 */
import { Cause, Context, References, Tracer } from "effect"
import type { Logger } from "effect"
import { withoutPeriod } from "../../domain/Text.ts"
import { clean, cleanText } from "../Redaction.ts"

export interface LogRecord {
  /** Milliseconds since the epoch. */
  readonly time: number
  readonly msg: string
  readonly [field: string]: unknown
}

/** Reserved names of a line: an annotation with such a name is logged as `annotation_<name>`. */
const owned = new Set(["time", "msg", "level", "trace", "span", "spans", "err"])

/** Fields with messages, which may be those of other programs. */
const messages = new Set(["error", "reason"])

export const logRecord = (options: Logger.Options<unknown>): LogRecord => {
  const parts: ReadonlyArray<unknown> = Array.isArray(options.message) ? options.message : [options.message]
  const texts = parts.filter((part) => typeof part !== "object" || part === null)
  const data = parts.filter((part): part is object => typeof part === "object" && part !== null)
  const errors = data.filter((part) => part instanceof Error)
  const fields = data.filter((part) => !(part instanceof Error))
  return {
    ...Object.assign({}, ...fields.map(asFields), asFields(options.fiber.getRef(References.CurrentLogAnnotations))),
    ...place(options),
    ...failure(options.cause, errors),
    time: options.date.getTime(),
    msg: cleanText(texts.map(String).join(" "))
  }
}

const asFields = (data: object): Record<string, unknown> => {
  const cleaned = clean(data)
  if (typeof cleaned !== "object" || cleaned === null || Array.isArray(cleaned)) return { data: cleaned }
  return Object.fromEntries(
    Object.entries(cleaned).map(([key, value]) => [
      owned.has(key) ? `annotation_${key}` : key,
      messages.has(key) && typeof value === "string" ? withoutPeriod(value) : value
    ])
  )
}

const place = ({ date, fiber }: Logger.Options<unknown>): Record<string, unknown> => {
  const span = Context.getOrUndefined(fiber.context, Tracer.ParentSpan)
  const open = fiber.getRef(References.CurrentLogSpans)
  return {
    ...(span === undefined ? {} : { trace: span.traceId, span: span.spanId }),
    ...(open.length === 0
      ? {}
      : { spans: Object.fromEntries(open.map(([label, since]) => [label, `${date.getTime() - since} ms`])) })
  }
}

/** Builds `err` in pino's format: type, message, stack. A cause with interruptions only is not an error. */
const failure = (cause: Cause.Cause<unknown>, errors: ReadonlyArray<Error>): Record<string, unknown> => {
  const all = [...errors, ...(Cause.hasInterruptsOnly(cause) ? [] : Cause.prettyErrors(cause))].map((error) =>
    clean(error)
  )
  if (all.length > 0) return { err: all.length === 1 ? all[0] : all }
  return cause.reasons.length > 0 ? { interrupted: true } : {}
}
