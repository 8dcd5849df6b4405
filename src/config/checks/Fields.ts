/** Checks the rules that the schema files declare with a field: kinds, requirements, exclusive pairs, references, reserved fields. */
import { Document } from "../Document.ts"
import type { When } from "../fields/Field.ts"
import type { Path } from "../document/Path.ts"
import { formatPath, isRecord } from "../document/Path.ts"
import type { FieldShape, ObjectShape, Shape } from "../fields/Shape.ts"
import { readShape } from "../fields/Shape.ts"
import type { Check, CrossCheckReports } from "./Check.ts"
import type { Declared } from "./Names.ts"
import { checkReference, declared } from "./Names.ts"
import { namesAt } from "./References.ts"

type Names = ReturnType<typeof declared>

export const checkFields: Check = (tree, reports) => walk(readShape(Document), tree, [], reports, declared(tree))

const walk = (shape: Shape, value: unknown, path: Path, reports: CrossCheckReports, names: Names): void => {
  if (shape.type === "list") {
    if (Array.isArray(value)) value.forEach((item, index) => walk(shape.item, item, [...path, index], reports, names))
  } else if (shape.type === "union") {
    for (const member of shape.members) if (member.type !== "scalar") walk(member, value, path, reports, names)
  } else if (shape.type === "object" && isRecord(value)) {
    for (const field of shape.fields.values()) checkField(shape, field, value, path, reports, names)
    checkOneOf(shape, value, path, reports)
    for (const key of Object.keys(value)) {
      const inner = shape.fields.get(key)?.shape ?? shape.rest
      if (inner !== undefined) walk(inner, value[key], [...path, key], reports, names)
    }
  }
}

const checkField = (
  shape: ObjectShape,
  { name, meta }: FieldShape,
  holder: Readonly<Record<string, unknown>>,
  at: Path,
  { error, warning }: CrossCheckReports,
  names: Names
): void => {
  const path = [...at, name]
  if (holder[name] === undefined) {
    if (meta.requiredWhen !== undefined && applies(meta.requiredWhen, holder) && !coveredBySibling(name, holder))
      error({ path, reason: { _tag: "NeededBy", who: words(meta.requiredWhen) }, at: "value" })
    return
  }
  if (meta.when !== undefined && isKnown(shape, meta.when, holder) && !applies(meta.when, holder)) {
    const { absent, field, values } = meta.when
    error({
      path,
      reason: {
        _tag: "UnusableWith",
        field,
        value: String(holder[field] ?? absent),
        count: values.length,
        usable: values
      },
      at: "key"
    })
  }
  for (const other of meta.exclusive ?? [])
    if (holder[other] !== undefined)
      error({ path, reason: { _tag: "SetTogether", field: formatPath([...at, other]) }, at: "key" })
  if (meta.winsOver !== undefined && holder[meta.winsOver] !== undefined)
    warning({ path, reason: { _tag: "WinsOver", field: formatPath([...at, meta.winsOver]) }, at: "key" })
  if (meta.reserved !== undefined) warning({ path, reason: { _tag: "Reserved", why: meta.reserved }, at: "key" })
  if (meta.unimplemented !== undefined && holder[name] === meta.unimplemented.value) {
    const { instead, value } = meta.unimplemented
    warning({ path, reason: { _tag: "Unimplemented", value, instead }, at: "value" })
  }
  const target = meta.isCheckedByGroup === true ? undefined : referenceOf(meta.refers, names)
  if (target !== undefined)
    for (const { path: place, value } of namesAt(holder, name)) checkReference(value, [...at, ...place], target, error)
}

const referenceOf = (refers: FieldShape["meta"]["refers"], names: Names): Declared | undefined =>
  refers === undefined || refers === "channel" || refers === "template" ? undefined : names[refers]

/** Returns whether the other form of a credential is set: the literal and the variable's name each satisfy the requirement of the other. */
const coveredBySibling = (name: string, holder: Readonly<Record<string, unknown>>): boolean =>
  holder[name.endsWith("_env") ? name.slice(0, -4) : `${name}_env`] !== undefined

/** Returns whether a sibling has a valid value; rules that depend on an invalid one are not checked. */
const isKnown = (shape: ObjectShape, { field, absent }: When, holder: Readonly<Record<string, unknown>>): boolean => {
  const value = holder[field] ?? absent
  const neighbour = shape.fields.get(field)?.shape
  return typeof value === "string" && (neighbour?.type !== "enum" || neighbour.values.includes(value))
}

const applies = ({ field, values, absent }: When, holder: Readonly<Record<string, unknown>>): boolean => {
  const value = holder[field] ?? absent
  return typeof value === "string" && values.includes(value)
}

const words = ({ field, values }: When): string => `${field} ${values.join(", ")}`

const checkOneOf = (
  { limits: { oneOf } }: ObjectShape,
  value: Readonly<Record<string, unknown>>,
  path: Path,
  { error }: CrossCheckReports
): void => {
  if (oneOf !== undefined && oneOf.every((name) => value[name] === undefined))
    error({ path, reason: { _tag: "NeedsOneOf", fields: oneOf }, at: "value" })
}
