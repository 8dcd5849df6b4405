/** Compares two documents after filling in defaults: field by field, secrets masked. */
import { Redacted, Schema } from "effect"
import type { Path } from "./document/Path.ts"
import { formatPath, isRecord } from "./document/Path.ts"
import { mask, masked } from "./Show.ts"

export const Difference = Schema.Struct({
  path: Schema.String,
  /** The path part by part, with names in place of positions. */
  names: Schema.Array(Schema.String),
  change: Schema.Literals(["added", "removed", "changed"]),
  before: Schema.optional(Schema.Unknown),
  after: Schema.optional(Schema.Unknown)
})
export type Difference = typeof Difference.Type

/** Returns the name of a list entry. Such lists are compared by name, so that moving an entry is no difference. */
const nameOf = (value: unknown): string | undefined => {
  if (!isRecord(value)) return undefined
  const name = value["name"] ?? value["id"] ?? value["alias"]
  return typeof name === "string" ? name : undefined
}

export const diff = (before: unknown, after: unknown, path: Path = []): ReadonlyArray<Difference> => {
  if (before === after) return []
  if (isRecord(before) && isRecord(after)) {
    const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])].toSorted()
    return keys.flatMap((key) => diff(before[key], after[key], [...path, key]))
  }
  if (Array.isArray(before) && Array.isArray(after)) {
    const [left, right] = [named(before), named(after)]
    if (left !== undefined && right !== undefined) return diff(left, right, path)
  }
  if (equal(before, after)) return []
  const change = before === undefined ? "added" : after === undefined ? "removed" : "changed"
  const secret = Redacted.isRedacted(before) && Redacted.isRedacted(after)
  return [
    {
      path: formatPath(path),
      names: path.map(String),
      change,
      before: secret ? `${mask} (before)` : masked(before),
      after: secret ? `${mask} (after)` : masked(after)
    }
  ]
}

const named = (items: ReadonlyArray<unknown>): Readonly<Record<string, unknown>> | undefined => {
  const entries = items.map((item) => [nameOf(item), item] as const)
  const names = new Set(entries.map(([name]) => name))
  if (names.has(undefined) || names.size !== items.length) return undefined
  return Object.fromEntries(entries.map(([name, item]) => [String(name), item]))
}

const equal = (left: unknown, right: unknown): boolean => {
  if (Redacted.isRedacted(left) && Redacted.isRedacted(right)) return Redacted.value(left) === Redacted.value(right)
  if (Array.isArray(left) && Array.isArray(right))
    return left.length === right.length && left.every((item, index) => equal(item, right[index]))
  if (isRecord(left) && isRecord(right)) return diff(left, right).length === 0
  return Object.is(left, right)
}
