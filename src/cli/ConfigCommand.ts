/** `aicr config check|show|schema|diff`: what a configuration says, what is wrong with it, what is in force. */
import { Console, Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { formatIssue } from "../config/ConfigIssue.ts"
import type { ConfigIssue } from "../config/ConfigIssue.ts"
import { diff } from "../config/Diff.ts"
import { jsonSchema } from "../config/JsonSchema.ts"
import { readConfigFile } from "../config/LoadConfig.ts"
import { reference } from "../config/Reference.ts"
import type { Shown } from "../config/Show.ts"
import { showDocument, showWorkspace } from "../config/Show.ts"
import type { Snapshot } from "../config/Snapshot.ts"
import { ExitWith } from "./Exit.ts"

const plural = (count: number, word: string): string => `${count} ${word}${count === 1 ? "" : "s"}`

const errorsOf = (issues: ReadonlyArray<ConfigIssue>): ReadonlyArray<ConfigIssue> =>
  issues.filter(({ severity }) => severity === "error")

const check = Command.make(
  "check",
  {
    files: Argument.String("FILE").pipe(Argument.withDescription("Configuration files"), Argument.variadic({ min: 1 })),
    env: Flag.Boolean("env").pipe(
      Flag.withDefault(false),
      Flag.withDescription("Count unset variables that the service needs to start as errors, as `serve` does")
    )
  },
  Effect.fnUntraced(function* ({ files, env }) {
    let refused = 0
    for (const file of files) {
      const { snapshot, issues } = yield* readConfigFile(file, process.env, { unset: env ? "errors" : "warnings" })
      const errors = errorsOf(issues)
      const warnings = issues.filter(({ severity }) => severity === "warning")
      if (snapshot === undefined) refused++
      const warned = warnings.length === 0 ? "" : `, ${plural(warnings.length, "warning")}`
      yield* Console.log(
        snapshot === undefined
          ? `${file}: ${plural(errors.length, "error")}${warned}`
          : `${file}: valid, ${plural(snapshot.workspaces.size, "workspace")}${warned}`
      )
      for (const issue of errors) yield* Console.error(formatIssue(issue))
      for (const issue of warnings) yield* Console.error(`warning: ${formatIssue(issue)}`)
    }
    if (refused > 0) return yield* new ExitWith({ code: 2, message: "" })
  })
).pipe(Command.withDescription("Say everything that is wrong with configuration files; exit code 2 if anything is"))

const configFlag = Flag.String("config").pipe(
  Flag.withAlias("c"),
  Flag.withDescription("Configuration file (YAML)"),
  Flag.withDefault("config.yaml")
)

/** The snapshot of a file whatever the environment; refused files end the command with every error. */
const load = Effect.fnUntraced(function* (file: string): Effect.fn.Return<Snapshot, ExitWith> {
  const { snapshot, issues } = yield* readConfigFile(file, process.env, { unset: "warnings" })
  if (snapshot !== undefined) return snapshot
  return yield* new ExitWith({ code: 2, message: errorsOf(issues).map(formatIssue).join("\n") })
})

const show = Command.make(
  "show",
  {
    config: configFlag,
    workspace: Flag.String("workspace").pipe(
      Flag.withAlias("w"),
      Flag.withDescription("Show the effective values of one workspace"),
      Flag.optional
    ),
    json: Flag.Boolean("json").pipe(
      Flag.withDefault(false),
      Flag.withDescription("One JSON array of {path, value, origin}")
    )
  },
  Effect.fnUntraced(function* ({ config, workspace, json }) {
    const snapshot = yield* load(config)
    const shown = Option.match(workspace, {
      onNone: () => showDocument(snapshot),
      onSome: (id) => showWorkspace(snapshot, id)
    })
    if (shown === undefined) {
      const ids = [...snapshot.workspaces.keys()].slice(0, 20).join(", ")
      const name = Option.getOrElse(workspace, () => "")
      return yield* new ExitWith({
        code: 2,
        message: `${config} has no workspace ${JSON.stringify(name)}; ${ids === "" ? "it has none" : `there are ${ids}`}`
      })
    }
    yield* Console.log(json ? JSON.stringify(shown, undefined, 2) : table(shown))
  })
).pipe(Command.withDescription("Print the configuration in force, with the origin of every value and secrets masked"))

const table = (shown: ReadonlyArray<Shown>): string => {
  const rows = shown.map(({ path, value, origin }) => ({ left: `${path} = ${JSON.stringify(value)}`, origin }))
  const width = Math.min(80, Math.max(0, ...rows.map(({ left }) => left.length)))
  return rows.map(({ left, origin }) => `${left.padEnd(width)}  # ${origin}`).join("\n")
}

const schema = Command.make(
  "schema",
  {
    markdown: Flag.Boolean("markdown").pipe(
      Flag.withDefault(false),
      Flag.withDescription("Print the reference (docs/configuration.md) instead")
    )
  },
  ({ markdown }) => Console.log((markdown ? reference() : JSON.stringify(jsonSchema(), undefined, 2)).trimEnd())
).pipe(Command.withDescription("Print the JSON Schema 2020-12 of the configuration, for editors"))

const compare = Command.make(
  "diff",
  {
    before: Argument.String("A").pipe(Argument.withDescription("Configuration file")),
    after: Argument.String("B").pipe(Argument.withDescription("Configuration file to compare with"))
  },
  Effect.fnUntraced(function* ({ before, after }) {
    const left = yield* load(before)
    const right = yield* load(after)
    const differences = diff(left.document, right.document)
    for (const { path, change, before: old, after: now } of differences) {
      if (change === "added") yield* Console.log(`+ ${path} = ${JSON.stringify(now)}`)
      else if (change === "removed") yield* Console.log(`- ${path} = ${JSON.stringify(old)}`)
      else yield* Console.log(`~ ${path}: ${JSON.stringify(old)} -> ${JSON.stringify(now)}`)
    }
    if (differences.length === 0) yield* Console.log("no difference")
  })
).pipe(Command.withDescription("Print what differs between two configurations once defaults are filled in"))

export const configCommand = Command.make("config").pipe(
  Command.withDescription("Check, show, describe and compare configurations"),
  Command.withSubcommands([check, show, schema, compare])
)
