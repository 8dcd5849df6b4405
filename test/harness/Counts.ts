/** Counts of the work of a process in which CountWork.ts is loaded, and the variables that load it. */
import { connect } from "node:net"
import { join } from "node:path"
import { text } from "node:stream/consumers"
import { setTimeout as sleep } from "node:timers/promises"
import { pathToFileURL } from "node:url"
import { Schema } from "effect"
import { countNames } from "./CountNames.ts"

const Named = Schema.Record(Schema.String, Schema.Int)
const Counts = Schema.Struct({
  totals: Schema.Record(Schema.Literals(countNames), Schema.Int),
  /** Executions by the text of the statement. */
  statements: Named,
  /** Commits by the text of their first write. */
  commits: Named,
  /** Starts by the command line. */
  programs: Named
})
export type Counts = (typeof Counts)["Type"]
const parseCounts = Schema.decodeUnknownSync(Schema.fromJsonString(Counts))

export const countingEnv = (socket: string, postgresPort?: number): Readonly<Record<string, string>> => ({
  NODE_OPTIONS: `--disable-warning=ExperimentalWarning --import=${pathToFileURL(join(import.meta.dirname, "CountWork.ts")).href}`,
  COUNTS_SOCKET: socket,
  ...(postgresPort === undefined ? {} : { COUNTS_POSTGRES_PORT: String(postgresPort) })
})

/** Returns what the process has counted so far. */
export const readCounts = async (socket: string): Promise<Counts> => parseCounts(await text(connect(socket)))

const difference = (later: Readonly<Record<string, number>>, earlier: Readonly<Record<string, number>>) =>
  Object.fromEntries(
    Object.entries(later).flatMap(([name, value]) =>
      value === earlier[name] ? [] : [[name, value - (earlier[name] ?? 0)]]
    )
  )

export const countsBetween = (earlier: Counts, later: Counts) => ({
  totals: difference(later.totals, earlier.totals),
  statements: difference(later.statements, earlier.statements),
  commits: difference(later.commits, earlier.commits),
  programs: difference(later.programs, earlier.programs)
})

/** Statements of the service that are repeated without any work, by what needs them. They are no part of a review. */
const polls: ReadonlyArray<readonly [feature: string, statement: RegExp]> = [
  ["accepted deliveries that are not in the queue", /FROM events WHERE work IS NOT NULL AND outcome IS NULL/],
  ["runs whose process died", /FROM runs WHERE \(1 = 1 AND "status" IN/],
  ["reservations of lost calls", /FROM ledger_reservations WHERE status = 'open'/],
  ["publications that are not sent", /SELECT DISTINCT target_key FROM publications/],
  ["reports of Perforce and Subversion", /FROM events WHERE routing IS NOT NULL/],
  ["requested and due searches for missed changes", /FROM catch_ups/],
  ["batches of automatic commits", /^SELECT batches\.\*/],
  ["ended changes with findings that have no outcome", /^INSERT INTO settlements/]
]
/** Lines and spans of runs are stored once a second, so that a longer review stores them more often. */
const linesOfRuns = /INTO run_logs/
const isTimed = (statement: string): boolean =>
  linesOfRuns.test(statement) || polls.some(([, pattern]) => pattern.test(statement))
export type NamedCounts = Readonly<Record<string, number>>
/** Returns the counts without what is repeated at times. */
export const withoutPolls = (counts: NamedCounts): NamedCounts =>
  Object.fromEntries(Object.entries(counts).filter(([statement]) => !isTimed(statement)))
export const sumCounts = (counts: NamedCounts): number => Object.values(counts).reduce((all, one) => all + one, 0)

/** Waits until nothing but polls is counted any more. */
export const settledCounts = async (socket: string, earlier: Counts) => {
  for (let before = ""; ;) {
    const { commits, programs, statements, totals } = countsBetween(earlier, await readCounts(socket))
    const now = { programs, totals, statements: withoutPolls(statements), commits: withoutPolls(commits) }
    if (JSON.stringify(now) === before) return now
    before = JSON.stringify(now)
    await sleep(800)
  }
}
