/**
 * Decides what becomes of a changeset: a new revision, nothing, a conflict, or a refusal. Pure; the store then compares the head and writes
 * the revision, or the decision is made again with the new head.
 */
import { Redacted, Result } from "effect"
import type { ConfigIssue } from "../ConfigIssue.ts"
import type { Difference } from "../Diff.ts"
import type { Path } from "../document/Path.ts"
import { formatPath, valueAt } from "../document/Path.ts"
import { named } from "../credentials/SealedPlaces.ts"
import type { Snapshot } from "../Snapshot.ts"
import { sealingKeys } from "../credentials/Sealing.ts"
import { applyOperations } from "./ApplyOperations.ts"
import { differences, findConflicts } from "./Conflicts.ts"
import type { CredentialOrigins } from "./CredentialOrigins.ts"
import { makeOrigins, openOrigin, sealMarked } from "./CredentialOrigins.ts"
import type { Conflict } from "./Revision.ts"
import { credentialChanges } from "./CredentialChanges.ts"
import type { CredentialChange } from "./CredentialChange.ts"
import type { DatabaseDocument } from "./DatabaseDocument.ts"
import { entityField } from "./Entities.ts"
import type { EntityAt } from "./EntityPath.ts"
import { makeEntityAt } from "./EntityPath.ts"
import { fileOnlyProblems } from "./FileOnlyFields.ts"
import type { GrantProblem, KeptKey } from "./Grants.ts"
import type { FileBaseline } from "./FileBaseline.ts"
import { readCombined } from "./FileBaseline.ts"
import { redirectedSecrets, ungrantedVariables } from "./Grants.ts"
import type { ConfigOperation, OperationProblem } from "./Operations.ts"
import { makeFindInFile, overlay } from "./Overlay.ts"
import { serialise } from "./SealDocument.ts"
import type { StoredDocument } from "./SealDocument.ts"
import type { Reason } from "../../domain/Reason.ts"

export interface Changeset {
  readonly operations: ReadonlyArray<ConfigOperation>
  readonly base: { readonly number: number; readonly document: DatabaseDocument }
  readonly head: { readonly number: number; readonly document: DatabaseDocument }
  /** True: any other revision since the base is a conflict. */
  readonly strict: boolean
}

/** Reason why a changeset is refused. `entity` is such as `triggers/main`, or `globals`. */
export interface PublishProblem {
  readonly code: string
  readonly entity: string
  readonly path: string
  readonly reason: Reason
}

export interface Publishable {
  readonly document: DatabaseDocument
  readonly stored: StoredDocument
  readonly diff: ReadonlyArray<Difference>
  /** Changes of credentials, which `diff` masks. */
  readonly credentials: ReadonlyArray<CredentialChange>
  readonly rebasedFrom: number | undefined
  /** The combined configuration, with the number that the revision will have. */
  readonly snapshot: Snapshot
}

export type Decision =
  | { readonly _tag: "Publish"; readonly publishable: Publishable }
  | { readonly _tag: "Unchanged" }
  | { readonly _tag: "Conflict"; readonly head: number; readonly conflicts: ReadonlyArray<Conflict> }
  | { readonly _tag: "Refused"; readonly problems: ReadonlyArray<PublishProblem> }

/** Upper bound of a stored document, in bytes: that of a configuration file. */
const maxStoredBytes = 1024 * 1024

/** Problems of a refused edit that are listed. */
export const maxProblems = 100

const refused = (problems: ReadonlyArray<PublishProblem>): Decision => {
  const more = problems.length - maxProblems
  if (more <= 0) return { _tag: "Refused", problems }
  const last: PublishProblem = {
    code: "too_many_problems",
    entity: "",
    path: "",
    reason: { _tag: "MoreProblems", count: more }
  }
  return { _tag: "Refused", problems: [...problems.slice(0, maxProblems), last] }
}

export const decide = ({ operations, base, head, strict }: Changeset, baseline: FileBaseline): Decision => {
  const origins = makeOrigins(baseline.namespace)
  const edits = origins.markOperations(operations, true)
  const from = origins.markDocument(base.document)
  const yours = applyEdits(from, edits, baseline)
  if (Result.isFailure(yours)) return refused(yours.failure)
  if (base.number === head.number)
    return decideMarked({ head, origins, source: from, next: yours.success, rebasedFrom: undefined }, baseline)
  const conflicts = findConflicts(operations, { base: base.document, head: head.document, yours: yours.success })
  if (strict || conflicts.length > 0) return { _tag: "Conflict", head: head.number, conflicts }
  const source = origins.markDocument(head.document)
  const applied = applyEdits(source, edits, baseline)
  if (Result.isFailure(applied)) return refused(applied.failure)
  // Others may have changed, since the base, to where the credentials of the edit are sent.
  const moved = listRedirected(
    yours.success,
    applied.success,
    baseline,
    (secret) => origins.find(secret)?.isEntered === true
  )
  if (moved.length > 0) return refused(moved)
  return decideMarked({ head, origins, source, next: applied.success, rebasedFrom: base.number }, baseline)
}

/** Decides about a whole stored document, which is restored. Its credentials go where they went in that revision. */
export const decideDocument = (
  head: Changeset["head"],
  document: DatabaseDocument,
  baseline: FileBaseline
): Decision => {
  const origins = makeOrigins(baseline.namespace)
  const source = origins.markDocument(document)
  return decideMarked({ head, origins, source, next: source, rebasedFrom: undefined }, baseline)
}

