/** Finds the credentials in operations, which drafts keep sealed and views show masked. Pure. */
import { Redacted, Result } from "effect"
import { normalise } from "../document/Normalise.ts"
import type { Path } from "../document/Path.ts"
import { formatPath, isRecord, valueAt, withValueAt } from "../document/Path.ts"
import { named } from "../credentials/SealedPlaces.ts"
import type { SealingKeys, SealingProblem } from "../credentials/Sealing.ts"
import { isSealed, openSealed, seal } from "../credentials/Sealing.ts"
import type { Shape } from "../fields/Shape.ts"
import { mask } from "../Show.ts"
import { asWritten } from "../document/Written.ts"
import { secretPaths } from "./EditValue.ts"
import { entityShape, formatRef, globalsShape } from "./Entities.ts"
import type { ConfigOperation, OperationProblem } from "./Operations.ts"
import type { Reason } from "../../domain/Reason.ts"

interface OperationSecret {
  /** Entity such as `triggers/main`, or `globals`. */
  readonly entity: string
  /** Field in the entity, with names in place of positions. */
  readonly field: string
  readonly text: string
}

type Replace<E> = (secret: OperationSecret) => Result.Result<string, E>

/** Returns the operation with the result of `replace` in place of each credential. */
export const replaceSecrets = <E>(
  operation: ConfigOperation,
  replace: Replace<E>
): Result.Result<ConfigOperation, E> => {
  if (!("value" in operation)) return Result.succeed(operation)
  const { entity } = operation
  const root = entity === undefined ? globalsShape() : entityShape(entity.kind)
  const prefix = "path" in operation ? follow(root, operation.path) : { shape: root, names: [] }
  if (prefix === undefined) return Result.succeed(operation)
  const normalised = normalise(prefix.shape, operation.value, () => {})
  const owner = entity === undefined ? "globals" : formatRef(entity)
  return secretPaths(normalised).reduce<Result.Result<ConfigOperation, E>>(
    (into, path) =>
      Result.flatMap(into, (current) =>
        Result.map(
          replace({
            entity: owner,
            field: [...prefix.names, ...named(normalised, path)].join("."),
            text: textAt(normalised, path)
          }),
          (text) => withSecret(current, asWritten(prefix.shape, operation.value, path), text)
        )
      ),
    Result.succeed(operation)
  )
}

const textAt = (tree: unknown, path: Path): string => {
  const value = valueAt(tree, path)
  return Redacted.isRedacted(value) ? String(Redacted.value(value)) : ""
}

const withSecret = (operation: ConfigOperation, path: Path, text: string): ConfigOperation =>
  "value" in operation
    ? { ...operation, value: path.length === 0 ? text : withValueAt(operation.value, path, text) }
    : operation

/** Follows names through a shape, in which elements of lists have names too. */
const follow = (
  root: Shape,
  names: ReadonlyArray<string>
): { readonly shape: Shape; readonly names: ReadonlyArray<string> } | undefined => {
  let shape: Shape | undefined = root
  const canonical: Array<string> = []
  for (const name of names) {
    const container: Shape | undefined =
      shape?.type === "union" ? shape.members.find(({ type }) => type === "object" || type === "list") : shape
    if (container?.type === "object") {
      const key: string = container.keys.get(name) ?? name
      canonical.push(key)
      shape = container.fields.get(key)?.shape ?? container.rest
    } else if (container?.type === "list") {
      canonical.push(name)
      shape = container.item
    } else return undefined
    if (shape === undefined) return undefined
  }
  return shape === undefined ? undefined : { shape, names: canonical }
}

/** Returns the operations with masks in place of credentials. */
export const maskOperations = (operations: ReadonlyArray<ConfigOperation>): ReadonlyArray<ConfigOperation> =>
  operations.map((operation) =>
    Result.getOrElse(
      replaceSecrets(operation, () => Result.succeed(mask)),
      () => operation
    )
  )

/**
 * Returns the values of which a part cannot be interpreted, so that it is unknown whether it is a credential: unknown fields, and
 * credentials that are not text.
 */
