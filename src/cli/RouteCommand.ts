/** Implements `aicr route test`: lists the channels that a change would be published to, and the matching rule. */
import { Console, Effect } from "effect"
import { Command, Flag } from "effect/cli"
import type { TriggerProfile, Workspace } from "../config/Snapshot.ts"
import { TargetKind } from "../domain/Kinds.ts"
import { configFlag, fileOnlyFlag } from "./ConfigFlag.ts"
import { named, readSnapshot } from "./ReadSnapshot.ts"

/** The output of `--json`. */
interface RouteReport {
  /** Matching rule: `outputs.routes.rules[2]`, `outputs.routes.default`, or the behaviour without either. */
  readonly rule: string
  readonly channels: ReadonlyArray<{
    readonly name: string
    readonly kind: string
    readonly line_comments: boolean
    readonly summary: boolean
    /** Undefined if the channel publishes; otherwise the reason why not. */
    readonly problem: string | undefined
  }>
  /** Routes of notices to operators that match each kind, and the channels that they name. */
  readonly notices: ReadonlyArray<{
    readonly kind: string
    readonly routes: ReadonlyArray<string>
    readonly channels: ReadonlyArray<string>
  }>
}

interface Runs {
  readonly routeReport: (workspace: Workspace, trigger: TriggerProfile, kind: TargetKind) => RouteReport
}

/** Returns a line per kind of notices; one line if no kind is sent. */
const noticeLines = ({ notices }: RouteReport): ReadonlyArray<string> =>
  notices.every(({ channels }) => channels.length === 0)
    ? ["notices to operators: none, because outputs.notifications has no route"]
    : [
        "notices to operators:",
        ...notices.map(({ channels, kind, routes }) =>
          channels.length === 0
            ? `  ${kind}: none, no matching route`
            : `  ${kind}: ${channels.join(", ")} (${routes.join(", ")})`
        )
      ]

const test = (runs: Effect.Effect<Runs>) =>
  Command.make(
    "test",
    {
      config: configFlag,
      fileOnly: fileOnlyFlag,
      workspace: Flag.String("workspace").pipe(Flag.withAlias("w"), Flag.withDescription("Workspace of the change")),
      trigger: Flag.String("trigger").pipe(Flag.withDescription("Trigger of the change")),
      kind: Flag.Literals("target-kind", TargetKind.literals).pipe(
        Flag.withDescription("What is reviewed"),
        Flag.withDefault("pull_request" as const)
      ),
      json: Flag.Boolean("json").pipe(Flag.withDefault(false), Flag.withDescription("Print one JSON object"))
    },
    Effect.fnUntraced(function* ({ config, fileOnly, workspace: id, trigger: name, kind, json }) {
      const snapshot = yield* readSnapshot(config, { fileOnly })
      const workspace = yield* named(config, "workspace", snapshot.workspaces, id)
      const trigger = yield* named(config, "trigger", snapshot.triggers, name)
      const { routeReport } = yield* runs
      const found = routeReport(workspace, trigger, kind)
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
      for (const line of noticeLines(found)) yield* Console.log(line)
    })
  ).pipe(
    Command.withDescription("List the channels that a change would be published to, and the matching rule"),
    Command.withExamples([
      {
        command: "aicr route test --workspace app --trigger main --target-kind pull_request",
        description: "Names as in the configuration"
      }
    ])
  )

export const routeCommand = (runs: Effect.Effect<Runs>) =>
  Command.make("route").pipe(
    Command.withDescription("Test the routing of results"),
    Command.withSubcommands([test(runs)])
  )
