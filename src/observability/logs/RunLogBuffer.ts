/**
 * Collects the lines of log that name a run (`run_id`), at the level info and above, until they are stored. Bounded per run and in total:
 * further lines are counted, and the next batch of the run names their number.
 */
import { Logger, LogLevel, References } from "effect"
import type { RunLogLine } from "../../domain/RunLogLine.ts"
import type { LogRecord } from "./LogRecord.ts"
import { logRecord } from "./LogRecord.ts"

/** Limits between two batches, in characters. */
const maxPerRun = 64 * 1024
const maxTotal = 2 * 1024 * 1024
/** Maximum length of the fields of a line. Longer ones are omitted. */
const maxFields = 4096

/** A line before it is stored. */
type BufferedLine = Pick<RunLogLine, "at" | "message"> & {
  readonly level: LogLevel.LogLevel
  readonly fields: Readonly<Record<string, unknown>>
}

interface RunLines {
  readonly lines: Array<BufferedLine>
  size: number
  dropped: number
}

export interface RunBatch {
  readonly runId: string
  readonly lines: ReadonlyArray<BufferedLine>
  /** Number of lines for which the buffer had no room. */
  readonly dropped: number
}

const isRunId = (value: unknown): value is string => typeof value === "string" && value.length > 0 && value.length <= 64

const inFields = (message: unknown): unknown => {
  if (!Array.isArray(message)) return undefined
  const fields = message.find((part): part is { readonly run_id: unknown } => Object(part) === part && "run_id" in part)
  return fields?.run_id
}

const findRun = (event: Logger.Options<unknown>): string | undefined => {
  const id = inFields(event.message) ?? event.fiber.getRef(References.CurrentLogAnnotations)["run_id"]
  return isRunId(id) ? id : undefined
}

/** Fields of the record that the log has elsewhere, or that its readers do not need. */
const left: ReadonlySet<string> = new Set(["msg", "run_id", "span", "time", "trace"])

const fieldsOf = (record: LogRecord): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries(record).filter(([name]) => !left.has(name)))

export class RunLogBuffer {
  readonly #runs = new Map<string, RunLines>()
  #total = 0

  readonly logger: Logger.Logger<unknown, void> = Logger.make((event) => {
    if (!LogLevel.isGreaterThanOrEqualTo(event.logLevel, "Info")) return
    const runId = findRun(event)
    if (runId !== undefined) this.#add(runId, event)
  })

  #add(runId: string, event: Logger.Options<unknown>): void {
    const run = this.#runs.get(runId) ?? { lines: [], size: 0, dropped: 0 }
    this.#runs.set(runId, run)
    if (run.size >= maxPerRun || this.#total >= maxTotal) {
      run.dropped++
      return
    }
    const record = logRecord(event)
    const fields = fieldsOf(record)
    const length = JSON.stringify(fields).length
    run.lines.push({
      at: record.time,
      level: event.logLevel,
      message: record.msg,
      fields: length > maxFields ? { omitted: "fields longer than 4096 characters" } : fields
    })
    const size = record.msg.length + Math.min(length, maxFields)
    run.size += size
    this.#total += size
  }

  /** Returns the collected lines and empties the buffer. */
  take(): ReadonlyArray<RunBatch> {
    const batches = [...this.#runs].map(([runId, { dropped, lines }]) => ({ runId, lines, dropped }))
    this.#runs.clear()
    this.#total = 0
    return batches
  }
}
