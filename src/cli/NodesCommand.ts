/**
 * Implements `aicr nodes`: lists the nodes of the cluster. The function that lists them is a parameter, so that the command line depends on
 * no adapter.
 */
import { Console, Effect } from "effect"
import { Command } from "effect/cli"
import type { ExitWith } from "./Exit.ts"
import { jsonFlag } from "./JsonFlag.ts"
import { columns } from "./Columns.ts"
import { time } from "./Wording.ts"

export interface NodeLine {
  readonly name: string
  readonly roles: ReadonlyArray<string>
  readonly version: string
  /** Beginning of the hash of its configuration. */
  readonly configuration: string
  /** Milliseconds since the epoch. */
  readonly startedAt: number
  /** Maximum number of concurrent reviews. */
  readonly slots: number
  /** Number of active actors. */
  readonly actors: number
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

const isMixed = (values: ReadonlyArray<string>): boolean => new Set(values).size > 1

/** Returns a warning for each property in which nodes differ that should be the same everywhere. */
export const findDifferences = (
  nodes: ReadonlyArray<Pick<NodeLine, "configuration" | "version">>
): ReadonlyArray<string> => [
  ...(isMixed(nodes.map(({ version }) => version))
    ? ["nodes run different versions of aicr; finish the upgrade or roll it back"]
    : []),
  ...(isMixed(nodes.map(({ configuration }) => configuration))
    ? ["nodes have different configurations; give each node the same config.yaml"]
    : [])
]

export const nodesCommand = (
  runs: Effect.Effect<{ readonly nodesOfEnvironment: Effect.Effect<ReadonlyArray<NodeLine>, ExitWith> }>
) =>
  Command.make(
    "nodes",
    { json: jsonFlag },
    Effect.fnUntraced(function* ({ json }) {
      const { nodesOfEnvironment } = yield* runs
      const nodes = yield* nodesOfEnvironment
      for (const difference of findDifferences(nodes)) yield* Console.error(`warning: ${difference}`)
      yield* Console.log(json ? JSON.stringify({ nodes }, undefined, 2) : tableOf(nodes))
    })
  ).pipe(
    Command.withDescription("List the nodes of the cluster (SVC_NATS_URL)"),
    Command.withExamples([{ command: "aicr nodes --json", description: "With the roles and the state of each" }])
  )
