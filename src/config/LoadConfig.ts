/** Reading a configuration: from a file, from text, or from a document in memory. Invalid ones fail with every issue at once. */
import { Effect, Schema } from "effect"
import { readFile, stat } from "node:fs/promises"
import { dirname, resolve } from "node:path"
import type { ConfigIssue } from "./ConfigIssue.ts"
import { formatIssue } from "./ConfigIssue.ts"
import type { Env } from "./Credentials.ts"
import { formatPath } from "./Path.ts"
import type { Snapshot } from "./Snapshot.ts"
import type { Reading, UnsetVariables } from "./Snapshots.ts"
import { readDocument } from "./Snapshots.ts"
import { maxBytes, parseYaml } from "./Yaml.ts"

/** The document is refused. `message` has one line per error, ready to be shown. */
export class ConfigInvalid extends Schema.TaggedError<ConfigInvalid>()("ConfigInvalid", {
  message: Schema.String,
  issues: Schema.Array(
    Schema.Struct({
      severity: Schema.Literals(["error", "warning"]),
      path: Schema.String,
      message: Schema.String,
      file: Schema.optional(Schema.String),
      line: Schema.optional(Schema.Int),
      column: Schema.optional(Schema.Int)
    })
  )
}) {
  static of(issues: ReadonlyArray<ConfigIssue>): ConfigInvalid {
    const errors = issues.filter((issue) => issue.severity === "error")
    return new ConfigInvalid({ message: errors.map(formatIssue).join("\n"), issues: [...issues] })
  }
}

export interface TextOptions {
  readonly file?: string | undefined
  /** Where relative paths of the document start; the file's directory, else the working directory. */
  readonly baseDir?: string | undefined
  /** Unset variables that the service needs to start are errors, or, to judge a document alone, warnings. */
  readonly unset?: UnsetVariables | undefined
  /** Whether this node takes deliveries and calls, so that what guards them must be set. True unless given. */
  readonly receives?: boolean | undefined
}

/** What a text says: a snapshot or errors, and warnings. Never throws, whatever the text is. */
export const readText = (text: string, env: Env, options: TextOptions = {}): Reading => {
  const { file } = options
  const parsed = parseYaml(text)
  const textIssues = parsed.issues.map(({ path, message, place }): ConfigIssue => ({
    severity: "error",
    path: formatPath(path),
    message,
    file,
    ...place
  }))
  if (textIssues.length > 0 && parsed.value === undefined) return { snapshot: undefined, issues: textIssues }
  const baseDir = options.baseDir ?? (file === undefined ? undefined : dirname(resolve(file)))
  const reading = readDocument(parsed.value, env, { ...options, baseDir, locate: parsed.locate })
  return textIssues.length === 0 ? reading : { snapshot: undefined, issues: [...textIssues, ...reading.issues] }
}

/** What a file says. A file that cannot be read is an issue like any other. */
export const readConfigFile = (
  file: string,
  env: Env,
  options: Omit<TextOptions, "file"> = {}
): Effect.Effect<Reading> =>
  Effect.tryPromise(async () => {
    const { size } = await stat(file)
    return size > maxBytes ? undefined : readFile(file, "utf8")
  }).pipe(
    Effect.map((text) =>
      text === undefined
        ? unreadable(file, `the file has more than ${maxBytes} bytes (1 MiB)`)
        : readText(text, env, { ...options, file })
    ),
    Effect.catch(({ cause }) =>
      Effect.succeed(
        unreadable(file, `${whyUnreadable(errorCode(cause))}; name yours, or begin with config.example.yaml`)
      )
    )
  )

const unreadable = (file: string, message: string): Reading => ({
  snapshot: undefined,
  issues: [{ severity: "error", path: "", message, file }],
  unreadable: true
})

const whyUnreadable = (code: string): string =>
  ({ ENOENT: "file not found", EISDIR: "this is a folder", EACCES: "this user may not read it" })[code] ??
  `the file cannot be read (${code})`

const errorCode = (cause: unknown): string =>
  cause instanceof Error && "code" in cause && typeof cause.code === "string" ? cause.code : "unknown error"

const orInvalid = ({ snapshot, issues }: Reading): Effect.Effect<Snapshot, ConfigInvalid> =>
  snapshot === undefined ? Effect.fail(ConfigInvalid.of(issues)) : Effect.succeed(snapshot)

/** The snapshot of a configuration file or text. */
export const loadConfig = (
  source: { readonly file: string } | { readonly text: string; readonly baseDir?: string },
  env: Env,
  options: Pick<TextOptions, "unset"> = {}
): Effect.Effect<Snapshot, ConfigInvalid> =>
  "file" in source
    ? Effect.flatMap(readConfigFile(source.file, env, options), orInvalid)
    : Effect.suspend(() => orInvalid(readText(source.text, env, { ...options, baseDir: source.baseDir })))

/** The snapshot of a document in memory, in the words of the YAML file. */
export const snapshotOf = (
  document: unknown,
  env: Env,
  options: { readonly baseDir?: string } = {}
): Effect.Effect<Snapshot, ConfigInvalid> => Effect.suspend(() => orInvalid(readDocument(document, env, options)))
