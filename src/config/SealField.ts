/** Implements `aicr secrets`: seals a credential for one field of the document, and reseals every sealed credential of a file. */
import { Result } from "effect"
import type { Redacted } from "effect"
import type { Env } from "./Credentials.ts"
import { Document } from "./Document.ts"
import { normalise } from "./document/Normalise.ts"
import { sealedFields } from "./credentials/OpenSealed.ts"
import { readNamespace, locateCredential } from "./credentials/SealedPlaces.ts"
import { toReason, openSealed, seal, sealingKeys } from "./credentials/Sealing.ts"
import type { Shape } from "./fields/Shape.ts"
import { readShape } from "./fields/Shape.ts"
import { formatPath } from "./document/Path.ts"
import { suggest } from "./fields/Suggest.ts"
import { parseYaml } from "./Yaml.ts"
import type { Reason } from "../domain/Reason.ts"
import { verbatimReason } from "../domain/Reason.ts"

/** Parses `triggers.main.token` or `workspaces.instances["a.b"].auth.api_key`: names instead of positions. */
export const parseField = (text: string): ReadonlyArray<string> | undefined => {
  const names: Array<string> = []
  const segment = /(?:^|\.)([^.[\]"]+)|\["((?:[^"\\]|\\.)*)"\]/y
  if (text.startsWith(".")) return undefined
  while (segment.lastIndex < text.length) {
    const found = segment.exec(text)
    if (found === null) return undefined
    names.push(found[1] ?? (found[2] ?? "").replace(/\\(.)/g, "$1"))
  }
  return names.length === 0 ? undefined : names
}

/** Returns the canonical path of a credential, or an error. */
const credentialField = (text: string): Result.Result<ReadonlyArray<string>, Reason> => {
  const names = parseField(text)
  if (names === undefined) return Result.fail({ _tag: "FieldPathInvalid", path: JSON.stringify(text) })
  let shape: Shape | undefined = readShape(Document)
  const canonical: Array<string> = []
  for (const name of names) {
    const here: Shape | undefined =
      shape?.type === "union" ? shape.members.find(({ type }) => type !== "scalar") : shape
    if (here?.type === "list") {
      shape = here.item
      canonical.push(name)
    } else if (here?.type === "object") {
      const key: string = here.keys.get(name) ?? name
      const next: Shape | undefined = here.fields.get(key)?.shape ?? here.rest
      if (next === undefined) {
        const place: Reason = canonical.length === 0 ? { _tag: "WholeDocument" } : verbatimReason(canonical.join("."))
        const suggestion = suggest(name, here.keys.keys())
        return Result.fail({ _tag: "NoSuchField", place, name: JSON.stringify(name), suggestion })
      }
      shape = next
      canonical.push(key)
    } else {
      return Result.fail({ _tag: "HasNoFields", place: verbatimReason(canonical.join(".")) })
    }
  }
  return shape !== undefined && isSecret(shape)
    ? Result.succeed(canonical)
    : Result.fail({ _tag: "NotACredential", field: text })
}

const isSecret = (shape: Shape): boolean =>
  shape.type === "union" ? shape.members.some(isSecret) : shape.type === "scalar" && shape.scalar === "secret"

/** Returns the sealed form of a credential for one field, or an error. */
export const sealField = (
  field: string,
  secret: Redacted.Redacted,
  namespace: string,
  env: Env
): Result.Result<string, Reason> =>
  Result.flatMap(credentialField(field), (names) =>
    Result.mapError(
      Result.flatMap(sealingKeys(env), (keys) => seal(keys, locateCredential(names, namespace), secret)),
      toReason
    )
  )

interface Rotated {
  readonly text: string
  /** Paths that were resealed, and those that had the current key already. */
  readonly rotated: ReadonlyArray<string>
  readonly current: ReadonlyArray<string>
}

/** Reseals the credentials of a configuration text with the current key; everything else is unchanged, character by character. */
export const rotateText = (text: string, env: Env): Result.Result<Rotated, ReadonlyArray<Reason>> => {
  const parsed = parseYaml(text)
  if (parsed.issues.length > 0) return Result.fail(parsed.issues.map(({ reason }) => reason))
  const fields = sealedFields(normalise(readShape(Document), parsed.value ?? {}, () => {}))
  const keys = sealingKeys(env)
  if (Result.isFailure(keys)) return Result.fail([toReason(keys.failure)])
  const problems: Array<Reason> = []
  const rotated: Array<string> = []
  const current: Array<string> = []
  let next = text
  for (const { path, place, value } of fields) {
    const shown = formatPath(path)
    const opened = openSealed(keys.success, place, value)
    const sealed = Result.flatMap(opened, (secret) => seal(keys.success, place, secret))
    if (Result.isFailure(sealed)) {
      const at = parsed.locate(path, "value")
      const where = at === undefined ? `${shown}:` : `line ${at.line}, ${shown}:`
      problems.push({ _tag: "PlacedProblem", place: where, reason: toReason(sealed.failure) })
    } else if (value.startsWith(`enc:v1.${keys.success.current?.kid}.`)) {
      current.push(shown)
    } else {
      // A sealed value contains a random nonce, so it occurs once.
      next = next.replace(value, sealed.success)
      rotated.push(shown)
    }
  }
  return problems.length > 0 ? Result.fail(problems) : Result.succeed({ text: next, rotated, current })
}

/** Returns `config_sources.database.namespace` of a text. */
export const namespaceIn = (text: string): string =>
  readNamespace(normalise(readShape(Document), parseYaml(text).value ?? {}, () => {}))
