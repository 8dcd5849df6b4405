/** Implements `aicr secrets seal|rotate`: encrypts credentials, so that a configuration may contain them. */
import { Console, Effect, Option, Redacted, Result } from "effect"
import { Argument, Command, Flag, Prompt } from "effect/cli"
import { readFile, rename, stat, writeFile } from "node:fs/promises"
import { refused } from "./Exit.ts"
import { configFlag } from "./ConfigFlag.ts"
import { ConfigEditor } from "../config/revisions/ConfigEditor.ts"
import { cliActor, enablesDatabase } from "./ConfigSourceCommands.ts"
import type { EditorAccess } from "./ConfigSourceCommands.ts"
import { inEnglish } from "../text/en.ts"

const sealing = Effect.promise(() => import("../config/SealField.ts"))

const maxSecret = 65_536

const because = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause))

const readText = (file: string) =>
  Effect.tryPromise({
    try: () => readFile(file, "utf8"),
    catch: (cause) => refused(`${file} cannot be read: ${because(cause)}`)
  })

/** Reads a secret: hidden input on a terminal, otherwise all of standard input without the final line break. Never an argument. */
const readSecret = Effect.gen(function* () {
  if (process.stdin.isTTY) return yield* Prompt.run(Prompt.Password({ message: "Secret to seal" }))
  const text = yield* Effect.tryPromise({
    try: async () => {
      let all = ""
      process.stdin.setEncoding("utf8")
      for await (const chunk of process.stdin) {
        all += String(chunk)
        if (all.length > maxSecret) throw new Error(`it has more than ${maxSecret} characters`)
      }
      return all.replace(/\r?\n$/, "")
    },
    catch: (cause) => refused(`the secret could not be read from standard input: ${because(cause)}`)
  })
  return Redacted.make(text)
})

const seal = Command.make(
  "seal",
  {
    field: Argument.String("FIELD").pipe(
      Argument.withDescription("Field of the credential, by names and not positions, such as triggers.main.token")
    ),
    config: Flag.String("config").pipe(
      Flag.withAlias("c"),
      Flag.withDescription("Configuration file from which to read config_sources.database.namespace"),
      Flag.optional
    ),
    namespace: Flag.String("namespace").pipe(
      Flag.withDescription("Namespace, if no --config is given. Default: default"),
      Flag.optional
    )
  },
  Effect.fnUntraced(function* ({ field, config, namespace }) {
    const text = Option.isSome(config) ? yield* readText(config.value) : ""
    const secret = yield* readSecret
    if (Redacted.value(secret) === "") return yield* refused("the secret is empty")
    const { namespaceIn, sealField } = yield* sealing
    const sealed = sealField(
      field,
      secret,
      Option.getOrElse(namespace, () => namespaceIn(text)),
      process.env
    )
    if (Result.isFailure(sealed)) return yield* refused(inEnglish(sealed.failure))
    yield* Console.log(sealed.success)
  })
).pipe(
  Command.withDescription(
    "Seal a credential, read from standard input, for one field of the configuration. Needs SVC_CONFIG_SECRETS_KEY (make one with: openssl rand -hex 32); the service opens it with the same key"
  ),
  Command.withExamples([
    {
      command: "aicr secrets seal triggers.main.token < token.txt",
      description: "Print the value for the field token of the trigger main"
    },
    { command: "aicr secrets seal llm.providers.openai.api_key", description: "Type it on the terminal, hidden" }
  ])
)

const pollMillis = 250

/** Starts sealing, waits for its end, which may be in another process, and prints its progress. */
const followReseal = Effect.gen(function* () {
  const editor = yield* ConfigEditor
  const started = yield* editor.startReseal(cliActor())
  if (started._tag === "Refused")
    return yield* refused(started.problems.map(({ reason }) => inEnglish(reason)).join("\n"))
  let shown = 0
  for (let job = started.job; ; yield* Effect.sleep(pollMillis)) {
    job = (yield* editor.resealJob) ?? job
    if (job.state !== "running") return job
    if (job.checked > shown) yield* Console.error(`${job.checked} records checked, ${job.resealed} sealed`)
    shown = job.checked
  }
})

/** Seals the revisions, drafts and pinned configurations of the database. Records that no key opens end the command with their names. */
const resealDatabase = Effect.fnUntraced(function* (editors: Effect.Effect<EditorAccess>, config: string) {
  const { openEditor, resealPinned } = yield* editors
  const revisions = yield* openEditor(config, followReseal)
  const pinned = yield* resealPinned(config)
  const failed = [...revisions.failed, ...pinned.failed]
  yield* Console.log(`sealed ${revisions.resealed + pinned.resealed} records of the database with the current key`)
  if (failed.length > 0) return yield* refused(failed.map(inEnglish).join("\n"))
})

const rotate = (editors: Effect.Effect<EditorAccess>) =>
  Command.make(
    "rotate",
    {
      config: configFlag,
      dryRun: Flag.Boolean("dry-run").pipe(
        Flag.withDefault(false),
        Flag.withDescription("Print what would be resealed without writing")
      )
    },
    Effect.fnUntraced(function* ({ config, dryRun }) {
      const { rotateText } = yield* sealing
      const found = rotateText(yield* readText(config), process.env)
      if (Result.isFailure(found)) {
        return yield* refused(
          `${config} stays as it is:\n${found.failure.map((problem) => `${config}: ${inEnglish(problem)}`).join("\n")}`
        )
      }
      const { text, rotated, current } = found.success
      if (rotated.length > 0 && !dryRun) {
        yield* Effect.tryPromise({
          try: async () => {
            const temporary = `${config}.${process.pid}.new`
            await writeFile(temporary, text, { mode: (await stat(config)).mode & 0o777, flag: "wx" })
            await rename(temporary, config)
          },
          catch: (cause) => refused(`${config} could not be written: ${because(cause)}`)
        })
      }
      for (const path of rotated) yield* Console.log(`${dryRun ? "would seal" : "sealed"} ${path}`)
      for (const path of current) yield* Console.log(`kept ${path}: it has the current key`)
      if (rotated.length + current.length === 0) yield* Console.log(`${config} holds no sealed credentials`)
      if (!dryRun && (yield* enablesDatabase(config))) yield* resealDatabase(editors, config)
    })
  ).pipe(
    Command.withDescription(
      "Seal the credentials of a file again with a new key, and those of its database if config_sources.database is enabled. SVC_CONFIG_SECRETS_KEY is the new key, SVC_CONFIG_SECRETS_KEY_PREVIOUS the old one. Nothing else changes. Can be repeated after an interruption"
    ),
    Command.withExamples([
      {
        command:
          "SVC_CONFIG_SECRETS_KEY=$NEW SVC_CONFIG_SECRETS_KEY_PREVIOUS=$OLD aicr secrets rotate --config config.yaml",
        description: "From an old key to a new one"
      }
    ])
  )

export const secretsCommand = (editors: Effect.Effect<EditorAccess>) =>
  Command.make("secrets").pipe(
    Command.withDescription("Seal credentials, so that a configuration can hold them"),
    Command.withSubcommands([seal, rotate(editors)])
  )
