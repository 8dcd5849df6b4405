/** Implements `aicr link RUN`: creates a signed link to what the comments of a review show. */
import { Console, Effect } from "effect"
import { Argument, Command } from "effect/cli"
import { request, urlFlag } from "./AdminCall.ts"
import type { OpenAdmin } from "./AdminCall.ts"
import { configFlag } from "./ConfigFlag.ts"
import { refused } from "./Exit.ts"
import { jsonFlag } from "./JsonFlag.ts"
import { second } from "./Wording.ts"

export const linkCommand = (runs: Effect.Effect<{ readonly openAdmin: OpenAdmin }>) =>
  Command.make(
    "link",
    {
      config: configFlag,
      url: urlFlag,
      json: jsonFlag,
      id: Argument.String("RUN").pipe(Argument.withDescription("Id of a review, as `aicr why` prints it"))
    },
    Effect.fnUntraced(function* ({ config, id, json, url }) {
      const { openAdmin } = yield* runs
      const link = yield* openAdmin({ config, url, use: "records" }, (client) =>
        request(
          Effect.catchTag(client.runs.link({ params: { id } }), "StateConflict", ({ detail = "" }) => refused(detail))
        )
      )
      if (json) return yield* Console.log(JSON.stringify(link, null, 2))
      yield* Console.log(link.url)
      yield* Console.error(
        `Everybody with this link can read the comments of the review until ${second(link.expires_at)}.`
      )
    })
  ).pipe(
    Command.withDescription(
      "Create a link to the comments of a review and its coverage, which needs no login and expires"
    ),
    Command.withExamples([
      {
        command: "aicr link 01a20e2f-24ce-7008-a2d4-896ff3ed3817",
        description: "For a person who may not log in (server.links)"
      }
    ])
  )
