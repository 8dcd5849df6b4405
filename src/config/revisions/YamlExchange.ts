/** Exports the database's document as YAML, and computes the operations that turn it into an imported one. Pure. */
import { Redacted, Result } from "effect"
import { stringify } from "yaml"
import { diff } from "../Diff.ts"
import { formatPath, isRecord } from "../Path.ts"
import { masked } from "../Show.ts"
import { parseYaml } from "../Yaml.ts"
import type { DatabaseDocument } from "./DatabaseDocument.ts"
import { entityIn, listEntities, parseDocument, toPlain } from "./DatabaseDocument.ts"
import { isMask } from "./EditValue.ts"
import type { ConfigOperation } from "./Operations.ts"
import type { PublishProblem } from "./Publish.ts"

/** Returns the document as plain data with masks, without empty kinds. */
export const toMasked = ({
  globals,
  entities
}: DatabaseDocument): { readonly globals: unknown; readonly entities: unknown } => ({
  globals: masked(globals),
  entities: Object.fromEntries(
    Object.entries(entities)
      .filter(([, values]) => Object.keys(values).length > 0)
      .map(([kind, values]) => [kind, masked(values)])
  )
})

export const exportDocument = (document: DatabaseDocument): string => stringify(toMasked(document))

type Imported = Result.Result<ReadonlyArray<ConfigOperation>, ReadonlyArray<PublishProblem>>

/** A file that a failed command left empty must not remove the whole configuration. */
const emptyText: PublishProblem = {
  code: "invalid_yaml",
  entity: "",
  path: "",
  message: "the document is empty; write `entities: {}` to remove everything"
}

/** A masked credential keeps its value; everything that the text omits is removed. */
export const importDocument = (text: string, head: DatabaseDocument): Imported => {
  const yaml = parseYaml(text)
  const problems: Array<PublishProblem> = yaml.issues.map(({ path, message, place }) => ({
    code: "invalid_yaml",
    entity: "",
    path: formatPath(path),
    message: place === undefined ? message : `line ${place.line}: ${message}`
  }))
  if (problems.length > 0) return Result.fail(problems)
  if (yaml.value === undefined || yaml.value === null) return Result.fail([emptyText])
  const next = parseDocument(yaml.value, ({ path, message }) =>
    problems.push({ code: "invalid_field", entity: "", path: formatPath(path), message })
  )
  return problems.length > 0 ? Result.fail(problems) : Result.succeed(operationsBetween(head, next))
}

const operationsBetween = (head: DatabaseDocument, next: DatabaseDocument): ReadonlyArray<ConfigOperation> => {
  const operations: Array<ConfigOperation> = []
  for (const { kind, name, value } of listEntities(next)) {
    const before = entityIn(head, { kind, name })
    const entity = { kind, name }
    if (before === undefined) operations.push({ op: "create", entity, value: toWritten(value, false) })
    else if (diff(before, maskedAs(before, value)).length > 0)
      operations.push({ op: "update", entity, value: toWritten(value, true) })
  }
  for (const { kind, name } of listEntities(head))
    if (entityIn(next, { kind, name }) === undefined) operations.push({ op: "delete", entity: { kind, name } })
  return [...operations, ...globalOperations(head.globals, next.globals, [])]
}

/** Returns the value with the credentials of `before` where it has masks. */
const maskedAs = (before: unknown, value: unknown): unknown => {
  if (isMask(value)) return Redacted.isRedacted(before) ? before : value
  if (Array.isArray(value)) {
    const items: ReadonlyArray<unknown> = Array.isArray(before) ? before : []
    return value.map((item: unknown, index) => maskedAs(items[index], item))
  }
  if (!isRecord(value)) return value
  const fields = isRecord(before) ? before : {}
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, maskedAs(fields[key], item)]))
}

/** Plain data; masked credentials are omitted from updates, which keep them. */
const toWritten = (value: unknown, omitMasked: boolean): unknown => {
  if (omitMasked && isRecord(value))
    return Object.fromEntries(
      Object.entries(value).flatMap(([key, item]) => (isMask(item) ? [] : [[key, toWritten(item, true)]]))
    )
  if (omitMasked && Array.isArray(value)) return value.map((item: unknown) => toWritten(item, true))
  return toPlain(value, (secret) => Redacted.value(secret))
}

const globalOperations = (
  before: Readonly<Record<string, unknown>>,
  after: Readonly<Record<string, unknown>>,
  path: ReadonlyArray<string>
): ReadonlyArray<ConfigOperation> =>
  [...new Set([...Object.keys(before), ...Object.keys(after)])]
    .toSorted()
    .flatMap((key): ReadonlyArray<ConfigOperation> => {
      const [old, next] = [before[key], after[key]]
      const at = [...path, key]
      if (isRecord(old) && isRecord(next)) return globalOperations(old, next, at)
      if (isMask(next) || diff(old, maskedAs(old, next)).length === 0) return []
      return next === undefined ? [{ op: "unset", path: at }] : [{ op: "set", path: at, value: toWritten(next, false) }]
    })
