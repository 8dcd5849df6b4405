/** Counts of the work of a process in which CountWork.ts is loaded, and the variables that load it. */
import { connect } from "node:net"
import { join } from "node:path"
import { text } from "node:stream/consumers"
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
