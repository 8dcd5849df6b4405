/** Exports the database's document as YAML, and computes the operations that turn it into an imported one. Pure. */
import { Redacted, Result } from "effect"
import { stringify } from "yaml"
import { diff } from "../Diff.ts"
import { formatPath, isRecord, valueAt, withValueAt } from "../document/Path.ts"
import { named, positions } from "../credentials/SealedPlaces.ts"
import { masked } from "../Show.ts"
import { parseYaml } from "../Yaml.ts"
import type { DatabaseDocument } from "./DatabaseDocument.ts"
import { entityIn, listEntities, parseDocument, toPlain } from "./DatabaseDocument.ts"
import { isMask, secretPaths } from "./EditValue.ts"
import { omittedSecrets } from "./KeepSecrets.ts"
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

/** A file that a failed command left empty, or cut, must not remove the whole configuration. */
const emptyText: PublishProblem = {
  code: "invalid_yaml",
  entity: "",
  path: "",
  reason: { _tag: "DocumentTextEmpty", sample: "`entities: {}`" }
}

/**
 * A masked credential keeps its value; everything that the text omits is removed. `held`: a document with the credentials that a draft holds; a
 * masked credential is that of the draft, if it has one there.
 */
export const importDocument = (text: string, head: DatabaseDocument, held?: DatabaseDocument): Imported => {
  const yaml = parseYaml(text)
  const problems: Array<PublishProblem> = yaml.issues.map(({ path, reason, place }) => ({
    code: "invalid_yaml",
    entity: "",
    path: formatPath(path),
    reason: place === undefined ? reason : { _tag: "AtLine", line: place.line, reason }
  }))
  if (problems.length > 0) return Result.fail(problems)
  if (yaml.value === undefined || yaml.value === null) return Result.fail([emptyText])
  const next = parseDocument(yaml.value, ({ path, reason }) =>
    problems.push({ code: "invalid_field", entity: "", path: formatPath(path), reason })
  )
  if (problems.length === 0 && removesAll(yaml.value, next, head)) return Result.fail([emptyText])
  return problems.length > 0
    ? Result.fail(problems)
    : Result.succeed(operationsBetween(head, held === undefined ? next : withHeld(next, held)))
}

/** Returns whether a document without a map of entities would remove all of them, as one whose end is missing does. */
const removesAll = (given: unknown, next: DatabaseDocument, head: DatabaseDocument): boolean =>
  listEntities(next).length === 0 && listEntities(head).length > 0 && !(isRecord(given) && isRecord(given["entities"]))

/** Returns the document with the draft's credentials in place of their masks. */
const withHeld = (next: DatabaseDocument, held: DatabaseDocument): DatabaseDocument => ({
  globals: asFields(fillMasks(next.globals, held.globals)),
  entities: listEntities(next).reduce((into, { kind, name, value }) => {
    const filled = fillMasks(value, entityIn(held, { kind, name }))
    return filled === value ? into : { ...into, [kind]: { ...into[kind], [name]: filled } }
  }, next.entities)
})

const asFields = (value: unknown): Readonly<Record<string, unknown>> => (isRecord(value) ? value : {})

const fillMasks = (value: unknown, held: unknown): unknown =>
  secretPaths(value)
    .filter((path) => isMask(valueAt(value, path)))
    .reduce((current, path) => {
      const secret = secretAt(held, named(value, path))
      return secret === undefined ? current : withValueAt(current, path, Redacted.make(secret))
    }, value)

const secretAt = (tree: unknown, names: ReadonlyArray<string>): unknown => {
  const path = positions(tree, names)
  const found = path === undefined ? undefined : valueAt(tree, path)
  return Redacted.isRedacted(found) ? Redacted.value(found) : undefined
}

const operationsBetween = (head: DatabaseDocument, next: DatabaseDocument): ReadonlyArray<ConfigOperation> => {
  const operations: Array<ConfigOperation> = []
  for (const { kind, name, value } of listEntities(next)) {
    const before = entityIn(head, { kind, name })
    const entity = { kind, name }
    if (before === undefined) operations.push({ op: "create", entity, value: toWritten(value, false) })
    else if (diff(before, maskedAs(before, value)).length > 0) {
      // An update keeps the credentials that it omits.
      for (const path of omittedSecrets(before, value)) operations.push({ op: "unset", entity, path })
      operations.push({ op: "update", entity, value: toWritten(value, true) })
    }
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
