/** Replaces the credentials of a normalised value in one pass, so that the work grows with the value only. Pure. */
import { Redacted } from "effect"
import type { Path } from "../document/Path.ts"
import { isRecord } from "../document/Path.ts"

type Replace = (secret: Redacted.Redacted<unknown>, path: Path) => unknown

/** Returns the value with the result of `replace` in place of each credential; undefined removes it. Parts without one are not copied. */
export const replaceCredentials = (value: unknown, replace: Replace, path: Path = []): unknown => {
  if (Redacted.isRedacted(value)) return replace(value, path)
  if (Array.isArray(value)) {
    const items = value.map((item: unknown, index) => replaceCredentials(item, replace, [...path, index]))
    return items.every((item, index) => item === value[index]) ? value : items.filter((item) => item !== undefined)
  }
  if (!isRecord(value)) return value
  const entries = Object.keys(value).map(
    (key) => [key, replaceCredentials(value[key], replace, [...path, key])] as const
  )
  return entries.every(([key, item]) => item === value[key])
    ? value
    : Object.fromEntries(entries.filter(([, item]) => item !== undefined))
}
