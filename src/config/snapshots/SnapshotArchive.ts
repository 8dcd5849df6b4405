/**
 * Archives documents for as long as work is pinned to them. They contain names of environment variables and, if `SVC_CONFIG_SECRETS_KEY` is
 * set, sealed credentials; a literal credential that cannot be sealed is withheld, and is taken from the same field of the current
 * configuration when the document is restored.
 */
import { Redacted, Result } from "effect"
import type { ArchivedDocument } from "../ConfigStore.ts"
import type { Env } from "../Credentials.ts"
import { Document } from "../Document.ts"
import { normalise } from "../document/Normalise.ts"
import { sealedFields } from "../credentials/OpenSealed.ts"
import type { Path } from "../document/Path.ts"
import { isRecord, valueAt } from "../document/Path.ts"
import { locateCredential, named, positions, readNamespace } from "../credentials/SealedPlaces.ts"
import { openSealed, seal, sealingKeys } from "../credentials/Sealing.ts"
import type { SealingKeys } from "../credentials/Sealing.ts"
import { readShape } from "../fields/Shape.ts"
import type { Snapshot } from "../Snapshot.ts"
import { restoreSnapshot } from "./Snapshots.ts"
import type { Reason } from "../../domain/Reason.ts"

interface Kept {
  readonly baseDir: string
  readonly tree: unknown
  /** Names that lead to withheld credentials. */
  readonly withheld: ReadonlyArray<ReadonlyArray<string>>
  readonly revision?: number | undefined
}

export const archive = ({ hash, baseDir, given, revision }: Snapshot, env: Env): ArchivedDocument => {
  const keys = sealingKeys(env)
  const namespace = readNamespace(given)
  const withheld: Array<ReadonlyArray<string>> = []
  const write = (value: unknown, path: Path): unknown => {
    if (Redacted.isRedacted(value)) {
      const names = named(given, path)
      const secret = Redacted.make(String(Redacted.value(value)))
      const sealed = Result.flatMap(keys, (known) => seal(known, locateCredential(names, namespace), secret))
      if (Result.isSuccess(sealed)) return sealed.success
      withheld.push(names)
      return undefined
    }
    if (Array.isArray(value)) return value.map((item, index) => write(item, [...path, index]))
    if (!isRecord(value)) return value
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, write(item, [...path, key])]))
  }
  const kept: Kept = { baseDir, tree: write(given, []), withheld, revision }
  return { hash, document: JSON.stringify(kept) }
}

/** Restores a document. Returns undefined if this release cannot read it any more. `current` supplies the withheld credentials. */
export const restore = ({ hash, document }: ArchivedDocument, env: Env, current: Snapshot): Snapshot | undefined => {
  const kept: unknown = JSON.parse(document)
  if (!isRecord(kept) || typeof kept["baseDir"] !== "string" || !Array.isArray(kept["withheld"])) return undefined
  const tree = kept["withheld"].reduce<unknown>((into, names) => lend(into, current.given, names), kept["tree"])
  return restoreSnapshot(tree, env, { hash, baseDir: kept["baseDir"], revision: revisionIn(kept) })
}

const revisionIn = (kept: Readonly<Record<string, unknown>>): number | undefined =>
  typeof kept["revision"] === "number" ? kept["revision"] : undefined

/** Returns the revision of the database that an archived document contains. */
export const archivedRevision = ({ document }: ArchivedDocument): number | undefined => {
  const kept: unknown = JSON.parse(document)
  return isRecord(kept) ? revisionIn(kept) : undefined
}

/** Returns the tree with the credential under these names in the other one; unchanged if there is none. */
const lend = (tree: unknown, from: unknown, names: unknown): unknown => {
  const path = positions(from, names)
  const into = positions(tree, Array.isArray(names) ? names.slice(0, -1) : names)
  const secret = path === undefined ? undefined : valueAt(from, path)
  const field = path?.at(-1)
  if (into === undefined || field === undefined || !Redacted.isRedacted(secret)) return tree
  return withField(tree, into, String(field), Redacted.value(secret))
}

const withField = (tree: unknown, path: Path, field: string, value: unknown): unknown => {
  const [segment, ...rest] = path
  if (segment === undefined) return isRecord(tree) ? { ...tree, [field]: value } : tree
  if (Array.isArray(tree))
    return tree.map((item: unknown, index) => (index === segment ? withField(item, rest, field, value) : item))
  if (!isRecord(tree)) return tree
  return { ...tree, [segment]: withField(tree[segment], rest, field, value) }
}

/**
 * Returns the document with the credentials that another key sealed sealed by the current key; undefined if there are none. Fails with the
 * reason if one cannot be opened.
 */
export const resealArchived = (document: string, keys: SealingKeys): Result.Result<string | undefined, Reason> => {
  const kept: unknown = JSON.parse(document)
  const tree = isRecord(kept) ? normalise(readShape(Document), kept["tree"], () => {}) : undefined
  let text = document
  for (const { place, value } of sealedFields(tree)) {
    if (value.startsWith(`enc:v1.${keys.current?.kid}.`)) continue
    const next = Result.flatMap(openSealed(keys, place, value), (secret) => seal(keys, place, secret))
    if (Result.isFailure(next))
      return Result.fail({
        _tag: "RecordNotSealed",
        record: `${place.entity} ${place.field}`,
        why: next.failure.reason
      })
    text = text.replaceAll(value, next.success)
  }
  return Result.succeed(text === document ? undefined : text)
}
