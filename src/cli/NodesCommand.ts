/**
 * Implements `aicr nodes`: lists the nodes of the cluster. The function that lists them is a parameter, so that the command line depends on
 * no adapter.
 */
import { Console, Effect } from "effect"
import { Command } from "effect/cli"
import { findNodeWarnings } from "../domain/NodeWarnings.ts"
import type { NodeVersion } from "../domain/NodeWarnings.ts"
import { inEnglish } from "../text/en.ts"
import type { LoggedError } from "../domain/LoggedError.ts"
import type { ExitWith } from "./Exit.ts"
import { jsonFlag } from "./JsonFlag.ts"
import { columns } from "./Columns.ts"
import { oneLine, time } from "./Wording.ts"

export interface NodeLine extends NodeVersion {
  /** Milliseconds since the epoch. */
  readonly startedAt: number
  /** Maximum number of concurrent reviews. */
  readonly slots: number
  /** Number of active actors. */
  readonly actors: number
  /** Absent without an error since its start. */
  readonly lastError?: LoggedError
}

const tableOf = (nodes: ReadonlyArray<NodeLine>): string =>
  columns([
    ["NAME", "ROLES", "VERSION", "CONFIGURATION", "SINCE", "SLOTS", "ACTORS"],
    ...nodes.map(({ name, roles, version, configuration, startedAt, slots, actors }) => [
      name,
      roles.join(","),
      version,
      configuration,
      time(startedAt),
      String(slots),
      String(actors)
    ])
  ])

const listErrors = (nodes: ReadonlyArray<NodeLine>): ReadonlyArray<string> =>
  nodes.flatMap(({ lastError, name }) => {
    if (lastError === undefined) return []
    const { at, message, run_id: run } = lastError
    return [
      `last error of ${name} at ${at}: ${oneLine(message)}${run === undefined ? "" : `, aicr log ${oneLine(run)}`}`
    ]
  })

/** Lists warnings about the nodes. */
export const listWarnings = (nodes: ReadonlyArray<NodeVersion>): ReadonlyArray<string> =>
  nodes.length === 0
    ? ["no node is connected; start nodes with the SVC_NATS_URL and SVC_NATS_PREFIX of this command"]
    : findNodeWarnings(nodes).map(inEnglish)

export const nodesCommand = (
  runs: Effect.Effect<{ readonly nodesOfEnvironment: Effect.Effect<ReadonlyArray<NodeLine>, ExitWith> }>
) =>
  Command.make(
    "nodes",
    { json: jsonFlag },
    Effect.fnUntraced(function* ({ json }) {
      const { nodesOfEnvironment } = yield* runs
      const nodes = yield* nodesOfEnvironment
      for (const warning of listWarnings(nodes)) yield* Console.error(`warning: ${warning}`)
      yield* Console.log(
        json ? JSON.stringify({ nodes }, undefined, 2) : [tableOf(nodes), ...listErrors(nodes)].join("\n")
      )
    })
  ).pipe(
    Command.withDescription("List the nodes of the cluster (SVC_NATS_URL)"),
    Command.withExamples([{ command: "aicr nodes --json", description: "With the roles and the state of each" }])
  )
