/** Implements `aicr template render`: renders a template with an example review. */
import { Console, Effect, Option, Result } from "effect"
import { Command, Flag } from "effect/cli"
import type { Channel } from "../config/schema/Outputs.ts"
import type { Workspace } from "../config/Snapshot.ts"
import { refused } from "./Exit.ts"
import { configFlag, fileOnlyFlag } from "./ConfigFlag.ts"
import { named, readSnapshot } from "./ReadSnapshot.ts"

interface Runs {
  readonly renderSample: (
    workspace: Workspace,
    channel: Channel | undefined,
    part: "problem" | "summary"
  ) => Result.Result<string, { readonly message: string }>
}

const render = (runs: Effect.Effect<Runs>) =>
  Command.make(
    "render",
    {
      config: configFlag,
      fileOnly: fileOnlyFlag,
      workspace: Flag.String("workspace").pipe(Flag.withAlias("w"), Flag.withDescription("Workspace to render for")),
      channel: Flag.String("channel").pipe(
        Flag.withDescription("Channel whose template to use; default: the built-in template"),
        Flag.optional
      ),
      part: Flag.Literals("part", ["summary", "problem"] as const).pipe(
        Flag.withDescription("Template to render"),
        Flag.withDefault("summary" as const)
      )
    },
    Effect.fnUntraced(function* ({ config, fileOnly, workspace: id, channel: name, part }) {
      const snapshot = yield* readSnapshot(config, { fileOnly })
      const workspace = yield* named(config, "workspace", snapshot.workspaces, id)
      const channels = new Map(workspace.outputs.channels.map((one) => [one.name, one]))
      const channel = Option.isNone(name) ? undefined : yield* named(`workspace ${id}`, "channel", channels, name.value)
      const { renderSample } = yield* runs
      const text = renderSample(workspace, channel, part)
      if (Result.isFailure(text)) return yield* refused(`the ${part} template does not work: ${text.failure.message}`)
      yield* Console.log(text.success)
    })
  ).pipe(
    Command.withDescription("Render a template with an example review"),
    Command.withExamples([
      { command: "aicr template render --workspace app", description: "The built-in summary" },
      {
        command: "aicr template render --workspace app --channel review --part problem",
        description: "One problem in the channel review"
      }
    ])
  )

export const templateCommand = (runs: Effect.Effect<Runs>) =>
  Command.make("template").pipe(Command.withDescription("Render templates"), Command.withSubcommands([render(runs)]))
