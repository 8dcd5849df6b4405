/**
 * Collects the lines of log that name a run (`run_id`), at the level info and above, and its spans, until they are stored. Bounded per run and
 * in total: further lines are counted, and the next batch of the run names their number; further spans are dropped.
 */
import { Latch, Logger, LogLevel } from "effect"
import type { Effect } from "effect"
import type { RunLogLine } from "../../domain/RunLogLine.ts"
import type { RunSpan } from "../../domain/RunSpan.ts"
import { findRun, isRunId } from "./FindRun.ts"
import type { LogRecord } from "./LogRecord.ts"
import { logRecord } from "./LogRecord.ts"

/** Limits between two batches, in characters. */
const maxPerRun = 64 * 1024
const maxTotal = 2 * 1024 * 1024
/** Maximum length of the fields of a line. Longer ones are omitted. */
const maxFields = 4096

/** Time for which spans without a line of log wait for one, so that both need one statement. The end of the run ends it too. */
const maxSpanMillis = 10_000
/** Upper bound for the size of a span. */
const spanSize = 400

/** A line before it is stored. */
type BufferedLine = Pick<RunLogLine, "at" | "message"> & {
  readonly level: LogLevel.LogLevel
  readonly fields: Readonly<Record<string, unknown>>
}

interface RunLines {
  readonly lines: Array<BufferedLine>
  readonly spans: Array<RunSpan>
  /** Time from which its spans are stored without a line. */
  spansDue: number
  size: number
  dropped: number
}

export interface RunBatch {
  readonly runId: string
  readonly lines: ReadonlyArray<BufferedLine>
  readonly spans: ReadonlyArray<RunSpan>
  /** Number of lines for which the buffer had no room. */
  readonly dropped: number
}

/** Fields of the record that the log has elsewhere, or that its readers do not need. */
const left: ReadonlySet<string> = new Set(["msg", "run_id", "span", "time", "trace"])

const fieldsOf = (record: LogRecord): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries(record).filter(([name]) => !left.has(name)))

export class RunLogBuffer {
  readonly #runs = new Map<string, RunLines>()
  readonly #some = Latch.makeUnsafe()
  #total = 0

  /** Waits until there is a line or a span. */
  readonly some: Effect.Effect<void> = this.#some.await

  readonly logger: Logger.Logger<unknown, void> = Logger.make((event) => {
    if (!LogLevel.isGreaterThanOrEqualTo(event.logLevel, "Info")) return
    const runId = findRun(event)
    if (runId !== undefined) this.#add(runId, event)
  })

  /** Adds a span that has ended. */
  addSpan(runId: string, span: RunSpan): void {
    if (!isRunId(runId)) return
    const run = this.#get(runId)
    if (this.#isFull(run)) return
    if (run.spans.length === 0) run.spansDue = span.at + span.millis + maxSpanMillis
    run.spans.push(span)
    this.#grow(run, spanSize)
  }

  /** The spans of the run are stored with the next batch. */
  endSpans(runId: string): void {
    const run = this.#runs.get(runId)
    if (run !== undefined) run.spansDue = 0
  }

  #get(runId: string): RunLines {
    const run = this.#runs.get(runId) ?? { lines: [], spans: [], spansDue: 0, size: 0, dropped: 0 }
    this.#runs.set(runId, run)
    this.#some.openUnsafe()
    return run
  }

  #isFull(run: RunLines): boolean {
    return run.size >= maxPerRun || this.#total >= maxTotal
  }

  #grow(run: RunLines, size: number): void {
    run.size += size
    this.#total += size
  }

  #add(runId: string, event: Logger.Options<unknown>): void {
    const run = this.#get(runId)
    if (this.#isFull(run)) {
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
    this.#grow(run, record.msg.length + Math.min(length, maxFields))
  }

  /** Removes and returns what is to be stored now. */
  take(now: number): ReadonlyArray<RunBatch> {
    const batches: Array<RunBatch> = []
    for (const [runId, { dropped, lines, size, spans, spansDue }] of this.#runs) {
      if (lines.length === 0 && dropped === 0 && now < spansDue) continue
      batches.push({ runId, lines, spans, dropped })
      this.#runs.delete(runId)
      this.#total -= size
    }
    if (this.#runs.size === 0) this.#some.closeUnsafe()
    return batches
  }
}
