/**
 * Decides what becomes of a changeset: a new revision, nothing, a conflict, or a refusal. Pure; the store then compares the head and writes
 * the revision, or the decision is made again with the new head.
 */
import { Result } from "effect"
import type { ConfigIssue } from "../ConfigIssue.ts"
import type { Difference } from "../Diff.ts"
import { formatPath } from "../Path.ts"
import { named } from "../SealedPlaces.ts"
import type { Snapshot } from "../Snapshot.ts"
import { sealingKeys } from "../Sealing.ts"
import type { SealingProblem } from "../Sealing.ts"
import { applyOperations } from "./ApplyOperations.ts"
import type { ApplyContext } from "./ApplyOperations.ts"
import { differences, findConflicts } from "./Conflicts.ts"
import type { Conflict } from "./Conflicts.ts"
import type { DatabaseDocument } from "./DatabaseDocument.ts"
import { entityField } from "./Entities.ts"
import type { EntityAt } from "./EntityPath.ts"
import { makeEntityAt } from "./EntityPath.ts"
import { fileOnlyProblems } from "./FileOnlyFields.ts"
import type { GrantProblem } from "./Grants.ts"
import type { Ground } from "./Ground.ts"
import { readCombined } from "./Ground.ts"
import { redirectedSecrets, redirectedTexts, ungrantedVariables } from "./Grants.ts"
import type { ConfigOperation } from "./Operations.ts"
import { makeFindInFile, overlay } from "./Overlay.ts"
import { listRenames } from "./Renames.ts"
import type { Rename } from "./Renames.ts"
import { moveSecrets, sealDocument, secretTexts, serialise } from "./SealDocument.ts"
import type { StoredDocument } from "./SealDocument.ts"

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
  readonly message: string
}

