/** Builds the snapshot from a document as plain data. All problems are reported in one pass. */
import { Redacted, Result } from "effect"
import { createHash } from "node:crypto"
import { isAbsolute, join, resolve as resolvePath } from "node:path"
import type { TriggerKind } from "../../domain/Kinds.ts"
import { listAliasProblems } from "../checks/ChatAliases.ts"
import { roles as allRoles } from "../../domain/Role.ts"
import type { Role } from "../../domain/Role.ts"
import { crossCheck } from "../checks/CrossCheck.ts"
import type { ConfigIssue } from "../ConfigIssue.ts"
import type { Env } from "../Credentials.ts"
import { credential } from "../Credentials.ts"
import { decode } from "../document/Decode.ts"
import { resolve } from "../fields/Defaults.ts"
import { Document } from "../Document.ts"
import type { GivenDocument } from "../Document.ts"
import { misplacedTokens, unsetVariables } from "../credentials/Environment.ts"
import type { Complaint } from "../document/Normalise.ts"
import { normalise } from "../document/Normalise.ts"
import { openSealed } from "../credentials/OpenSealed.ts"
import { formatPath, isRecord } from "../document/Path.ts"
import type { Path } from "../document/Path.ts"
import { resolveTrigger, resolveWorkspaces } from "./Resolve.ts"
import { makeRoute } from "./RouteIndex.ts"
import type { Shape } from "../fields/Shape.ts"
import { readShape } from "../fields/Shape.ts"
import type { Snapshot } from "../Snapshot.ts"
import { asWritten } from "../document/Written.ts"
import type { TextPosition } from "../Yaml.ts"

export type UnsetVariables = "errors" | "warnings" | "all errors"

export interface Origin {
  readonly file?: string | undefined
  readonly baseDir?: string | undefined
  readonly locate?: ((path: Path, at: "key" | "value") => TextPosition | undefined) | undefined
  /**
   * Severity of unset variables: `errors` (default) for those that the service needs to start, `warnings` to judge the document alone, `all
   * errors` for each.
   */
  readonly unset?: UnsetVariables | undefined
  /** Roles of the node, whose variables must be set. Default: all. */
  readonly roles?: ReadonlySet<Role> | undefined
  /** Revision of the database that the document contains. */
  readonly revision?: number | undefined
}

/** Result of reading a document: a snapshot, or at least one error, and all warnings. */
export interface Reading {
  readonly snapshot: Snapshot | undefined
  readonly issues: ReadonlyArray<ConfigIssue>
  /** True if there was no text to read. */
  readonly unreadable?: boolean | undefined
}

export const readDocument = (source: unknown, env: Env, origin: Origin = {}): Reading => {
  const shape = readShape(Document)
  const issues: Array<ConfigIssue> = []
  const add =
    (severity: ConfigIssue["severity"]) =>
    ({ path, reason, at }: Complaint): void => {
      const written = asWritten(shape, source, path)
      const place = origin.locate?.(written, at)
      issues.push({ severity, path: formatPath(written), reason, file: origin.file, ...place })
    }
  if (source !== null && source !== undefined && !isRecord(source)) {
    add("error")({ path: [], reason: { _tag: "RootExpected", fields: [...keysOf(shape)] }, at: "value" })
    return { snapshot: undefined, issues }
  }
  const tree = openSealed(normalise(shape, source ?? {}, add("error")), env, {
    missing: add(origin.unset === "warnings" ? "warning" : "error"),
    invalid: add("error")
  })
  const decoded = decode(tree)
  if (Result.isFailure(decoded)) decoded.failure.forEach(add("error"))
  const wrong = new Set(Result.isFailure(decoded) ? decoded.failure.map(({ path }) => formatPath(path)) : [])
  const report = (severity: ConfigIssue["severity"]) => {
    const put = add(severity)
    return (complaint: Complaint): void => {
      // Fields that only seem to be missing because of a wrong value are not reported twice.
      if (!wrong.has(formatPath(complaint.path))) put(complaint)
    }
  }
  crossCheck(tree, env, { error: report("error"), warning: report("warning") })
  const misplaced = misplacedTokens(tree, env)
  misplaced.forEach(add("error"))
  const misplacedPaths = new Set(misplaced.map(({ path }) => formatPath(path)))
  for (const { complaint, needed } of unsetVariables(tree, env, origin.roles ?? new Set(allRoles))) {
    if (misplacedPaths.has(formatPath(complaint.path))) continue
    const isError = origin.unset === "all errors" || (needed && origin.unset !== "warnings")
    add(isError ? "error" : "warning")(complaint)
  }
  const ordered = sortIssues(issues)
  if (Result.isFailure(decoded) || ordered.some((issue) => issue.severity === "error"))
    return { snapshot: undefined, issues: ordered }
  const snapshot = makeSnapshot(decoded.success, tree, ordered, env, {
    baseDir: origin.baseDir ?? process.cwd(),
    revision: origin.revision
  })
  const misled = listAliasProblems(snapshot)
  if (misled.length === 0) return { snapshot, issues: ordered }
  misled.forEach(add("error"))
  return { snapshot: undefined, issues: sortIssues(issues) }
}

