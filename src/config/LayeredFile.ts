/** Reads a file to which a document of the database is added. Pure. */
import { Result } from "effect"
import { dirname, resolve } from "node:path"
import type { ConfigIssue } from "./ConfigIssue.ts"
import type { ConfigFileLines, PreparedRevision, StoredRevision } from "./ConfigStore.ts"
import type { Tree } from "./checks/Tree.ts"
import type { Env } from "./Credentials.ts"
import { Document } from "./Document.ts"
import type { TextOptions } from "./LoadConfig.ts"
import type { Complaint } from "./document/Normalise.ts"
import { normalise } from "./document/Normalise.ts"
import { makeReadSealed } from "./credentials/OpenSealed.ts"
import type { Path } from "./document/Path.ts"
import { formatPath, isRecord, valueAt } from "./document/Path.ts"
import type { DatabaseDocument } from "./revisions/DatabaseDocument.ts"
import { emptyDocument } from "./revisions/DatabaseDocument.ts"
import { bootstrapNamespaces, entityLocations } from "./revisions/Entities.ts"
import type { EntityAt } from "./revisions/EntityPath.ts"
import { makeEntityAt } from "./revisions/EntityPath.ts"
import { fileOnlyProblems } from "./revisions/FileOnlyFields.ts"
import { ungrantedVariables } from "./revisions/Grants.ts"
import type { FileBaseline } from "./revisions/FileBaseline.ts"
import { readCombined } from "./revisions/FileBaseline.ts"
import { overlay } from "./revisions/Overlay.ts"
import type { RevisionHead } from "./revisions/Revision.ts"
import { noRevision } from "./revisions/Revision.ts"
import { deserialise } from "./revisions/SealDocument.ts"
import { readNamespace } from "./credentials/SealedPlaces.ts"
import { readShape } from "./fields/Shape.ts"
import type { Snapshot } from "./Snapshot.ts"
import type { Reading } from "./snapshots/Snapshots.ts"
import { readDocument } from "./snapshots/Snapshots.ts"
import { asWritten } from "./document/Written.ts"
import type { TextPosition } from "./Yaml.ts"
import { parseYaml } from "./Yaml.ts"

type Options = Pick<TextOptions, "roles" | "unset">

/** A text that is parsed and normalised. */
export interface ParsedFile {
  readonly file: string
  readonly baseline: FileBaseline
  /** Errors of the text itself. */
  readonly issues: ReadonlyArray<ConfigIssue>
  readonly locate: (path: Path, at: "key" | "value") => TextPosition | undefined
}

export const parseFile = (text: string, file: string, env: Env): ParsedFile => {
  const parsed = parseYaml(text)
  const shape = readShape(Document)
  const complaints: Array<Complaint> = []
  const normalised = normalise(shape, parsed.value ?? {}, (complaint) => complaints.push(complaint))
  const tree: Tree = isRecord(normalised) ? normalised : {}
  const written = (path: Path): Path => asWritten(shape, parsed.value, path)
  const issues = [
    ...parsed.issues.map(({ path, reason, place }): ConfigIssue => ({
      severity: "error",
      path: formatPath(path),
      reason,
      file,
      ...place
    })),
    ...complaints.map(({ path, reason, at }): ConfigIssue => ({
      severity: "error",
      path: formatPath(written(path)),
      reason,
      file,
      ...parsed.locate(written(path), at)
    }))
  ]
  const locate = (path: Path, at: "key" | "value"): TextPosition | undefined =>
    valueAt(tree, path) === undefined && !isInFile(tree, path) ? undefined : parsed.locate(written(path), at)
  return {
    file,
    issues,
    locate,
    baseline: {
      file: tree,
      env,
      baseDir: dirname(resolve(file)),
      namespace: readNamespace(tree),
      source: { file, locate }
    }
  }
}

/** Returns the file with the lines of its values. */
export const toLines = ({ file, baseline, locate }: ParsedFile): ConfigFileLines => ({
  file,
  baseline,
  line: (path) => locate(path, "key")?.line
})

/** Whether a path, such as that of a missing field, is in an entity that the file declares. */
const isInFile = (tree: Tree, path: Path): boolean =>
  Object.values(entityLocations).some(
    ({ at }) =>
      at.every((part, index) => part === path[index]) &&
      valueAt(tree, path.slice(0, at.length + 1)) !== undefined &&
      path.length > at.length
  )

/** A revision of the database, in memory. */
export interface DatabaseLayer {
  readonly head: RevisionHead
  readonly document: DatabaseDocument
}

/** The layer while nothing has been published. */
export const nothingLayered: DatabaseLayer = { head: noRevision, document: emptyDocument }

