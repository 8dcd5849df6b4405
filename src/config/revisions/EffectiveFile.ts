/**
 * Reads the effective configuration once, for commands: a file over the newest revision of the database that the file enables. A running node
 * follows the revisions instead (src/config/snapshots/FileConfigStore.ts).
 */
import { Effect, Result } from "effect"
import type { Reason } from "../../domain/Reason.ts"
import type { ConfigIssue } from "../ConfigIssue.ts"
import type { StoredRevision } from "../ConfigStore.ts"
import type { Env } from "../Credentials.ts"
import type { ParsedFile } from "../LayeredFile.ts"
import { nothingLayered, parseFile, readBootstrap, readLayered, readRevision } from "../LayeredFile.ts"
import type { TextOptions } from "../LoadConfig.ts"
import { readFileText, readText } from "../LoadConfig.ts"
import { formatPath } from "../document/Path.ts"
import type { Snapshot } from "../Snapshot.ts"
import type { Reading } from "../snapshots/Snapshots.ts"
import type { DatabaseDocument } from "./DatabaseDocument.ts"

/** Reads the newest revisions, newest first, with the namespaces of the file that the database cannot change. */
export type ReadRevisions = (
  bootstrap: Snapshot
) => Effect.Effect<ReadonlyArray<StoredRevision>, { readonly message: string; readonly why: Reason }>

/** Origin of the part that is added to the file. */
type EffectiveSource =
  /** The file alone: it does not enable the database, has errors of its own, or was requested alone. */
  | { readonly _tag: "File" }
  /** 0: nothing has been published. The document is undefined if a newer release wrote it. */
  | { readonly _tag: "Revision"; readonly number: number; readonly document: DatabaseDocument | undefined }
  | { readonly _tag: "Unavailable"; readonly message: string; readonly bootstrap: Snapshot }

export interface EffectiveFile {
  /** Undefined if the file cannot be read. */
  readonly parsed: ParsedFile | undefined
  readonly source: EffectiveSource
  /** Reads the combined configuration. If the database is unavailable, that is the only issue. */
  readonly read: (options: Pick<TextOptions, "roles" | "unset">) => Reading
}

/** Opens a file and the newest revision. Without `revisions` the file is read alone. */
export const openEffective = Effect.fnUntraced(function* (
  file: string,
  env: Env,
  revisions: ReadRevisions | undefined
): Effect.fn.Return<EffectiveFile> {
  const text = yield* readFileText(file)
  if (Result.isFailure(text)) return { parsed: undefined, source: { _tag: "File" }, read: () => text.failure }
  const parsed = parseFile(text.success, file, env)
  const bootstrap = revisions === undefined ? undefined : readBootstrap(parsed)
  if (revisions === undefined || bootstrap?.document.config_sources.database.enabled !== true)
    return { parsed, source: { _tag: "File" }, read: (options) => readText(text.success, env, { ...options, file }) }
  const stored = yield* Effect.result(revisions(bootstrap))
  if (Result.isFailure(stored)) {
    const { message, why } = stored.failure
    return {
      parsed,
      source: { _tag: "Unavailable", message, bootstrap },
      read: () => ({ snapshot: undefined, issues: [unavailable(parsed, why)] })
    }
  }
  const [newest] = stored.success
  const layer = newest === undefined ? Result.succeed(nothingLayered) : readRevision(newest)
  if (Result.isSuccess(layer)) {
    const { document, head } = layer.success
    return {
      parsed,
      source: { _tag: "Revision", number: head.number, document },
      read: (options) => readLayered(parsed, layer.success, options)
    }
  }
  const issues = layer.failure.map((issue): ConfigIssue => ({ ...issue, file }))
  return {
    parsed,
    source: { _tag: "Revision", number: newest?.number ?? 0, document: undefined },
    read: () => ({ snapshot: undefined, issues })
  }
})

const database = ["config_sources", "database"]

const unavailable = ({ file, locate }: ParsedFile, why: Reason): ConfigIssue => ({
  severity: "error",
  path: formatPath(database),
  reason: { _tag: "DatabaseUnreadable", why },
  file,
  ...locate(database, "key")
})
