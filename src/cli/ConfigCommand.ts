/** Implements `aicr config check|show|schema|diff`: validates and displays a configuration. */
import { Console, Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import type { ConfigIssue } from "../config/ConfigIssue.ts"
import { diff } from "../config/Diff.ts"
import type { EffectiveFile } from "../config/revisions/EffectiveFile.ts"
import type { EffectiveValue } from "../config/revisions/Effective.ts"
import type { Snapshot } from "../config/Snapshot.ts"
import { checkFormats, jsonReport, sarifReport, textReport } from "./CheckReport.ts"
import type { CheckedFile } from "./CheckReport.ts"
import { ExitWith, refused } from "./Exit.ts"
import { exitCodes } from "./ExitCodes.ts"
import { configFlag, fileOnlyFlag } from "./ConfigFlag.ts"
import { databaseAdvice, describeSource, openFile, readSnapshot, requireValid } from "./ReadSnapshot.ts"
import { compareWithDatabase, makeSourceCommands } from "./ConfigSourceCommands.ts"
import { describeDifference } from "./ConfigSourceText.ts"
import type { EditorAccess, OpenEditor } from "./ConfigSourceCommands.ts"
import { ConfigEditor } from "../config/revisions/ConfigEditor.ts"
import { inEnglish } from "../text/en.ts"

interface Runs {
  /** Returns problems of this build that prevent the service from starting with a valid configuration. */
  readonly buildProblems: (snapshot: Snapshot) => ReadonlyArray<ConfigIssue>
}

const check = (runs: Effect.Effect<Runs>) =>
  Command.make(
    "check",
    {
      files: Argument.String("FILE").pipe(
        Argument.withDescription("Configuration files"),
        Argument.variadic({ min: 1 })
      ),
      env: Flag.Boolean("env").pipe(
        Flag.withDefault(false),
        Flag.withDescription("Report environment variables that are not set as errors")
      ),
      fileOnly: fileOnlyFlag,
      format: Flag.Literals("format", checkFormats).pipe(
        Flag.withDefault("text"),
        Flag.withDescription("text, json, or sarif for code hosts")
      )
    },
    Effect.fnUntraced(function* ({ files, env, fileOnly, format }) {
      const checked: Array<CheckedFile> = []
      const { buildProblems } = yield* runs
      let isUnavailable = false
      for (const file of files) {
        const effective = yield* openFile(file, { fileOnly })
        const { source } = effective
        const read = effective.read({ unset: env ? "all errors" : "warnings" })
        const issues = [
          ...read.issues,
          ...(yield* sourceWarnings(effective)),
          ...(read.snapshot === undefined ? [] : buildProblems(read.snapshot))
        ]
        const isRefused = issues.some(({ severity }) => severity === "error")
        isUnavailable ||= source._tag === "Unavailable"
        checked.push({
          file,
          source: describeSource(file, effective) ?? file,
          revision: source._tag === "Revision" ? source.number : undefined,
          issues,
          workspaces: isRefused ? undefined : read.snapshot?.workspaces.size
        })
      }
      if (format === "json") yield* Console.log(jsonReport(checked))
      else if (format === "sarif") yield* Console.log(sarifReport(checked))
      else
        for (const { summary, details } of checked.map(textReport)) {
          yield* Console.log(summary)
          for (const detail of details) yield* Console.error(detail)
        }
      if (isUnavailable) return yield* new ExitWith({ code: exitCodes.failed, message: databaseAdvice })
      if (checked.some(({ workspaces }) => workspaces === undefined)) return yield* refused("")
    })
  ).pipe(
    Command.withDescription("List all problems of configuration files; exit code 2 if there are any"),
    Command.withExamples([
      { command: "aicr config check config.yaml", description: "All errors, with line and column" },
      {
        command: "aicr config check --env deploy/*.yaml",
        description: "Unset variables are errors too"
      },
      {
        command: "aicr config check --format sarif config.yaml > config.sarif",
        description: "For a code host or an editor"
      }
    ])
  )

/** Returns warnings about what the file hides in the database, and about its grants. */
const sourceWarnings = Effect.fnUntraced(function* ({ parsed, source }: EffectiveFile) {
  if (parsed === undefined || source._tag !== "Revision" || source.document === undefined) return []
  const { listSourceWarnings } = yield* Effect.promise(() => import("../config/revisions/SourceWarnings.ts"))
  return listSourceWarnings(parsed, source.document)
})

/** Returns the effective values, with the revision and the user of those of the database. */
const listShown = Effect.fnUntraced(function* (
  openEditor: OpenEditor,
  config: string,
  workspace: string | undefined,
  fileOnly: boolean
) {
  const effective = yield* openFile(config, { fileOnly })
  const { parsed, source } = effective
  if (source._tag === "Revision" && source.number > 0)
    return yield* openEditor(
      config,
      ConfigEditor.use((editor) =>
        workspace === undefined ? Effect.map(editor.effective, ({ values }) => values) : editor.workspace(workspace)
      )
    )
  const snapshot = yield* requireValid(config, effective)
  if (parsed === undefined) return undefined
  const { effectiveValues } = yield* Effect.promise(() => import("../config/revisions/Effective.ts"))
  const { toLines } = yield* Effect.promise(() => import("../config/LayeredFile.ts"))
  return effectiveValues(snapshot, { layered: toLines(parsed), history: [], routes: [] }, workspace)
})

const show = (openEditor: OpenEditor) =>
  Command.make(
    "show",
    {
      config: configFlag,
      fileOnly: fileOnlyFlag,
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
    Effect.fnUntraced(function* ({ config, fileOnly, workspace, json }) {
      const id = Option.getOrUndefined(workspace)
      const shown = yield* listShown(openEditor, config, id, fileOnly)
      if (shown === undefined)
        return yield* refused(
          `${config} has no workspace ${JSON.stringify(id)}; \`aicr config show\` lists workspaces.instances`
        )
      yield* Console.log(json ? JSON.stringify(shown.map(formatOrigin), undefined, 2) : table(shown))
    })
  ).pipe(
    Command.withDescription("Print the effective configuration with the origin of each value; secrets are masked"),
    Command.withExamples([
      {
        command: "aicr config show --workspace app",
        description: "Effective values of one workspace, and their layers"
      }
    ])
  )

const formatOrigin = ({ origin, ...value }: EffectiveValue) => ({ ...value, origin: inEnglish(origin) })

const table = (shown: ReadonlyArray<EffectiveValue>): string => {
  const rows = shown
    .map(formatOrigin)
    .map(({ path, value, origin }) => ({ left: `${path} = ${JSON.stringify(value)}`, origin }))
  const width = Math.min(80, Math.max(0, ...rows.map(({ left }) => left.length)))
  return rows.map(({ left, origin }) => `${left.padEnd(width)}  # ${origin}`).join("\n")
}

const reference = Effect.map(
  Effect.promise(() => import("../config/Reference.ts")),
  (config) => config.reference()
)
const schemaText = Effect.map(
  Effect.promise(() => import("../config/JsonSchema.ts")),
  ({ jsonSchema }) => JSON.stringify(jsonSchema(), undefined, 2)
)

const schema = Command.make(
  "schema",
  {
    markdown: Flag.Boolean("markdown").pipe(
      Flag.withDefault(false),
      Flag.withDescription("Print the reference (docs/configuration.md) instead")
    )
  },
  Effect.fnUntraced(function* ({ markdown }) {
    yield* Console.log((yield* markdown ? reference : schemaText).trimEnd())
  })
).pipe(
  Command.withDescription("Print the JSON Schema 2020-12 of the configuration, for editors"),
  Command.withExamples([
    {
      command: "aicr config schema > aicr.schema.json",
      description: "Then `# yaml-language-server: $schema=aicr.schema.json` at the top of the file"
    }
  ])
)

const compare = (openEditor: OpenEditor) =>
  Command.make(
    "diff",
    {
      before: Argument.String("A").pipe(
        Argument.withDescription("Configuration file; without B a document that is compared with the database")
      ),
      after: Argument.String("B").pipe(
        Argument.withDescription("Configuration file to compare with"),
        Argument.optional
      ),
      config: configFlag,
      fileOnly: fileOnlyFlag
    },
    Effect.fnUntraced(function* ({ after, before, config, fileOnly }) {
      if (Option.isNone(after)) return yield* openEditor(config, compareWithDatabase(before))
      const left = yield* readSnapshot(before, { fileOnly })
      const right = yield* readSnapshot(after.value, { fileOnly })
      const differences = diff(left.document, right.document)
      for (const difference of differences)
        yield* Console.log(describeDifference({ ...difference, names: [difference.path] }))
      if (differences.length === 0) yield* Console.log("no difference")
    })
  ).pipe(
    Command.withDescription("Compare two configurations after filling in defaults, or a document with the database"),
    Command.withExamples([
      { command: "aicr config diff config.yaml new.yaml", description: "The effect of a change to the file" },
      { command: "aicr config diff database.yaml", description: "The effect of pushing this document" }
    ])
  )

export const configCommand = (runs: Effect.Effect<Runs>, editors: Effect.Effect<EditorAccess>) => {
  const { commands, openEditor } = makeSourceCommands(editors)
  return Command.make("config").pipe(
    Command.withDescription("Check, show, describe and compare configurations, and edit that of the database"),
    Command.withSubcommands([check(runs), show(openEditor), schema, compare(openEditor), ...commands])
  )
}