export const invalidOperations = (operations: ReadonlyArray<ConfigOperation>): ReadonlyArray<OperationProblem> =>
  operations.flatMap((operation, index) => {
    if (!("value" in operation)) return []
    const { entity } = operation
    const root = entity === undefined ? globalsShape() : entityShape(entity.kind)
    const target = "path" in operation ? follow(root, operation.path) : { shape: root, names: [] }
    const at = entity === undefined ? "globals" : formatRef(entity)
    const refuse = (path: Path, reason: Reason): OperationProblem => ({
      code: "invalid_field",
      index,
      entity: at,
      path: formatPath([...(target?.names ?? []), ...path]),
      reason
    })
    if (target === undefined) return [refuse([], { _tag: "PathUnfit" })]
    const problems: Array<OperationProblem> = []
    const normalised = normalise(target.shape, operation.value, ({ path, reason }) =>
      problems.push(refuse(path, reason))
    )
    findMistyped(target.shape, normalised, [], (path) => problems.push(refuse(path, { _tag: "CredentialIsText" })))
    return problems
  })

/** Finds values of credential fields that are not text. */
const findMistyped = (shape: Shape, value: unknown, path: Path, report: (path: Path) => void): void => {
  if (value === undefined || value === null || Redacted.isRedacted(value)) return
  if (shape.type === "scalar") {
    if (shape.scalar === "secret") report(path)
  } else if (shape.type === "union") findInUnion(shape.members, value, path, report)
  else if (shape.type === "list") {
    if (Array.isArray(value)) value.forEach((item, index) => findMistyped(shape.item, item, [...path, index], report))
  } else if (shape.type === "object" && isRecord(value)) {
    for (const [key, item] of Object.entries(value)) {
      const inner = shape.fields.get(key)?.shape ?? shape.rest
      if (inner !== undefined) findMistyped(inner, item, [...path, key], report)
    }
  }
}

/** Reports nothing if the value fits one of the members. */
const findInUnion = (members: ReadonlyArray<Shape>, value: unknown, path: Path, report: (path: Path) => void): void => {
  const found = members.map((member) => {
    const paths: Array<Path> = []
    findMistyped(member, value, path, (at) => paths.push(at))
    return paths
  })
  if (found.every((paths) => paths.length > 0)) found[0]?.forEach(report)
}

interface OperationSecretProblem extends Omit<OperationProblem, "code" | "index"> {
  readonly code: SealingProblem["code"] | "masked_secret"
}

export type ReplacedOperations = Result.Result<ReadonlyArray<ConfigOperation>, ReadonlyArray<OperationSecretProblem>>

/** Returns the operations with the plain text of their credentials. */
export const openOperations = (
  operations: ReadonlyArray<ConfigOperation>,
  namespace: string,
  keys: Result.Result<SealingKeys, SealingProblem>
): ReplacedOperations =>
  replaceAll(operations, ({ entity, field, text }) =>
    isSealed(text)
      ? Result.map(
          Result.flatMap(keys, (known) => openSealed(known, { namespace, entity, field }, text)),
          Redacted.value
        )
      : Result.succeed(text)
  )

/** Returns the operations with credentials sealed by the current key, whichever key sealed them. */
export const resealOperations = (
  operations: ReadonlyArray<ConfigOperation>,
  namespace: string,
  keys: SealingKeys
): ReplacedOperations =>
  replaceAll(operations, ({ entity, field, text }) => {
    const place = { namespace, entity, field }
    return text.startsWith(`enc:v1.${keys.current?.kid}.`) || !isSealed(text)
      ? Result.succeed(text)
      : Result.flatMap(openSealed(keys, place, text), (secret) => seal(keys, place, secret))
  })

/** Returns the operations with the result of `replace` in place of each credential, or the first problem of each operation. */
export const replaceAll = (
  operations: ReadonlyArray<ConfigOperation>,
  replace: Replace<Pick<OperationSecretProblem, "code" | "reason">>
): ReplacedOperations => {
  const problems: Array<OperationSecretProblem> = []
  const replaced = operations.flatMap((operation) => {
    const one = replaceSecrets(operation, (secret) =>
      Result.mapError(replace(secret), (problem) => ({ ...problem, entity: secret.entity, path: secret.field }))
    )
    if (Result.isFailure(one)) problems.push(one.failure)
    return Result.isSuccess(one) ? [one.success] : []
  })
  return problems.length > 0 ? Result.fail(problems) : Result.succeed(replaced)
}

export const secretKey = ({ entity, field }: Pick<OperationSecret, "entity" | "field">): string =>
  JSON.stringify([entity, field])

/** Returns the texts of the credentials of operations, by entity and field; the last one where there are several. */
export const secretsIn = (operations: ReadonlyArray<ConfigOperation>): ReadonlyMap<string, string> => {
  const found = new Map<string, string>()
  for (const operation of operations)
    replaceSecrets(operation, (secret) => {
      found.set(secretKey(secret), secret.text)
      return Result.succeed(secret.text)
    })
  return found
}