/** Reads a stored document; fails with the fields that a newer release wrote. */
export const readRevision = ({
  document,
  hash,
  number
}: StoredRevision): Result.Result<DatabaseLayer, ReadonlyArray<ConfigIssue>> => {
  const unknown: Array<ConfigIssue> = []
  const parsed = deserialise(document, ({ path, reason }) =>
    unknown.push({ severity: "error", path: formatPath(path), reason })
  )
  return unknown.length > 0 ? Result.fail(unknown) : Result.succeed({ head: { number, hash }, document: parsed })
}

/** Checks the grants again, because those of this file may be fewer than where the revision was published. */
const findUngranted = (document: DatabaseDocument, baseline: FileBaseline): ReadonlyArray<ConfigIssue> =>
  ungrantedVariables(overlay(baseline.file, document).tree, baseline.file).map(({ code, path, reason }) => ({
    severity: "error",
    path: formatPath(path),
    reason: { _tag: "WithCode", reason, code }
  }))

/** Checks these again too: an earlier release may have published them. */
const findFileOnly = (document: DatabaseDocument, { env, file, namespace }: FileBaseline): ReadonlyArray<ConfigIssue> =>
  fileOnlyProblems(document, file, makeReadSealed(env, namespace)).map(({ code, entity, field, reason }) => ({
    severity: "error",
    path: `${entity} ${formatPath(field)}`,
    reason: { _tag: "WithCode", reason, code }
  }))

/** Names the entity of an issue about a value of the database, which has no line. */
const nameEntity = (issue: ConfigIssue, entityAt: EntityAt): ConfigIssue => {
  if (issue.line !== undefined || issue.path === "") return issue
  const { entity, field } = entityAt(issue.path)
  return { ...issue, file: undefined, path: [entity, formatPath(field)].filter(Boolean).join(" ") }
}

/** Combines the file with a revision of the database. */
export const readLayered = (
  { baseline, issues }: ParsedFile,
  { document, head }: DatabaseLayer,
  options: Options
): Reading => {
  const revision = head.number === 0 ? undefined : head.number
  const reading = readCombined(document, baseline, { ...options, ...baseline.source, revision })
  const entityAt = makeEntityAt(baseline.file, document)
  const ofDatabase = (issue: ConfigIssue): ConfigIssue => nameEntity(issue, entityAt)
  const refused = [...issues, ...findUngranted(document, baseline).map(ofDatabase), ...findFileOnly(document, baseline)]
  const combined = reading.issues.map(ofDatabase)
  return refused.length === 0
    ? { ...reading, issues: combined }
    : { snapshot: undefined, issues: [...refused, ...combined] }
}

/** A revision with the snapshot that it makes with the file. */
interface CombinedRevision {
  readonly layer: DatabaseLayer
  readonly snapshot: Snapshot
}

/** Combines a stored revision with the file; fails with the errors. */
export const combineRevision = (
  parsed: ParsedFile,
  revision: StoredRevision,
  options: Options
): Result.Result<CombinedRevision, ReadonlyArray<ConfigIssue>> =>
  Result.flatMap(readRevision(revision), (layer) => {
    const { issues, snapshot } = readLayered(parsed, layer, options)
    return snapshot === undefined
      ? Result.fail(issues.filter(({ severity }) => severity === "error"))
      : Result.succeed({ layer, snapshot })
  })

/** Keeps the snapshot that this node makes when it publishes a revision, for the activation of that revision with the same file. */
export const keepPrepared = ({ roles, unset = "errors" }: Options) => {
  let prepared: PreparedRevision | undefined
  return {
    put: (next: PreparedRevision): void => {
      // Editors apply the rules of a node that receives deliveries; other nodes read the revision by theirs.
      if (roles?.has("ingress") !== false && unset === "errors") prepared = next
    },
    take: (
      { hash, number }: RevisionHead,
      { baseline }: ParsedFile
    ): Result.Result<CombinedRevision, never> | undefined => {
      const found = prepared
      prepared = undefined
      if (found?.revision.number !== number || found.revision.hash !== hash || found.baseline !== baseline)
        return undefined
      return Result.succeed({ layer: { head: { number, hash }, document: found.document }, snapshot: found.snapshot })
    }
  }
}

/**
 * Reads only the namespaces of a file that the database cannot change, and its queue. With them the stores can be opened although the rest of
 * the file may refer to entities of the database.
 */
export const readBootstrap = ({ baseline, issues }: ParsedFile): Snapshot | undefined => {
  const bootstrap = Object.entries(baseline.file).filter(([key]) => bootstrapNamespaces.has(key) || key === "queue")
  return issues.length > 0
    ? undefined
    : readDocument(Object.fromEntries(bootstrap), baseline.env, { baseDir: baseline.baseDir, unset: "warnings" })
        .snapshot
}
