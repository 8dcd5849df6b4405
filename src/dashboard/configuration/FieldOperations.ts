/**
 * Turns the difference between two values of an entity into operations on single fields, so that an edit touches nothing that it does not change,
 * and others may change the rest at the same time. Pure.
 */
import type { Input } from "../client/Endpoints.ts"
import { containsMask, elementName, isFields, isSame, mask, omitMasks, toFields } from "./FieldValues.ts"
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
  if (isSame(before, after) || after === mask) return []
  if (after === undefined || after === null) return [{ op: "unset", ...at }]
  if (isFields(before) && isFields(after))
    return [...new Set([...Object.keys(before), ...Object.keys(after)])].flatMap((name) =>
      between(before[name], after[name], [...path, name], entity)
    )
  return [{ op: "set", ...at, value: after }]
}

/** Marks credentials that the new value omits as cleared. */
const clearOmitted = (before: unknown, after: unknown): unknown => {
  if (Array.isArray(after)) {
    const stored = Array.isArray(before) ? before : []
    const byName = new Map(stored.map((item, index) => [elementName(item, index), item]))
    return after.map((item, index) => clearOmitted(byName.get(elementName(item, index)), item))
  }
  if (!isFields(after) || !isFields(before)) return omitMasks(after)
  const cleared = Object.entries(before).filter(([name, value]) => value === mask && after[name] === undefined)
  return {
    ...Object.fromEntries(
      Object.entries(after).flatMap(([name, value]) =>
        value === mask ? [] : [[name, clearOmitted(before[name], value)]]
      )
    ),
    ...Object.fromEntries(cleared.map(([name]) => [name, null]))
  }
}

/** Returns the operations that turn one value of a stored entity into another. */
export const operationsBetween = (entity: FormRef, before: unknown, after: unknown): ReadonlyArray<EditOperation> => {
  if (isSame(before, after)) return []
  const isWhole = !isFields(before) || !isFields(after) || hasChangedList(before, after)
  return isWhole ? [{ op: "update", entity, value: clearOmitted(before, after) }] : between(before, after, [], entity)
}
