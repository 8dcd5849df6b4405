/** Implements `aicr forget PERSON`: shows which records hold the name and the texts of a person, and erases them after a confirmation. */
import { Console, Effect } from "effect"
import { Argument, Command, Flag, Prompt } from "effect/cli"
import type { PersonErasure } from "../admin/api/PersonGroup.ts"
import { inEnglish } from "../text/en.ts"
import { request, urlFlag } from "./AdminCall.ts"
import type { AdminClient, OpenAdmin } from "./AdminCall.ts"
import { configFlag } from "./ConfigFlag.ts"
import { ExitWith, refused } from "./Exit.ts"
import { jsonFlag } from "./JsonFlag.ts"
import { oneLine } from "./Wording.ts"

/** Formats what is erased and what stays. */
const formatErasure = ({ comments, found, remains }: PersonErasure, title: string): ReadonlyArray<string> => [
  found.length === 0 ? "No record of this person is stored." : title,
  ...found.map(({ what }) => `  ${inEnglish(what)}`),
  `${inEnglish({ _tag: "PersonRemains" })}:`,
  ...remains.map((one) => `  ${inEnglish(one)}`),
  ...comments.map((url) => `    ${oneLine(url)}`)
]

interface Options {
  readonly person: string
  readonly yes: boolean
  readonly json: boolean
}

/** Returns whether the preview is confirmed. */
const confirm = Effect.fnUntraced(function* ({ json, person, yes }: Options) {
  if (yes || json) return yes
  if (!process.stdin.isTTY || !process.stdout.isTTY) {
    yield* Console.log("Nothing is erased. Repeat the command with --yes to do this.")
    return false
  }
  const message = `Erase these records of ${oneLine(person)}? They cannot be restored.`
  return yield* Effect.orElseSucceed(Prompt.run(Prompt.Confirm({ message, initial: false })), () => false)
})

const forget = Effect.fnUntraced(function* ({ people }: AdminClient, options: Options) {
  const { json, person } = options
  const preview = yield* request(people.preview({ payload: { person } }))
  if (!json)
    for (const line of formatErasure(preview, `${inEnglish({ _tag: "PersonErased" })}:`)) yield* Console.log(line)
  const isConfirmed = preview.found.length > 0 && (yield* confirm(options))
  if (!isConfirmed) return json ? yield* Console.log(JSON.stringify({ preview }, null, 2)) : undefined
  const erased = yield* request(
    Effect.catchTag(people.erase({ payload: { person, digest: preview.digest } }), "StateConflict", ({ detail = "" }) =>
      refused(detail)
    )
  )
  if (json) yield* Console.log(JSON.stringify({ preview, erased }, null, 2))
  else for (const line of formatErasure(erased, "Erased:")) yield* Console.log(line)
  if (erased.unfinished > 0)
    return yield* new ExitWith({ code: 1, message: "Work of this person has not ended: repeat the command afterwards" })
})

export const forgetCommand = (runs: Effect.Effect<{ readonly openAdmin: OpenAdmin }>) =>
  Command.make(
    "forget",
    {
      config: configFlag,
      url: urlFlag,
      json: jsonFlag,
      yes: Flag.Boolean("yes").pipe(Flag.withDefault(false), Flag.withDescription("Erase without a confirmation")),
      person: Argument.String("PERSON").pipe(
        Argument.withDescription(
          "TRIGGER:LOGIN for an account at a host, slack_user:ID or another kind of chat principal, or administrator:NAME"
        )
      )
    },
    Effect.fnUntraced(function* ({ config, json, person, url, yes }) {
      const { openAdmin } = yield* runs
      const terminal = yield* Effect.context<Prompt.Environment>()
      yield* openAdmin({ config, url, use: "changing" }, (client) =>
        Effect.provide(forget(client, { person, json, yes }), terminal)
      )
    })
  ).pipe(
    Command.withDescription(
      "Erase the name and the texts of one person from the records; shows first what is erased, and what stays"
    ),
    Command.withExamples([
      { command: "aicr forget main:alice", description: "An account at the host of the trigger main" },
      { command: "aicr forget slack_user:U0123ABC --yes", description: "A person of Slack, without a prompt" }
    ])
  )
