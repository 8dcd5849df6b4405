/** Implements `aicr chat`: checks a connection to a chat platform with real requests to the platform and to the running service. */
import { Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import type { ChatPoint } from "../chat/CheckChat.ts"
import { configFlag } from "./ConfigFlag.ts"
import type { ExitWith } from "./Exit.ts"
import { jsonFlag } from "./JsonFlag.ts"
import { reportPoints } from "./ReportPoints.ts"

interface Runs {
  readonly checkConnection: (
    config: string,
    connection: string,
    to: string | undefined
  ) => Effect.Effect<ReadonlyArray<ChatPoint>, ExitWith>
}

const check = (runs: Effect.Effect<Runs>) =>
  Command.make(
    "check",
    {
      connection: Argument.String("CONNECTION").pipe(Argument.withDescription("Id in im.connections")),
      config: configFlag,
      to: Flag.String("to").pipe(
        Flag.withMetavar("ID"),
        Flag.withDescription("Send a test message: to a chat (oc_…) or person (ou_…) of Feishu, or a user id of WeCom"),
        Flag.optional
      ),
      json: jsonFlag
    },
    Effect.fnUntraced(function* ({ config, connection, json, to }) {
      const points = yield* (yield* runs).checkConnection(config, connection, Option.getOrUndefined(to))
      yield* reportPoints(json, { connection }, points, points)
    })
  ).pipe(
    Command.withDescription(
      "Check a connection to Feishu, Lark or WeCom: its token, permissions, whether its callback can be reached, a test message"
    ),
    Command.withExamples([
      { command: "aicr chat check lark", description: "Token, permissions and callback" },
      { command: "aicr chat check lark --to oc_5ad1", description: "And a message in this group" }
    ])
  )

export const chatCommand = (runs: Effect.Effect<Runs>) =>
  Command.make("chat").pipe(
    Command.withDescription("Connections to chat platforms"),
    Command.withSubcommands([check(runs)])
  )
