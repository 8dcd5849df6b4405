/** Implements `aicr config pull|push|revisions|restore`, and the comparison with the database: the configuration that the database holds. */
import { Console, Effect, Option } from "effect"
import type { Context } from "effect"
import { Argument, Command, Flag, Prompt } from "effect/cli"
import { randomUUID } from "node:crypto"
import { readFile } from "node:fs/promises"
import { userInfo } from "node:os"
import { ConfigEditor } from "../config/revisions/ConfigEditor.ts"
import type { EditOutcome, EditPreview, PublishRequest } from "../config/revisions/ConfigEditor.ts"
import type { RevisionSummary } from "../config/revisions/Revision.ts"
import type { SourceUnavailable } from "../config/revisions/RevisionStore.ts"
import { columns } from "./Columns.ts"
import { configFlag } from "./ConfigFlag.ts"
import { ExitWith, refused } from "./Exit.ts"
import { jsonFlag } from "./JsonFlag.ts"
import {
  describeCredential,
  describeDifference,
  describeProblem,
  describeUnfinished,
  listAffected
} from "./ConfigSourceText.ts"
import { UnfinishedReviews } from "./UnfinishedReviews.ts"
import { count, oneLine, time } from "./Wording.ts"
import type { Reason } from "../domain/Reason.ts"

/** Runs an operation with the editor of a configuration file. */
export type OpenEditor = <A>(
  config: string,
  operation: Effect.Effect<A, ExitWith | SourceUnavailable, ConfigEditor | UnfinishedReviews>
) => Effect.Effect<A, ExitWith>

/** Seals the configurations that work is pinned to with the current key. */
export type ResealPinned = (
  config: string
) => Effect.Effect<{ readonly resealed: number; readonly failed: ReadonlyArray<Reason> }, ExitWith>

export interface EditorAccess {
  readonly openEditor: OpenEditor
  readonly resealPinned: ResealPinned
}

/** Returns the actor of edits by commands, which is the user of this process. */
export const cliActor = (): string => {
  try {
    return `cli:${userInfo().username}`
  } catch {
    // A container may run under a user without a name.
    return `cli:${process.getuid?.() ?? "unknown"}`
  }
}

/** Returns whether a configuration file enables the database, or has errors. */
export const enablesDatabase = (config: string) =>
  Effect.gen(function* () {
    const { readFileText } = yield* Effect.promise(() => import("../config/LoadConfig.ts"))
    const { parseFile, readBootstrap } = yield* Effect.promise(() => import("../config/LayeredFile.ts"))
    const text = yield* Effect.fromResult(yield* readFileText(config))
    const bootstrap = readBootstrap(parseFile(text, config, process.env))
    // Opening the database reports the errors of a file that cannot be read: its database must not be skipped silently.
    return bootstrap === undefined || bootstrap.document.config_sources.database.enabled
  }).pipe(Effect.orElseSucceed(() => false))

const reportOutcome = Effect.fnUntraced(function* (outcome: EditOutcome) {
  switch (outcome._tag) {
    case "Committed":
      return yield* Console.log(`published revision ${outcome.revision.number}`)
    case "Unchanged":
      return yield* Console.log(`nothing to publish: revision ${outcome.head} has the same content`)
    case "Conflict":
      return yield* refused(
        `revision ${outcome.head} was published in the meantime; pull it, and apply your change again\n${outcome.conflicts.map(({ path }) => `conflict: ${path.join(" ")}`).join("\n")}`
      )
    case "Refused":
      return yield* refused(outcome.problems.map(describeProblem).join("\n"))
  }
})

const readText = (file: string) =>
  Effect.tryPromise({
    try: () => readFile(file, "utf8"),
    catch: (cause) => refused(`${file} cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`)
  })

const importFile = Effect.fnUntraced(function* (file: string) {
  const imported = yield* (yield* ConfigEditor).importYaml(cliActor(), yield* readText(file))
  if (imported._tag === "Operations") return imported
  const problems =
    imported._tag === "Refused" ? imported.problems.map(describeProblem) : ["the revision does not exist"]
  return yield* refused(problems.join("\n"))
})

/** Maximum number of unfinished reviews that are named. */
const maxUnfinished = 20