/** A document with markers in place of its credentials, made of `source`. */
interface Marked {
  readonly head: Changeset["head"]
  readonly origins: CredentialOrigins
  readonly source: DatabaseDocument
  readonly next: DatabaseDocument
  readonly rebasedFrom: number | undefined
}

const decideMarked = ({ head, next, origins, rebasedFrom, source }: Marked, baseline: FileBaseline): Decision => {
  const keys = sealingKeys(baseline.env)
  const problems = listMisused({ next, origins, source }, baseline, keys)
  if (problems.length > 0) return refused(problems)
  const sealed = sealMarked(next, origins, baseline.namespace, keys)
  if (Result.isFailure(sealed)) return refused(sealed.failure)
  const diff = differences(head.document, sealed.success)
  if (diff.length === 0) return { _tag: "Unchanged" }
  const { snapshot, issues } = readCombined(sealed.success, baseline, { ...baseline.source, revision: head.number + 1 })
  const stored = serialise(sealed.success)
  const size = Buffer.byteLength(stored.text)
  if (snapshot === undefined) {
    const entityAt = makeEntityAt(baseline.file, sealed.success)
    return refused(issues.filter(isError).map((issue) => toProblem(entityAt, issue)))
  }
  if (size > maxStoredBytes) return refused([tooLarge(size)])
  const credentials = listCredentials(head.document, next, origins, baseline)
  const publishable = { document: sealed.success, stored, diff, credentials, rebasedFrom, snapshot }
  return { _tag: "Publish", publishable }
}

/** `next` has markers in place of its credentials. A sealed text identifies the one that it seals, also where it is moved. */
const listCredentials = (
  head: DatabaseDocument,
  next: DatabaseDocument,
  { find }: CredentialOrigins,
  { file }: FileBaseline
): ReadonlyArray<CredentialChange> => {
  const keyed = (document: DatabaseDocument, keyOf: (secret: unknown) => string | undefined) => ({
    tree: overlay(file, document).tree,
    keyOf: (secret: unknown, path: Path) => (valueAt(file, path) === undefined ? keyOf(secret) : JSON.stringify(path))
  })
  return credentialChanges(
    keyed(head, textOf),
    keyed(next, (secret) => {
      const origin = find(secret)
      return origin === undefined || origin.isEntered ? undefined : origin.text
    })
  )
}

/** Returns the credentials that would go elsewhere than they were entered for, and the values that only the file may set. */
const listMisused = (
  { next, origins, source }: Pick<Marked, "next" | "origins" | "source">,
  baseline: FileBaseline,
  keys: ReturnType<typeof sealingKeys>
): ReadonlyArray<PublishProblem> => {
  const { tree } = overlay(baseline.file, next)
  const isKept = (secret: unknown): boolean => origins.find(secret)?.isEntered !== true
  const readSecret = (secret: unknown): string | undefined => {
    const origin = origins.find(secret)
    return origin === undefined ? undefined : Result.getOrUndefined(openOrigin(origin, keys))
  }
  return [
    ...listRedirected(source, next, baseline, isKept),
    ...ungrantedVariables(tree, baseline.file).map((one) => placed(tree, one)),
    ...fileOnlyProblems(next, baseline.file, readSecret).map(({ field, ...one }) => ({
      ...one,
      path: formatPath(field)
    }))
  ]
}

/** Returns the credentials that `after` sends elsewhere than `before`. In both documents, markers replace credentials. */
export const listRedirected = (
  before: DatabaseDocument,
  after: DatabaseDocument,
  { file }: FileBaseline,
  isKept: (secret: unknown) => boolean
): ReadonlyArray<PublishProblem> => {
  const { tree } = overlay(file, after)
  // A credential of the file is not marked: its path identifies it, because edits do not change the file.
  const keyOf: KeptKey = (secret, path) =>
    isKept(secret) ? (valueAt(file, path) === undefined ? textOf(secret) : JSON.stringify(path)) : undefined
  return redirectedSecrets(overlay(file, before).tree, tree, keyOf).map((one) => placed(tree, one))
}

const textOf = (secret: unknown): string => (Redacted.isRedacted(secret) ? String(Redacted.value(secret)) : "")

export const applyEdits = (
  document: DatabaseDocument,
  operations: ReadonlyArray<ConfigOperation>,
  { file }: FileBaseline
): Result.Result<DatabaseDocument, ReadonlyArray<OperationProblem>> =>
  applyOperations(document, operations, { file, findInFile: makeFindInFile(file) })

const placed = (document: unknown, { code, path, reason }: GrantProblem): PublishProblem => {
  const { entity, field } = entityField(named(document, path))
  return { code, entity, path: formatPath(field), reason }
}

const isError = ({ severity }: ConfigIssue): boolean => severity === "error"

/** A sealed value that cannot be opened has a code of its own. */
const toProblem = (entityAt: EntityAt, { path, reason }: ConfigIssue): PublishProblem => {
  const { entity, field } = path === "" ? { entity: "", field: [] } : entityAt(path)
  const [code, why] = reason._tag === "SealedUnreadable" ? [reason.code, reason.why] : ["invalid_configuration", reason]
  return { code, entity, path: formatPath(field), reason: why }
}

const tooLarge = (size: number): PublishProblem => ({
  code: "document_too_large",
  entity: "",
  path: "",
  reason: { _tag: "StoredTooLarge", bytes: size, limit: maxStoredBytes }
})
