/**
 * Applies the operations of a changeset to the database's document, in order and all or none. Values are normalised, so that the document
 * has canonical names only; whether the result is a valid configuration is checked afterwards, together with the file. Pure.
 */
import { Result } from "effect"
import { formatPath, isRecord, valueAt, withValueAt } from "../document/Path.ts"
import type { Path } from "../document/Path.ts"
import type { Complaint } from "../document/Normalise.ts"
import { normalise } from "../document/Normalise.ts"
import type { DatabaseDocument } from "./DatabaseDocument.ts"
import { entityIn, withEntity } from "./DatabaseDocument.ts"
import { isMask, resolvePath, secretPaths } from "./EditValue.ts"
import type { EntityRef } from "./Entities.ts"
import { entityLocations, entityShape, formatRef, globalsShape } from "./Entities.ts"
import { keepSecrets } from "./KeepSecrets.ts"
import type { ConfigOperation, EditErrorCode, OperationProblem } from "./Operations.ts"
import type { FindInFile } from "./Overlay.ts"
import { renameReferences } from "./References.ts"
import type { Reason } from "../../domain/Reason.ts"

interface EditRefusal {
  readonly code: EditErrorCode
  readonly path?: Path
  readonly reason: Reason
}
export type Applied = Result.Result<DatabaseDocument, ReadonlyArray<EditRefusal>>

const refuse = (code: EditErrorCode, reason: Reason, path: Path = []): Applied => Result.fail([{ code, reason, path }])

interface ApplyContext {
  /** The normalised file. */
  readonly file: unknown
  /** Finds an entity in the file. */
  readonly findInFile: FindInFile
}

/** Returns the edited document, or the problems of the first operation that cannot be applied. */
export const applyOperations = (
  document: DatabaseDocument,
  operations: ReadonlyArray<ConfigOperation>,
  context: ApplyContext
): Result.Result<DatabaseDocument, ReadonlyArray<OperationProblem>> => {
  let current = document
  for (const [index, operation] of operations.entries()) {
    const applied = applyOne(current, operation, context)
    if (Result.isFailure(applied)) {
      const entity = operation.entity === undefined ? "globals" : formatRef(operation.entity)
      return Result.fail(
        applied.failure.map(({ code, path = [], reason }) => ({
          code,
          index,
          entity,
          path: formatPath(path),
          reason
        }))
      )
    }
    current = applied.success
  }
  return Result.succeed(current)
}

const applyOne = (document: DatabaseDocument, operation: ConfigOperation, context: ApplyContext): Applied => {
  const { file } = context
  const owned =
    "entity" in operation && operation.entity !== undefined ? ownedRefusal(operation.entity, context) : undefined
  if (owned !== undefined) return owned
  switch (operation.op) {
    case "create":
      return create(document, operation.entity, operation.value)
    case "update":
      return whenExists(document, operation.entity, (stored) =>
        Result.map(parseValue(operation.entity, operation.value), (next) =>
          withEntity(
            document,
            operation.entity,
            keepSecrets(entityShape(operation.entity.kind), stored, operation.value, next)
          )
        )
      )
    case "delete":
      return whenExists(document, operation.entity, () =>
        Result.succeed(withEntity(document, operation.entity, undefined))
      )
    case "rename":
      return rename(document, operation.entity, operation.to, context)
    case "set_enabled":
      return setEntity(document, operation.entity, ["enabled"], operation.enabled)
    case "set":
      return operation.entity === undefined
        ? setGlobal(document, operation.path, operation.value, file)
        : setEntity(document, operation.entity, operation.path, operation.value)
    case "unset":
      return operation.entity === undefined
        ? setGlobal(document, operation.path, null, file)
        : setEntity(document, operation.entity, operation.path, null)
  }
}

const ownedRefusal = (ref: EntityRef, { findInFile }: ApplyContext): Applied | undefined => {
  const path = findInFile(ref)
  return path === undefined
    ? undefined
    : refuse("owned_by_file", { _tag: "OwnedByFile", entity: formatRef(ref), place: formatPath(path) })
}

const whenExists = (document: DatabaseDocument, ref: EntityRef, then: (stored: unknown) => Applied): Applied => {
  const stored = entityIn(document, ref)
  return stored === undefined
    ? refuse("entity_not_found", { _tag: "EntityUnknown", entity: formatRef(ref) })
    : then(stored)
}

const create = (document: DatabaseDocument, ref: EntityRef, value: unknown): Applied =>
  entityIn(document, ref) === undefined
    ? Result.map(parseValue(ref, value), (next) => withEntity(document, ref, next))
    : refuse("entity_exists", { _tag: "EntityExists", entity: formatRef(ref) })