export interface Publishable {
  readonly document: DatabaseDocument
  readonly stored: StoredDocument
  readonly diff: ReadonlyArray<Difference>
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
export const maxStoredBytes = 1024 * 1024

/** Problems of a refused edit that are listed. */
export const maxProblems = 100

const refused = (problems: ReadonlyArray<PublishProblem>): Decision => {
  const more = problems.length - maxProblems
  if (more <= 0) return { _tag: "Refused", problems }
  const message = `${more} more problems are not listed; correct the listed ones and validate again`
  const last = { code: "too_many_problems", entity: "", path: "", message }
  return { _tag: "Refused", problems: [...problems.slice(0, maxProblems), last] }
}

export const decide = ({ operations, base, head, strict }: Changeset, ground: Ground): Decision => {
  const context = applyContext(ground)
  const yours = applyOperations(base.document, operations, context)
  if (Result.isFailure(yours)) return refused(yours.failure)
  if (base.number !== head.number) {
    const conflicts = findConflicts(operations, {
      base: base.document,
      head: head.document,
      yours: yours.success
    })
    if (strict || conflicts.length > 0) return { _tag: "Conflict", head: head.number, conflicts }
  }
  const applied = base.number === head.number ? yours : applyOperations(head.document, operations, context)
  if (Result.isFailure(applied)) return refused(applied.failure)
  if (base.number !== head.number) {
    const problems = redirectedByOthers({ base, head, operations }, ground)
    if (problems.length > 0) return refused(problems)
  }
  const rebasedFrom = base.number === head.number ? undefined : base.number
  return decideDocument(head, applied.success, rebasedFrom, ground, listRenames(operations))
}

/** Decides about a whole document, such as one that is restored or imported. */
export const decideDocument = (
  head: Changeset["head"],
  next: DatabaseDocument,
  rebasedFrom: number | undefined,
  ground: Ground,
  renames: ReadonlyArray<Rename> = []
): Decision => {
  const before = overlay(ground.file, head.document).tree
  const after = overlay(ground.file, next).tree
  const misused = [...redirectedSecrets(before, after, renames), ...ungrantedVariables(after, ground.file)]
  const problems = [
    ...misused.map((one) => placed(after, one)),
    ...fileOnlyProblems(next, ground.file).map(({ field, ...one }) => ({ ...one, path: formatPath(field) }))
  ]
  if (problems.length > 0) return refused(problems)
  const sealed = sealDocument(next, ground.namespace, sealingKeys(ground.env))
  if (Result.isFailure(sealed)) return refused(sealed.failure)
  const diff = differences(head.document, sealed.success)
  if (diff.length === 0) return { _tag: "Unchanged" }
  const { snapshot, issues } = readCombined(sealed.success, ground, { ...ground.source, revision: head.number + 1 })
  const stored = serialise(sealed.success)
  const size = Buffer.byteLength(stored.text)
  if (snapshot === undefined) {
    const entityAt = makeEntityAt(ground.file, sealed.success)
    return refused(issues.filter(isError).map((issue) => toProblem(entityAt, issue)))
  }
  if (size > maxStoredBytes) return refused([tooLarge(size)])
  return { _tag: "Publish", publishable: { document: sealed.success, stored, diff, rebasedFrom, snapshot } }
}

/**
 * Returns the credentials of an edit that would have another destination on the newest revision than on the one that they were entered for:
 * others changed an address since.
 */
const redirectedByOthers = (
  { base, head, operations }: Omit<Changeset, "strict">,
  ground: Ground
): ReadonlyArray<PublishProblem> => {
  const [entered, applied] = [base, head].map(({ document }) => applyUnmoved(document, operations, ground))
  if (entered === undefined || applied === undefined || Result.isFailure(entered) || Result.isFailure(applied))
    return []
  const former = secretTexts(base.document)
  return listRedirected(entered.success, applied.success, (text) => !former.has(text), ground)
}

/** Applies operations without sealing the credentials of renamed entities again, so that they can be compared. */
export const applyUnmoved = (document: DatabaseDocument, operations: ReadonlyArray<ConfigOperation>, ground: Ground) =>
  applyOperations(document, operations, { ...applyContext(ground), moveSecrets: Result.succeed })

/** Returns the credentials of `texts` that have another destination in `after` than in `before`. */
export const listRedirected = (
  before: DatabaseDocument,
  after: DatabaseDocument,
  texts: (text: unknown) => boolean,
  { file }: Ground
): ReadonlyArray<PublishProblem> => {
  const tree = overlay(file, after).tree
  return redirectedTexts(overlay(file, before).tree, tree, texts).map((one) => placed(tree, one))
}

export const applyContext = ({ file, env, namespace }: Ground): ApplyContext => ({
  file,
  findInFile: makeFindInFile(file),
  moveSecrets: (document, from, to) =>
    Result.mapError(moveSecrets(document, namespace, from, to, sealingKeys(env)), (problems) =>
      problems.map(({ code, message }) => ({ code, message }))
    )
})

const placed = (document: unknown, { code, path, message }: GrantProblem): PublishProblem => {
  const { entity, field } = entityField(named(document, path))
  return { code, entity, path: formatPath(field), message }
}

const isError = ({ severity }: ConfigIssue): boolean => severity === "error"

/** Codes of sealed values that cannot be opened, which begin the message of their issue. */
const sealingCodes = ["secrets_key_missing", "secret_sealing_invalid"] as const satisfies ReadonlyArray<
  SealingProblem["code"]
>

const toProblem = (entityAt: EntityAt, { path, message }: ConfigIssue): PublishProblem => {
  const { entity, field } = path === "" ? { entity: "", field: [] } : entityAt(path)
  const sealing = sealingCodes.find((code) => message.startsWith(`${code}: `))
  return sealing === undefined
    ? { code: "invalid_configuration", entity, path: formatPath(field), message }
    : { code: sealing, entity, path: formatPath(field), message: message.slice(sealing.length + 2) }
}

const tooLarge = (size: number): PublishProblem => ({
  code: "document_too_large",
  entity: "",
  path: "",
  message: `the database configuration would have ${size} bytes; at most ${maxStoredBytes} are stored`
})
