/** `aicr nodes`: which nodes work together. Where they are found is handed in, so that the command line knows no adapter. */
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
  /** Milliseconds since the epoch. */
  readonly startedAt: number
  /** Reviews it can do at once. */
  readonly slots: number
  /** Actors that are awake on it. */
  readonly actors: number
}

const tableOf = (nodes: ReadonlyArray<NodeLine>): string =>
  columns([
    ["NAME", "ROLES", "VERSION", "SINCE", "SLOTS", "ACTORS"],
    ...nodes.map(({ name, roles, version, startedAt, slots, actors }) => [
      name,
      roles.join(","),
      version,
      time(startedAt),
      String(slots),
      String(actors)
    ])
  ])

export const nodesCommand = (
  runs: Effect.Effect<{ readonly nodesOfEnvironment: Effect.Effect<ReadonlyArray<NodeLine>, ExitWith> }>
) =>
  Command.make(
    "nodes",
    { json: jsonFlag },
    Effect.fnUntraced(function* ({ json }) {
      const { nodesOfEnvironment } = yield* runs
      const nodes = yield* nodesOfEnvironment
      yield* Console.log(json ? JSON.stringify({ nodes }, undefined, 2) : tableOf(nodes))
    })
  ).pipe(
    Command.withDescription("Show the nodes that work together over NATS (SVC_NATS_URL)"),
    Command.withExamples([{ command: "aicr nodes --json", description: "With the roles and the state of each" }])
  )