/** Prints the changed fields of an edit, what they affect and what keeps its configuration; fails if the edit would be refused. */
const printPreview = Effect.fnUntraced(function* (preview: EditPreview) {
  const { blastRadius, conflicts, credentials, diff, head, problems } = preview
  if (problems.length > 0) return yield* refused(problems.map(describeProblem).join("\n"))
  if (conflicts.length > 0) return yield* reportOutcome({ _tag: "Conflict", head, conflicts })
  for (const difference of diff) yield* Console.log(describeDifference(difference))
  for (const credential of credentials) yield* Console.log(describeCredential(credential))
  if (diff.length === 0) return
  const unfinished = yield* (yield* UnfinishedReviews).list(blastRadius.snapshot, maxUnfinished)
  yield* Console.log([...listAffected(blastRadius), ...describeUnfinished(unfinished)].join("\n"))
})

/** Prints what a YAML document would change in the database. */
export const compareWithDatabase = Effect.fnUntraced(function* (file: string) {
  const { base, operations } = yield* importFile(file)
  const preview =
    operations.length === 0 ? undefined : yield* (yield* ConfigEditor).preview(cliActor(), { base, operations })
  if (preview !== undefined) yield* printPreview(preview)
  if (preview === undefined || preview.diff.length === 0) yield* Console.log("no difference")
})

const reasonFlag = Flag.String("reason").pipe(
  Flag.withDefault(""),
  Flag.withDescription("Reason, recorded with the revision")
)
const operationFlag = Flag.String("operation-id").pipe(
  Flag.withDescription(
    "Id of the edit, which is applied once. If the result is unknown, repeat the command with the same id. Default: a new id"
  ),
  Flag.optional
)
const breakGlassFlag = Flag.Boolean("break-glass").pipe(
  Flag.withDefault(false),
  Flag.withDescription("Publish without the required approvals; needs a reason and is audited")
)
const idOf = (given: Option.Option<string>): string => Option.getOrElse(given, () => randomUUID())

const makePull = (openEditor: OpenEditor) =>
  Command.make(
    "pull",
    { config: configFlag },
    Effect.fnUntraced(function* ({ config }) {
      const text = yield* openEditor(
        config,
        ConfigEditor.use((editor) => editor.exportYaml(cliActor()))
      )
      yield* Console.log(text.trimEnd())
    })
  ).pipe(
    Command.withDescription("Print the configuration of the database as YAML, with masks in place of credentials"),
    Command.withExamples([
      { command: "aicr config pull > database.yaml", description: "To edit and push it, or to keep it" }
    ])
  )

/** Requests a confirmation on a terminal; programs continue without one. */
const confirm = Effect.fnUntraced(function* (message: string) {
  if (!process.stdin.isTTY || !process.stdout.isTTY) return
  const isConfirmed = yield* Effect.orElseSucceed(Prompt.run(Prompt.Confirm({ message })), () => false)
  if (!isConfirmed) return yield* refused("nothing was published")
})

interface PublishOptions extends Pick<PublishRequest, "breakGlass" | "operationId" | "reason"> {
  readonly yes: boolean
  readonly terminal: Context.Context<Prompt.Environment>
}

/** Prints what an edit changes, and requests a confirmation on a terminal. */
const confirmPreview = Effect.fnUntraced(function* (
  preview: EditPreview,
  { terminal, yes }: Pick<PublishOptions, "terminal" | "yes">
) {
  yield* printPreview(preview)
  if (preview.diff.length > 0 && !yes)
    yield* Effect.provideContext(confirm(`Publish ${count(preview.diff.length, "change")}?`), terminal)
})

/** Shows what a document changes, and publishes it. */
const push = Effect.fnUntraced(function* (file: string, { terminal, yes, ...options }: PublishOptions) {
  const { base, operations } = yield* importFile(file)
  if (operations.length === 0) return yield* reportOutcome({ _tag: "Unchanged", head: base })
  const editor = yield* ConfigEditor
  yield* confirmPreview(yield* editor.preview(cliActor(), { base, operations }), { terminal, yes })
  yield* reportOutcome(yield* editor.publish(cliActor(), { base, operations, ...options }))
})

/** Shows what an older revision changes, and publishes its content. */
const restore = Effect.fnUntraced(function* (revision: number, { terminal, yes, ...options }: PublishOptions) {
  const editor = yield* ConfigEditor
  const preview = yield* editor.previewRestore(revision)
  // The restore itself reports a problem, so that the attempt is on record.
  if (preview !== undefined && preview.problems.length === 0) yield* confirmPreview(preview, { terminal, yes })
  yield* reportOutcome(yield* editor.restore(cliActor(), { revision, ...options }))
})

