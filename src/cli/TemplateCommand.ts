/** `aicr template render`: what a template makes of an example review. */
import { Console, Effect, Option, Result } from "effect"
import { Command, Flag } from "effect/cli"
import { formatIssue } from "../config/ConfigIssue.ts"
import { readConfigFile } from "../config/LoadConfig.ts"
import type { Channel } from "../config/schema/Outputs.ts"
import type { Workspace } from "../config/Snapshot.ts"
import { ExitWith } from "./Exit.ts"

type RenderSample = (
  workspace: Workspace,
  channel: Channel | undefined,
  part: "problem" | "summary"
) => Result.Result<string, string>

const refused = (message: string) => new ExitWith({ code: 2, message })
const listed = (names: Iterable<string>): string => [...names].slice(0, 20).join(", ") || "there are none"

const render = (sample: RenderSample) =>
  Command.make(
    "render",
    {
      config: Flag.String("config").pipe(
        Flag.withAlias("c"),
        Flag.withDescription("Configuration file (YAML)"),
        Flag.withDefault("config.yaml")
      ),
      workspace: Flag.String("workspace").pipe(Flag.withAlias("w"), Flag.withDescription("Workspace to render for")),
      channel: Flag.String("channel").pipe(
        Flag.withDescription("Channel whose template to use. Left out: the built-in template"),
        Flag.optional
      ),
      part: Flag.Literals("part", ["summary", "problem"] as const).pipe(
        Flag.withDescription("Which of its templates"),
        Flag.withDefault("summary" as const)
      )
    },
    Effect.fnUntraced(function* ({ config, workspace: id, channel: name, part }) {
      const { snapshot, issues } = yield* readConfigFile(config, process.env, { unset: "warnings" })
      if (snapshot === undefined) {
        return yield* refused(
          issues
            .filter(({ severity }) => severity === "error")
            .map(formatIssue)
            .join("\n")
        )
      }
      const workspace = snapshot.workspaces.get(id)
      if (workspace === undefined) {
        return yield* refused(
          `${config} has no workspace ${JSON.stringify(id)}; it has: ${listed(snapshot.workspaces.keys())}`
        )
      }
      const { channels } = workspace.outputs
      const channel = Option.match(name, {
        onNone: () => undefined,
        onSome: (wanted) => channels.find((one) => one.name === wanted)
      })
      if (Option.isSome(name) && channel === undefined) {
        return yield* refused(
          `workspace ${id} has no channel ${JSON.stringify(name.value)}; it has: ${listed(channels.map((one) => one.name))}`
        )
      }
      const text = sample(workspace, channel, part)
      if (Result.isFailure(text)) return yield* refused(`the ${part} template does not work: ${text.failure}`)
      yield* Console.log(text.success)
    })
  ).pipe(Command.withDescription("Print what a template makes of an example review"))

export const templateCommand = (sample: RenderSample) =>
  Command.make("template").pipe(Command.withDescription("Try templates"), Command.withSubcommands([render(sample)]))
