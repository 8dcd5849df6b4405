/**
 * Carries an edit over to the newest revision by the choices of the user: for each field that others changed too, theirs or mine. Pure.
 */
import type { Output } from "../client/Endpoints.ts"
import { operationsBetween } from "./FieldOperations.ts"
import type { FormRef, EditOperation } from "./FieldOperations.ts"
import { isFields, mask, omitMasks, parsePath, toFields, withValue } from "./FieldValues.ts"
import type { FieldPath } from "./FieldValues.ts"

export type FieldConflict = Output<"POST /config/validate">["conflicts"][number]
export type Choice = "mine" | "theirs"

/** The database's part of the configuration, masked. */
export interface MaskedDocument {
  readonly globals: unknown
  readonly entities: unknown
}

export const conflictKey = ({ entity, path }: Pick<FieldConflict, "entity" | "path">): string => `${entity} ${path}`

const stored = (document: MaskedDocument, { kind, name }: FormRef): unknown =>
  toFields(toFields(document.entities)[kind])[name]

const refText = (entity: FormRef | undefined): string =>
  entity === undefined ? "globals" : `${entity.kind}/${entity.name}`

/** Replaces an update by operations on the fields that it changes: on the newest revision it would undo what others changed in other fields. */
const split = (operation: EditOperation, base: MaskedDocument): ReadonlyArray<EditOperation> => {
  if (operation.op !== "update") return [operation]
  const before = stored(base, operation.entity)
  if (!isFields(before) || !isFields(operation.value)) return [operation]
  // An update keeps the credentials that it omits, and null clears one.
  const kept = Object.fromEntries(Object.entries(before).filter(([, value]) => value === mask))
  return operationsBetween(operation.entity, before, { ...kept, ...operation.value })
}

/** An entity that others deleted is created again, and one that they created is updated. */
const adapt = (
  operations: ReadonlyArray<EditOperation>,
  base: MaskedDocument,
  head: MaskedDocument
): ReadonlyArray<EditOperation> => {
  const created = new Set<string>()
  return operations.flatMap((operation): ReadonlyArray<EditOperation> => {
    const { entity } = operation
    if (entity === undefined || created.has(refText(entity))) return [operation]
    const exists = stored(head, entity) !== undefined
    if (operation.op === "create" && exists) return [{ op: "update", entity, value: operation.value }]
    if (operation.op === "create" || exists) return [operation]
    if (operation.op === "delete") return []
    created.add(refText(entity))
    const first = operation.op === "update" ? operation.value : omitMasks(stored(base, entity))
    const create: EditOperation = { op: "create", entity, value: first }
    return operation.op === "update" ? [create] : [create, operation]
  })
}

const pathOf = (operation: EditOperation): FieldPath =>
  "path" in operation ? operation.path : operation.op === "set_enabled" ? ["enabled"] : []

const startsWith = (path: FieldPath, start: FieldPath): boolean =>
  start.length <= path.length && start.every((part, index) => part === path[index])

/** Takes over their value of one field. */
const yieldTo = (operation: EditOperation, conflict: FieldConflict): ReadonlyArray<EditOperation> => {
  const theirs = parsePath(conflict.path)
  const edited = pathOf(operation)
  if (refText(operation.entity) !== conflict.entity) return [operation]
  if (startsWith(edited, theirs)) return []
  if (!startsWith(theirs, edited)) return [operation]
  if (!("value" in operation)) return []
  const head = conflict.head === null || conflict.head === mask ? undefined : conflict.head
  const value = withValue(operation.value, theirs.slice(edited.length), head)
  return value === undefined ? [] : [{ ...operation, value }]
}

interface Resolution {
  readonly operations: ReadonlyArray<EditOperation>
  readonly conflicts: ReadonlyArray<FieldConflict>
  readonly base: MaskedDocument
  readonly head: MaskedDocument
  readonly choices: Readonly<Record<string, Choice>>
}

/** Returns the operations for the newest revision. */
export const resolveConflicts = ({
  base,
  choices,
  conflicts,
  head,
  operations
}: Resolution): ReadonlyArray<EditOperation> =>
  adapt(
    conflicts
      .filter((conflict) => choices[conflictKey(conflict)] === "theirs")
      .reduce<ReadonlyArray<EditOperation>>(
        (current, conflict) => current.flatMap((operation) => yieldTo(operation, conflict)),
        operations.flatMap((operation) => split(operation, base))
      ),
    base,
    head
  )
