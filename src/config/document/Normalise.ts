/**
 * Normalises a document: product names replace tokens and aliases, null is absent, short forms are expanded, literal secrets are
 * `Redacted`. Unknown keys, the same name in two spellings, and keys that reach into object prototypes are reported here, at the path as
 * written.
 */
import { Redacted } from "effect"
import { formatPath, isRecord, type Path } from "./Path.ts"
import type { ObjectShape, Shape } from "../fields/Shape.ts"
import { suggest } from "../fields/Suggest.ts"
import type { Reason } from "../../domain/Reason.ts"

export interface Complaint {
  readonly path: Path
  readonly reason: Reason
  /** Part of the entry that the position refers to. */
  readonly at: "key" | "value"
}
export type Report = (complaint: Complaint) => void

const poisonous = new Set(["__proto__", "constructor", "prototype"])

export const normalise = (shape: Shape, value: unknown, report: Report, path: Path = []): unknown => {
  switch (shape.type) {
    case "object": {
      const long = shape.limits.shorthand?.(value) ?? value
      return isRecord(long) ? normaliseObject(shape, long, report, path) : long
    }
    case "list":
      return Array.isArray(value)
        ? value.map((item, index) => normalise(shape.item, item, report, [...path, index]))
        : value
    case "enum":
      return typeof value === "string" ? (shape.spellings.get(value) ?? value) : value
    case "union": {
      const member = shape.members.find((candidate) => fits(candidate, value))
      return member === undefined ? value : normalise(member, value, report, path)
    }
    case "scalar":
      return shape.scalar === "secret" && typeof value === "string" ? Redacted.make(value) : value
  }
}

/** Returns whether the value has the type of the shape, whatever its contents. */
const fits = (shape: Shape, value: unknown): boolean => {
  switch (shape.type) {
    case "object":
      return isRecord(value) || shape.limits.shorthand?.(value) !== undefined
    case "list":
      return Array.isArray(value)
    case "enum":
      return typeof value === "string" && shape.spellings.has(value)
    case "union":
      return shape.members.some((member) => fits(member, value))
    case "scalar":
      return false
  }
}

const normaliseObject = (
  shape: ObjectShape,
  value: Readonly<Record<string, unknown>>,
  report: Report,
  path: Path
): Readonly<Record<string, unknown>> => {
  const result: Record<string, unknown> = {}
  const written = new Map<string, string>()
  for (const key of Object.keys(value)) {
    const item = value[key]
    const here = [...path, key]
    if (poisonous.has(key)) {
      report({ path: here, reason: { _tag: "KeyRefused", key: JSON.stringify(key) }, at: "key" })
      continue
    }
    // Parts that other places of the document refer to by anchors.
    if (path.length === 0 && key.startsWith("x-")) continue
    if (item === null || item === undefined) {
      if (!shape.keys.has(key) && shape.rest === undefined) reportUnknown(shape, key, report, path)
      continue
    }
    const name = shape.keys.get(key)
    const field = name === undefined ? undefined : shape.fields.get(name)
    if (name !== undefined && field !== undefined) {
      const other = written.get(name)
      if (other !== undefined) {
        const first = formatPath([...path, other])
        report({ path: here, reason: { _tag: "TwoSpellings", first, second: formatPath(here) }, at: "key" })
        continue
      }
      written.set(name, key)
      result[name] = normalise(field.shape, item, report, here)
    } else if (shape.rest === undefined) {
      reportUnknown(shape, key, report, path)
    } else if (checkKey(shape, key, report, path)) {
      result[key] = normalise(shape.rest, item, report, here)
    }
  }
  return result
}

const reportUnknown = (shape: ObjectShape, key: string, report: Report, path: Path): void => {
  const allowed = [...shape.fields.keys()].toSorted()
  report({
    path: [...path, key],
    reason: {
      _tag: "KeyUnknown",
      key: JSON.stringify(key),
      suggestion: suggest(key, shape.keys.keys()),
      allowed: allowed.length > 12 ? undefined : allowed
    },
    at: "key"
  })
}

// Declared with its type: the compiler would compare the default with each reason.
const mapOf: Reason = { _tag: "MapOf" }

const checkKey = (shape: ObjectShape, key: string, report: Report, path: Path): boolean => {
  const { keys, reservedKeys = [], expected = mapOf } = shape.limits
  const complain = (reason: Reason): false => {
    report({ path: [...path, key], reason, at: "key" })
    return false
  }
  if (key === "" || key.length > 512) return complain({ _tag: "KeyLength" })
  if (reservedKeys.includes(key))
    return complain({ _tag: "KeyReserved", key: JSON.stringify(key), reserved: reservedKeys })
  if (keys !== undefined && !new RegExp(keys).test(key))
    return complain({ _tag: "KeyNotAllowed", key: JSON.stringify(key), expected, pattern: keys })
  return true
}
