/**
 * Turns the difference between two values of an entity into operations on single fields, so that an edit touches nothing that it does not change,
 * and others may change the rest at the same time. Pure.
 */
import type { Input } from "../client/Endpoints.ts"
import { containsMask, elementName, isFields, isSame, mask, toFields, withValue } from "./FieldValues.ts"
import type { FieldPath } from "./FieldValues.ts"

export type ConfigEdit = NonNullable<Input<"POST /config/validate">["payload"]>
export type EditOperation = ConfigEdit["operations"][number]
export type FormRef = NonNullable<Extract<EditOperation, { readonly op: "create" }>["entity"]>

/** Lists with credentials are replaced with their entity: only then the service keeps the credentials that are omitted. */
const hasChangedList = (before: unknown, after: unknown): boolean => {
  if (Array.isArray(before)) return containsMask(before) && !isSame(before, after)
  return (
    isFields(before) && Object.entries(before).some(([name, value]) => hasChangedList(value, toFields(after)[name]))
  )
}

const between = (
  before: unknown,
  after: unknown,
  path: FieldPath,
  entity: FormRef | undefined
): ReadonlyArray<EditOperation> => {
  const at = entity === undefined ? { path } : { entity, path }
  if (isSame(before, after)) return []
  if (after === undefined || after === null) return [{ op: "unset", ...at }]
  if (isFields(before) && isFields(after))
    return [...new Set([...Object.keys(before), ...Object.keys(after)])].flatMap((name) =>
      between(before[name], after[name], [...path, name], entity)
    )
  return [{ op: "set", ...at, value: after }]
}

/** Marks credentials that the new value omits as cleared. A mask of a stored credential is omitted, which keeps it. */
const clearOmitted = (before: unknown, after: unknown): unknown => {
  if (Array.isArray(after)) {
    const stored = Array.isArray(before) ? before : []
    const byName = new Map(stored.map((item, index) => [elementName(item, index), item]))
    return after.map((item, index) => clearOmitted(byName.get(elementName(item, index)), item))
  }
  if (!isFields(after) || !isFields(before)) return after
  const cleared = Object.entries(before).filter(([name, value]) => value === mask && after[name] === undefined)
  return {
    ...Object.fromEntries(
      Object.entries(after).flatMap(([name, value]) =>
        value === mask && before[name] === mask ? [] : [[name, clearOmitted(before[name], value)]]
      )
    ),
    ...Object.fromEntries(cleared.map(([name]) => [name, null]))
  }
}

/** Returns the paths of the credentials of an entity that the operations of a draft hold. They are masked. */
const heldSecrets = (entity: FormRef, operations: ReadonlyArray<EditOperation>): ReadonlyArray<FieldPath> =>
  operations.flatMap((operation) =>
    isAbout(entity)(operation) && "value" in operation
      ? maskPaths(operation.value, "path" in operation ? operation.path : [])
      : []
  )

const maskPaths = (value: unknown, path: FieldPath): ReadonlyArray<FieldPath> => {
  if (value === mask) return [path]
  if (Array.isArray(value))
    return value.flatMap((item: unknown, index) => maskPaths(item, [...path, elementName(item, index)]))
  return Object.entries(toFields(value)).flatMap(([name, inner]) => maskPaths(inner, [...path, name]))
}

const isAbout =
  ({ kind, name }: FormRef) =>
  ({ entity }: EditOperation): boolean =>
    entity?.kind === kind && entity.name === name

/**
 * Returns the stored value without the credentials that a draft replaces, so that their masks differ from it: the service keeps what the draft
 * holds for them.
 */
export const withoutHeld = (entity: FormRef, stored: unknown, operations: ReadonlyArray<EditOperation>): unknown =>
  heldSecrets(entity, operations).reduce((value, path) => withValue(value, path, undefined), stored)

/** Returns the operations that turn one value of a stored entity into another. */
export const operationsBetween = (entity: FormRef, before: unknown, after: unknown): ReadonlyArray<EditOperation> => {
  if (isSame(before, after)) return []
  const isWhole = !isFields(before) || !isFields(after) || hasChangedList(before, after)
  return isWhole ? [{ op: "update", entity, value: clearOmitted(before, after) }] : between(before, after, [], entity)
}
