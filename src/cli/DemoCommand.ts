/** Implements `aicr demo`: a complete review on this machine, without any configuration. The demo is a parameter. */
import { Effect, Option } from "effect"
import { Command, Flag } from "effect/cli"
import type { ExitWith } from "./Exit.ts"

interface DemoCommandOptions {
  readonly once: boolean
  readonly json: boolean
  /** Agent CLI that reviews, in place of native-llm. */
  readonly agent: string | undefined
}

export const demoCommand = <R>(
  runs: Effect.Effect<{ readonly demo: (options: DemoCommandOptions) => Effect.Effect<void, ExitWith, R> }>
) =>
  Command.make(
    "demo",
    {
      once: Flag.Boolean("once").pipe(
        Flag.withDescription("End when the review has ended, instead of staying up until Ctrl-C"),
        Flag.withDefault(false)
      ),
      json: Flag.Boolean("json").pipe(
        Flag.withDescription("Print the result as one JSON object on standard output; steps go to standard error"),
        Flag.withDefault(false)
      ),
      agent: Flag.String("agent").pipe(
        Flag.withMetavar("MODE"),
        Flag.withDescription("Review with this agent CLI in a sandbox, for example codex"),
        Flag.optional
      )
    },
    ({ agent, json, once }) =>
      Effect.flatMap(runs, ({ demo }) => demo({ agent: Option.getOrUndefined(agent), json, once }))
  ).pipe(
    Command.withDescription(
      "Start the service and a small git host in a temporary folder, and review a bundled pull request"
    ),
    Command.withExamples([
      { command: "aicr demo", description: "Watch a review and read it in the browser" },
      { command: "aicr demo --agent codex", description: "Review with an installed agent CLI in a sandbox" },
      { command: "aicr demo --once --json", description: "Run it to the end and print the result" }
    ])
  )
