/** Reads a configuration: from a file, from text, or from a document in memory. An invalid one fails with all issues. */
import { Effect, Result, Schema } from "effect"
import { readFile, stat } from "node:fs/promises"
import { dirname, resolve } from "node:path"
import type { Role } from "../domain/Role.ts"
import { ConfigIssue } from "./ConfigIssue.ts"
import { formatIssue } from "./ConfigIssue.ts"
import type { Env } from "./Credentials.ts"
import { formatPath } from "./document/Path.ts"
import { resolveWorkspaces } from "./snapshots/Resolve.ts"
import type { Snapshot, Workspace } from "./Snapshot.ts"
import type { Reading, UnsetVariables } from "./snapshots/Snapshots.ts"
import { readDocument } from "./snapshots/Snapshots.ts"
import { maxBytes, parseYaml } from "./Yaml.ts"
import { Reason } from "../domain/Reason.ts"

/** The document was refused. `message` has one line per error, ready for display. */
export class ConfigInvalid extends Schema.TaggedError<ConfigInvalid>()("ConfigInvalid", {
  message: Schema.String,
  issues: Schema.Array(ConfigIssue)
}) {
  static of(issues: ReadonlyArray<ConfigIssue>): ConfigInvalid {
    const errors = issues.filter((issue) => issue.severity === "error")
    return new ConfigInvalid({ message: errors.map(formatIssue).join("\n"), issues: [...issues] })
  }
}

export interface TextOptions {
  readonly file?: string | undefined
  /** Base directory of relative paths of the document; default: the file's directory, otherwise the working directory. */
  readonly baseDir?: string | undefined
  /** Whether unset variables that the service needs to start are errors or, to judge a document alone, warnings. */
  readonly unset?: UnsetVariables | undefined
  /** Roles of the node, whose variables must be set. Default: all. */
  readonly roles?: ReadonlySet<Role> | undefined
}

/** Reads a text. Returns a snapshot or errors, and warnings. Never throws. */
export const readText = (text: string, env: Env, options: TextOptions = {}): Reading => {
  const { file } = options
  const parsed = parseYaml(text)
  const textIssues = parsed.issues.map(({ path, reason, place }): ConfigIssue => ({
    severity: "error",
    path: formatPath(path),
    reason,
    file,
    ...place
  }))
  if (textIssues.length > 0 && parsed.value === undefined) return { snapshot: undefined, issues: textIssues }
  const baseDir = options.baseDir ?? (file === undefined ? undefined : dirname(resolve(file)))
  const reading = readDocument(parsed.value, env, { ...options, baseDir, locate: parsed.locate })
  return textIssues.length === 0 ? reading : { snapshot: undefined, issues: [...textIssues, ...reading.issues] }
}

/** Returns the text of a file, or the issue of one that cannot be read. */
export const readFileText = (file: string): Effect.Effect<Result.Result<string, Reading>> =>
  Effect.tryPromise(async () => {
    const { size } = await stat(file)
    return size > maxBytes ? undefined : readFile(file, "utf8")
  }).pipe(
    Effect.map((text) =>
      text === undefined
        ? Result.fail(unreadable(file, { _tag: "ConfigFileTooLarge", count: maxBytes }))
        : Result.succeed(text)
    ),
    Effect.catch(({ cause }) =>
      Effect.succeed(Result.fail(unreadable(file, { _tag: "FileUnreadable", why: whyUnreadable(errorCode(cause)) })))
    )
  )

/** Reads a file. An unreadable file is reported as an issue. */
export const readConfigFile = (
  file: string,
  env: Env,
  options: Omit<TextOptions, "file"> = {}
): Effect.Effect<Reading> =>
  Effect.map(readFileText(file), (text) =>
    Result.isFailure(text) ? text.failure : readText(text.success, env, { ...options, file })
  )

const unreadable = (file: string, reason: Reason): Reading => ({
  snapshot: undefined,
  issues: [{ severity: "error", path: "", reason, file }],
  unreadable: true
})

const readErrors: Readonly<Record<string, Reason>> = {
  ENOENT: { _tag: "FileNotFound" },
  EISDIR: { _tag: "FileIsFolder" },
  EACCES: { _tag: "FileNotPermitted" }
}

const whyUnreadable = (code: string): Reason => readErrors[code] ?? { _tag: "ReadFailed", code }

const errorCode = (cause: unknown): string =>
  cause instanceof Error && "code" in cause && typeof cause.code === "string" ? cause.code : "unknown error"

const orInvalid = ({ snapshot, issues }: Reading): Effect.Effect<Snapshot, ConfigInvalid> =>
  snapshot === undefined ? Effect.fail(ConfigInvalid.of(issues)) : Effect.succeed(snapshot)

/** Returns the snapshot of a configuration file or text. */
export const loadConfig = (
  source: { readonly file: string } | { readonly text: string; readonly baseDir?: string },
  env: Env,
  options: Pick<TextOptions, "unset"> = {}
): Effect.Effect<Snapshot, ConfigInvalid> =>
  "file" in source
    ? Effect.flatMap(readConfigFile(source.file, env, options), orInvalid)
    : Effect.suspend(() => orInvalid(readText(source.text, env, { ...options, baseDir: source.baseDir })))

/** Returns the snapshot of a document in memory, in the format of the YAML file. */
export const toSnapshot = (
  document: unknown,
  env: Env,
  options: { readonly baseDir?: string } = {}
): Effect.Effect<Snapshot, ConfigInvalid> => Effect.suspend(() => orInvalid(readDocument(document, env, options)))

/** Returns a workspace with the global settings and the defaults, which is bound to no repository. */
export const addWorkspace = (snapshot: Snapshot, id: string): Workspace | undefined => {
  const { document, given } = snapshot
  const instances = { [id]: { enabled: true, auth: { enabled: true } } }
  const workspaces = { ...document.workspaces, instances }
  return resolveWorkspaces(given, { ...document, workspaces }, () => snapshot).get(id)
}
