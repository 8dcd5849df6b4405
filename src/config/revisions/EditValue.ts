/** Edits fields inside a value, by names in place of positions in lists. Pure. */
import { Redacted, Result } from "effect"
import { formatPath, isRecord } from "../document/Path.ts"
import type { Path } from "../document/Path.ts"
import { mask } from "../Show.ts"
import type { Shape } from "../fields/Shape.ts"
import { suggest } from "../fields/Suggest.ts"
import type { Reason } from "../../domain/Reason.ts"
import { verbatimReason } from "../../domain/Reason.ts"

/**
 * Converts names to the canonical path of a value that has this shape: aliases of keys become field names, names of list elements become
 * positions. The last part may name a field that is not set; every part before it must exist or be a map.
 */
export const resolvePath = (root: Shape, value: unknown, names: ReadonlyArray<string>): Result.Result<Path, Reason> => {
  let shape: Shape | undefined = root
  let here: unknown = value
  const path: Array<string | number> = []
  for (const name of names) {
    const container: Shape | undefined =
      shape?.type === "union" ? shape.members.find(({ type }) => type === "object" || type === "list") : shape
    if (container?.type === "object") {
      const key: string = container.keys.get(name) ?? name
      const next: Shape | undefined = container.fields.get(key)?.shape ?? container.rest
      if (next === undefined) return Result.fail(unknownField(path, name, container.keys.keys()))
      shape = next
      here = isRecord(here) && Object.hasOwn(here, key) ? here[key] : undefined
      path.push(key)
    } else if (container?.type === "list") {
      const index = findElement(here, name)
      if (index === undefined)
        return Result.fail({ _tag: "NoSuchElement", place: at(path), name: JSON.stringify(name) })
      shape = container.item
      here = Array.isArray(here) ? here[index] : undefined
      path.push(index)
    } else if (container?.type === "scalar" && container.scalar === "any") {
      here = isRecord(here) ? here[name] : undefined
      path.push(name)
    } else return Result.fail({ _tag: "HasNoFields", place: at(path), name: JSON.stringify(name) })
  }
  return Result.succeed(path)
}

const at = (path: Path): Reason => (path.length === 0 ? { _tag: "WholeValue" } : verbatimReason(formatPath(path)))

const unknownField = (path: Path, name: string, known: Iterable<string>): Reason => ({
  _tag: "NoSuchField",
  place: at(path),
  name: JSON.stringify(name),
  suggestion: suggest(name, known)
})

/** Returns the position of the element with this name, otherwise the position that the text names, up to one past the end. */
const findElement = (list: unknown, name: string): number | undefined => {
  const items: ReadonlyArray<unknown> = Array.isArray(list) ? list : []
  const index = items.findIndex((item) => isRecord(item) && (item["id"] ?? item["name"] ?? item["alias"]) === name)
  if (index >= 0) return index
  const position = /^\d{1,6}$/.test(name) ? Number(name) : undefined
  return position !== undefined && position <= items.length ? position : undefined
}

/** Returns the path of every credential in a normalised value. */
export const secretPaths = (value: unknown, path: Path = []): ReadonlyArray<Path> => {
  if (Redacted.isRedacted(value)) return [path]
  if (Array.isArray(value)) return value.flatMap((item: unknown, index) => secretPaths(item, [...path, index]))
  if (!isRecord(value)) return []
  return Object.entries(value).flatMap(([key, item]) => secretPaths(item, [...path, key]))
}

export const isMask = (value: unknown): boolean =>
  Redacted.isRedacted(value) ? Redacted.value(value) === mask : value === mask