const yesFlag = Flag.Boolean("yes").pipe(
  Flag.withAlias("y"),
  Flag.withDefault(false),
  Flag.withDescription("Publish without a confirmation on a terminal")
)

const pushFlags = {
  file: Argument.String("FILE").pipe(Argument.withDescription("YAML document, as `aicr config pull` prints it")),
  config: configFlag,
  dryRun: Flag.Boolean("dry-run").pipe(
    Flag.withDefault(false),
    Flag.withDescription("Print what would change without writing")
  ),
  yes: yesFlag,
  reason: reasonFlag,
  operationId: operationFlag,
  breakGlass: breakGlassFlag
}

const makePush = (openEditor: OpenEditor) =>
  Command.make(
    "push",
    pushFlags,
    Effect.fnUntraced(function* ({ breakGlass, config, dryRun, file, operationId, reason, yes }) {
      const terminal = yield* Effect.context<Prompt.Environment>()
      const options = { terminal, yes, reason, breakGlass, operationId: idOf(operationId) }
      yield* openEditor(config, dryRun ? compareWithDatabase(file) : push(file, options))
    })
  ).pipe(
    Command.withDescription(
      "Publish a YAML document as the configuration of the database, after printing what it changes. What it omits is removed; masked credentials stay"
    ),
    Command.withExamples([
      {
        command: "aicr config push database.yaml --reason 'new team'",
        description: "A new revision, used by all nodes"
      }
    ])
  )

/** Returns the JSON of a revision as the admin API has it. */
const toJson = ({ createdAt, operationId, rebasedFrom, ...revision }: RevisionSummary) => ({
  ...revision,
  operation_id: operationId,
  rebased_from: rebasedFrom,
  created_at: new Date(createdAt).toISOString()
})

const makeRevisions = (openEditor: OpenEditor) =>
  Command.make(
    "revisions",
    {
      config: configFlag,
      limit: Flag.Int("limit").pipe(Flag.withDefault(20), Flag.withDescription("Number of revisions, at most 200")),
      json: jsonFlag
    },
    Effect.fnUntraced(function* ({ config, json, limit }) {
      if (limit < 1 || limit > 200) return yield* refused("--limit: expected 1 to 200")
      const { items } = yield* openEditor(
        config,
        ConfigEditor.use((editor) => editor.revisions({ limit }))
      )
      if (json) return yield* Console.log(JSON.stringify({ revisions: items.map(toJson) }, null, 2))
      if (items.length === 0) return yield* Console.log("No revisions.")
      const rows = items.map(({ actor, changes, createdAt, number, reason, restores }) => [
        String(number),
        time(createdAt),
        oneLine(actor),
        count(changes, "change"),
        oneLine(restores === undefined ? reason : `restores ${restores}${reason === "" ? "" : `: ${reason}`}`)
      ])
      yield* Console.log(columns(rows))
    })
  ).pipe(
    Command.withDescription("List the revisions of the database's configuration, newest first"),
    Command.withExamples([
      { command: "aicr config revisions --limit 5", description: "Who changed what in the last five revisions" }
    ])
  )

const makeRestore = (openEditor: OpenEditor) =>
  Command.make(
    "restore",
    {
      revision: Argument.Int("REVISION").pipe(
        Argument.withDescription("Number of the revision, as listed by revisions")
      ),
      config: configFlag,
      yes: yesFlag,
      reason: reasonFlag,
      operationId: operationFlag,
      breakGlass: breakGlassFlag
    },
    Effect.fnUntraced(function* ({ breakGlass, config, operationId, reason, revision, yes }) {
      const terminal = yield* Effect.context<Prompt.Environment>()
      const options = { terminal, yes, reason, breakGlass, operationId: idOf(operationId) }
      yield* openEditor(config, restore(revision, options))
    })
  ).pipe(
    Command.withDescription("Print what the content of an older revision changes, and publish it as a new revision"),
    Command.withExamples([
      {
        command: "aicr config restore 41 --reason 'revision 42 lost a team'",
        description: "Publish the content of revision 41 as revision 43"
      }
    ])
  )

export const makeSourceCommands = (access: Effect.Effect<EditorAccess>) => {
  const openEditor: OpenEditor = (config, operation) =>
    Effect.flatMap(access, (loaded) => loaded.openEditor(config, operation))
  return {
    openEditor,
    commands: [makePull(openEditor), makePush(openEditor), makeRevisions(openEditor), makeRestore(openEditor)] as const
  }
}
