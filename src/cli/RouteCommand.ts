/** `aicr route test`: which channels a change would be published to, and by which rule. */
import { Console, Effect } from "effect"
import { Command, Flag } from "effect/cli"
import { formatIssue } from "../config/ConfigIssue.ts"
import { readConfigFile } from "../config/LoadConfig.ts"
import type { TriggerProfile, Workspace } from "../config/Snapshot.ts"
import { TargetKind } from "../domain/Kinds.ts"
import { ExitWith } from "./Exit.ts"

export interface RouteReport {
  readonly rule: string
  readonly channels: ReadonlyArray<{
    readonly name: string
    readonly kind: string
    readonly line_comments: boolean
    readonly summary: boolean
    readonly problem: string | undefined
  }>
}

const refused = (message: string) => new ExitWith({ code: 2, message })
const listed = (names: Iterable<string>): string => [...names].slice(0, 20).join(", ") || "there are none"

const test = (report: (workspace: Workspace, trigger: TriggerProfile, kind: TargetKind) => RouteReport) =>
  Command.make(
    "test",
    {
      config: Flag.String("config").pipe(
        Flag.withAlias("c"),
        Flag.withDescription("Configuration file (YAML)"),
        Flag.withDefault("config.yaml")
      ),
      workspace: Flag.String("workspace").pipe(Flag.withAlias("w"), Flag.withDescription("Workspace of the change")),
      trigger: Flag.String("trigger").pipe(Flag.withDescription("Trigger that the change came in by")),
      kind: Flag.Literals("target-kind", TargetKind.literals).pipe(
        Flag.withDescription("What is reviewed"),
        Flag.withDefault("pull_request" as const)
      ),
      json: Flag.Boolean("json").pipe(Flag.withDefault(false), Flag.withDescription("Print one JSON object"))
    },
    Effect.fnUntraced(function* ({ config, workspace: id, trigger: name, kind, json }) {
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
      const trigger = snapshot.triggers.get(name)
      if (trigger === undefined) {
        return yield* refused(
          `${config} has no trigger ${JSON.stringify(name)}; it has: ${listed(snapshot.triggers.keys())}`
        )
      }
      const found = report(workspace, trigger, kind)
      if (json) return yield* Console.log(JSON.stringify(found, undefined, 2))
      yield* Console.log(`${kind} of trigger ${name} in workspace ${id}: ${found.rule}`)
      for (const channel of found.channels) {
        const parts = [...(channel.line_comments ? ["line comments"] : []), ...(channel.summary ? ["summary"] : [])]
        const what = channel.problem === undefined ? parts.join(" and ") : `nothing: ${channel.problem}`
        yield* Console.log(`  ${channel.name} (${channel.kind}): ${what}`)
      }
      if (found.channels.every(({ problem }) => problem !== undefined)) {
        yield* Console.log("  nothing is published, so nothing is reviewed")
      }
    })
  ).pipe(Command.withDescription("Say which channels a change would be published to, and by which rule"))

export const routeCommand = (report: Parameters<typeof test>[0]) =>
  Command.make("route").pipe(
    Command.withDescription("Look at the routing of results"),
    Command.withSubcommands([test(report)])
  )
