/** Implements `aicr dashboard`: prints a link that logs in to the dashboard of the service on this machine, once. */
import { Console, Effect, Option } from "effect"
import { Command } from "effect/cli"
import { request } from "./AdminCall.ts"
import type { OpenAdmin } from "./AdminCall.ts"
import { configFlag } from "./ConfigFlag.ts"
import { jsonFlag } from "./JsonFlag.ts"

export const dashboardCommand = (runs: Effect.Effect<{ readonly openAdmin: OpenAdmin }>) =>
  Command.make(
    "dashboard",
    { config: configFlag, json: jsonFlag },
    Effect.fnUntraced(function* ({ config, json }) {
      const { openAdmin } = yield* runs
      const link = yield* openAdmin({ config, url: Option.none(), use: "records" }, ({ sessions }) =>
        request(sessions.link({}))
      )
      yield* Console.log(json ? JSON.stringify(link) : link.url)
      if (!json) yield* Console.error(`The link works once, until ${link.expires_at}.`)
    })
  ).pipe(
    Command.withDescription("Print a link that logs in to the dashboard of the service on this machine, once"),
    Command.withExamples([{ command: "aicr dashboard", description: "Open the printed link in a browser" }])
  )