/**
 * Restores the snapshot of an archived normalised document under its original hash. Returns undefined if this release cannot read it any
 * more. Rules for new documents are not checked again.
 */
export const restoreSnapshot = (
  tree: unknown,
  env: Env,
  kept: { readonly hash: string; readonly baseDir: string; readonly revision: number | undefined }
): Snapshot | undefined => {
  const ignore = (): void => {}
  const opened = openSealed(normalise(readShape(Document), tree, ignore), env, { missing: ignore, invalid: ignore })
  const decoded = decode(opened)
  return Result.isSuccess(decoded) ? makeSnapshot(decoded.success, opened, [], env, kept) : undefined
}

const keysOf = (shape: Shape): Iterable<string> => (shape.type === "object" ? shape.fields.keys() : [])

const sortIssues = (issues: ReadonlyArray<ConfigIssue>): ReadonlyArray<ConfigIssue> =>
  issues.toSorted(
    (left, right) =>
      (left.line ?? 0) - (right.line ?? 0) ||
      (left.column ?? 0) - (right.column ?? 0) ||
      (left.path < right.path ? -1 : left.path > right.path ? 1 : 0)
  )

interface SnapshotOrigin {
  readonly baseDir: string
  /** The hash that work is pinned to, if the tree is not complete any more. */
  readonly hash?: string
  readonly revision: number | undefined
}

const makeSnapshot = (
  given: GivenDocument,
  tree: unknown,
  issues: ReadonlyArray<ConfigIssue>,
  env: Env,
  { baseDir, hash, revision }: SnapshotOrigin
): Snapshot => {
  const document = deepFreeze(resolve(Document, given))
  const triggers = new Map(
    document.triggers.map((trigger) => [
      trigger.name,
      Object.freeze(resolveTrigger(trigger, env, resolvePath(baseDir)))
    ])
  )
  const workspaces = resolveWorkspaces(given, document, () => snapshot)
  for (const workspace of workspaces.values()) deepFreeze(workspace)
  const root = document.workspaces.root ?? "workspaces"
  const snapshot: Snapshot = Object.freeze({
    hash: hash ?? hashOf(tree),
    document,
    given,
    revision,
    baseDir: resolvePath(baseDir),
    workspacesRoot: isAbsolute(root) ? root : join(resolvePath(baseDir), root),
    credential: (holder: object, name: string) => credential(holder, name, env),
    warnings: issues,
    triggers,
    triggersOfKind: (kind: TriggerKind) => [...triggers.values()].filter((trigger) => trigger.kind === kind),
    workspaces,
    ...makeRoute(workspaces.values())
  })
  return snapshot
}

/** Returns the SHA-256 of the normalised document, independent of the order of its keys. */
const hashOf = (tree: unknown): string => createHash("sha256").update(canonicalJson(tree)).digest("hex")

const canonicalJson = (value: unknown): string => {
  if (Redacted.isRedacted(value)) return JSON.stringify(["secret", Redacted.value(value)])
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`
  if (!isRecord(value)) return JSON.stringify(value) ?? "null"
  const entries = Object.keys(value)
    .toSorted()
    .map((key) => `${JSON.stringify(key)}:${canonicalJson(value[key])}`)
  return `{${entries.join(",")}}`
}

const deepFreeze = <T>(value: T): T => {
  if (typeof value !== "object" || value === null || Object.isFrozen(value) || Redacted.isRedacted(value)) return value
  Object.freeze(value)
  for (const inner of Object.values(value)) deepFreeze(inner)
  return value
}
