/** Converts the database's document to the text that the store keeps, and back. Its credentials are sealed, each for its place. */
import { createHash, createHmac } from "node:crypto"
import { Redacted, Result } from "effect"
import type { Report } from "../document/Normalise.ts"
import { isRecord } from "../document/Path.ts"
import { replaceCredentials } from "../credentials/ReplaceCredentials.ts"
import type { SealedLocation, SealingKey, SealingKeys, SealingProblem } from "../credentials/Sealing.ts"
import { isSealed, openSealed, seal } from "../credentials/Sealing.ts"
import { named } from "../credentials/SealedPlaces.ts"
import type { DatabaseDocument } from "./DatabaseDocument.ts"
import { emptyDocument, parseDocument } from "./DatabaseDocument.ts"
import { entityKinds, formatRef } from "./Entities.ts"

interface SealProblem extends SealingProblem {
  readonly entity: string
  readonly path: string
}

export interface StoredDocument {
  readonly text: string
  readonly hash: string
}

export const hashText = (text: string): string => createHash("sha256").update(text).digest("hex")

/** One credential of the document, with its place. */
interface Held {
  readonly place: SealedLocation
  readonly text: string
}

type Change = (held: Held) => Result.Result<string, SealingProblem>

/** Returns the value with every credential replaced; the first problem of each credential is added to `problems`. */
const mapValue = (
  value: unknown,
  { namespace, entity }: Pick<SealedLocation, "entity" | "namespace">,
  change: Change,
  problems: Array<SealProblem>
): unknown =>
  replaceCredentials(value, (secret, path) => {
    const place = { namespace, entity, field: named(value, path).join(".") }
    const changed = change({ place, text: plainText(secret) })
    if (Result.isSuccess(changed)) return Redacted.make(changed.success)
    problems.push({ ...changed.failure, entity, path: place.field })
    return secret
  })

/** Returns the document with every credential replaced. */
export const mapSecrets = (
  document: DatabaseDocument,
  namespace: string,
  change: Change
): Result.Result<DatabaseDocument, ReadonlyArray<SealProblem>> => {
  const problems: Array<SealProblem> = []
  const globals = mapValue(document.globals, { namespace, entity: "globals" }, change, problems)
  const entities = { ...document.entities }
  for (const kind of entityKinds)
    entities[kind] = Object.fromEntries(
      Object.entries(document.entities[kind]).map(([name, value]) => [
        name,
        mapValue(value, { namespace, entity: formatRef({ kind, name }) }, change, problems)
      ])
    )
  return problems.length > 0
    ? Result.fail(problems)
    : Result.succeed({ globals: isRecord(globals) ? globals : {}, entities })
}

const plainText = (value: unknown): string => (Redacted.isRedacted(value) ? String(Redacted.value(value)) : "")

/** A value determined by the key, the place and the ciphertext that is replaced: equal nonces only seal equal credentials. */
const nonceFor = (current: SealingKey, { namespace, entity, field }: SealedLocation, text: string): Buffer =>
  createHmac("sha256", Redacted.value(current.bytes))
    .update(JSON.stringify(["reseal", namespace, entity, field, text]))
    .digest()
    .subarray(0, 12)

/**
 * Seals with the current key what another key sealed. Equal ciphertexts get equal replacements, also after a crash and on other nodes, so
 * that revisions that shared a credential still do. `replacements` saves opening them again.
 */
export const resealDocument = (
  document: DatabaseDocument,
  namespace: string,
  keys: SealingKeys,
  replacements: Map<string, string>
): Result.Result<DatabaseDocument, ReadonlyArray<SealProblem>> =>
  mapSecrets(document, namespace, ({ place, text }) => {
    const known = replacements.get(text)
    if (known !== undefined) return Result.succeed(known)
    if (text.startsWith(`enc:v1.${keys.current?.kid}.`)) return Result.succeed(text)
    return Result.map(
      Result.flatMap(openSealed(keys, place, text), (secret) =>
        seal(keys, place, secret, keys.current === undefined ? undefined : nonceFor(keys.current, place, text))
      ),
      (resealed) => {
        replacements.set(text, resealed)
        return resealed
      }
    )
  })

/** Serialises a sealed document. Keys are sorted, so that equal documents have equal texts. */
export const serialise = (document: DatabaseDocument): StoredDocument => {
  const text = JSON.stringify(sorted(document))
  return { text, hash: hashText(text) }
}

const sorted = (value: unknown): unknown => {
  if (Redacted.isRedacted(value)) {
    const text = plainText(value)
    if (!isSealed(text)) throw new Error("a credential is not sealed")
    return text
  }
  if (Array.isArray(value)) return value.map(sorted)
  if (!isRecord(value)) return value
  return Object.fromEntries(
    Object.keys(value)
      .toSorted()
      .map((key) => [key, sorted(value[key])])
  )
}

/** Parses a stored document. Unknown fields, which a newer release wrote, are reported, and so is text that is not JSON. */
export const deserialise = (text: string, report: Report = () => {}): DatabaseDocument => {
  const source = parseJson(text)
  if (source !== undefined) return parseDocument(source, report)
  report({ path: [], reason: { _tag: "DocumentIsNoJson" }, at: "value" })
  return emptyDocument
}

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