/** Normalises a value and refuses masks and names that differ from the entity's. */
const parseValue = (ref: EntityRef, value: unknown): Result.Result<unknown, ReadonlyArray<EditRefusal>> => {
  const wrong = nameProblem(ref.name)
  if (wrong !== undefined) return refuseValue("invalid_field", [], wrong)
  if (value === null || value === undefined) return refuseValue("invalid_field", [], { _tag: "NoValue" })
  const complaints: Array<Complaint> = []
  const next = normalise(entityShape(ref.kind), value, (complaint) => complaints.push(complaint))
  if (complaints.length > 0)
    return Result.fail(complaints.map(({ path, reason }) => ({ code: "invalid_field" as const, path, reason })))
  const masked = maskedSecrets(next)
  if (masked.length > 0) return Result.fail(masked)
  const { nameField } = entityLocations[ref.kind]
  if (nameField === undefined || !isRecord(next)) return Result.succeed(next)
  const { [nameField]: name, ...others } = next
  return name === undefined || name === ref.name
    ? Result.succeed(others)
    : refuseValue("invalid_field", [nameField], { _tag: "NameDiffers", field: nameField })
}

const refuseValue = (code: EditErrorCode, path: Path, reason: Reason) =>
  Result.fail<ReadonlyArray<EditRefusal>>([{ code, path, reason }])

/** Returns a refusal for each credential whose value is the mask. */
const maskedSecrets = (value: unknown): ReadonlyArray<EditRefusal> =>
  secretPaths(value)
    .filter((path) => isMask(valueAt(value, path)))
    .map(maskRefusal)

const maskRefusal = (path: Path): EditRefusal => ({
  code: "masked_secret",
  path,
  reason: { _tag: "MaskIsNoValue" }
})

/** Invisible characters: they could control a terminal, or make two names look alike. */
const invisible = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u

/** Returns why a new name is refused. */
const nameProblem = (name: string): Reason | undefined => {
  if (["__proto__", "constructor", "prototype"].includes(name))
    return { _tag: "NameNotAllowed", name: JSON.stringify(name) }
  if (invisible.test(name) || name.trim() !== name) return { _tag: "NameInvisible" }
  return undefined
}

const rename = (document: DatabaseDocument, from: EntityRef, to: string, context: ApplyContext): Applied => {
  const target: EntityRef = { kind: from.kind, name: to }
  const wrong = nameProblem(to)
  if (wrong !== undefined) return refuse("invalid_field", wrong)
  return whenExists(document, from, (stored) => {
    if (entityIn(document, target) !== undefined)
      return refuse("entity_exists", { _tag: "NameExists", entity: formatRef(target) })
    const moved = withEntity(withEntity(document, from, undefined), target, stored)
    return ownedRefusal(target, context) ?? Result.succeed(renameReferences(moved, from, to))
  })
}

const setEntity = (document: DatabaseDocument, ref: EntityRef, names: ReadonlyArray<string>, value: unknown): Applied =>
  whenExists(document, ref, (stored) => {
    const shape = entityShape(ref.kind)
    const { nameField } = entityLocations[ref.kind]
    if (names.length === 1 && names[0] === nameField)
      return refuse("invalid_field", { _tag: "NameByRename", field: nameField ?? "" }, names)
    return Result.flatMap(mapFailure(resolvePath(shape, stored, names)), (path) =>
      Result.flatMap(setField(path, value, stored), (next) =>
        Result.map(parseValue(ref, next), (parsed) => withEntity(document, ref, parsed))
      )
    )
  })

const setGlobal = (
  document: DatabaseDocument,
  names: ReadonlyArray<string>,
  value: unknown,
  file: unknown
): Applied => {
  const shape = globalsShape()
  return Result.flatMap(mapFailure(resolvePath(shape, document.globals, names)), (path) => {
    if (valueAt(file, path) !== undefined && !isRecord(valueAt(file, path)))
      return refuse("owned_by_file", { _tag: "FieldOfFile", path: formatPath(path) }, path)
    return Result.flatMap(setField(path, value, document.globals), (next) => {
      const complaints: Array<Complaint> = []
      const globals = normalise(shape, next, (complaint) => complaints.push(complaint))
      if (complaints.length > 0)
        return Result.fail(
          complaints.map(({ path: where, reason }) => ({ code: "invalid_field" as const, path: where, reason }))
        )
      const masked = maskedSecrets(globals)
      if (masked.length > 0) return Result.fail(masked)
      return Result.succeed({ ...document, globals: isRecord(globals) ? globals : {} })
    })
  })
}

const mapFailure = <A>(result: Result.Result<A, Reason>): Result.Result<A, ReadonlyArray<EditRefusal>> =>
  Result.mapError(result, (reason) => [{ code: "invalid_field", reason }])

/** Null unsets the field. */
const setField = (path: Path, value: unknown, into: unknown): Result.Result<unknown, ReadonlyArray<EditRefusal>> =>
  isMask(value) ? Result.fail([maskRefusal(path)]) : Result.succeed(withValueAt(into, path, value ?? undefined))
