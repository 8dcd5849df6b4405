/**
 * Follows each credential of an edit from where its plain text comes from: a stored document, a version of a draft, or the edit itself. While
 * operations are applied, a marker replaces every credential, so that what became of it is a fact of the operations; texts of credentials, plain or
 * sealed, are never compared.
 */
import { randomUUID } from "node:crypto"
import { Redacted, Result } from "effect"
import { replaceCredentials } from "../credentials/ReplaceCredentials.ts"
import type { SealedLocation, SealingKeys, SealingProblem } from "../credentials/Sealing.ts"
import { isSealed, openSealed, seal } from "../credentials/Sealing.ts"
import { mask } from "../Show.ts"
import type { DatabaseDocument } from "./DatabaseDocument.ts"
import { parseDocument } from "./DatabaseDocument.ts"
import type { ConfigOperation } from "./Operations.ts"
import { replaceAll, replaceSecrets } from "./OperationSecrets.ts"
import type { ReplacedOperations } from "./OperationSecrets.ts"
import { mapSecrets } from "./SealDocument.ts"

interface CredentialOrigin {
  /** Location for which it is sealed, or where it was entered. */
  readonly place: SealedLocation
  /** Sealed for its place, or the plain text. */
  readonly text: string
  /** The edit contains its plain text. */
  readonly isEntered: boolean
}

export interface CredentialOrigins {
  /** Returns the text that replaces a credential. It cannot be guessed, so that no edit contains one. */
  readonly mark: (origin: CredentialOrigin) => string
  readonly markDocument: (document: DatabaseDocument) => DatabaseDocument
  /** Masks stay: they are no credentials. */
  readonly markOperations: (
    operations: ReadonlyArray<ConfigOperation>,
    isEntered: boolean
  ) => ReadonlyArray<ConfigOperation>
  /** Returns the origin that a text, or a credential with that text, marks. */
  readonly find: (value: unknown) => CredentialOrigin | undefined
}

export const makeOrigins = (namespace: string): CredentialOrigins => {
  const prefix = `${randomUUID()}.`
  const origins = new Map<unknown, CredentialOrigin>()
  const mark = (origin: CredentialOrigin): string => {
    const marker = `${prefix}${origins.size}`
    origins.set(marker, origin)
    return marker
  }
  return {
    mark,
    markDocument: (document) =>
      Result.getOrElse(
        mapSecrets(document, namespace, (held) => Result.succeed(mark({ ...held, isEntered: false }))),
        () => document
      ),
    markOperations: (operations, isEntered) =>
      operations.map((operation) =>
        Result.getOrElse(
          replaceSecrets(operation, ({ entity, field, text }) =>
            Result.succeed(text === mask ? mask : mark({ place: { namespace, entity, field }, text, isEntered }))
          ),
          () => operation
        )
      ),
    find: (value) => origins.get(Redacted.isRedacted(value) ? Redacted.value(value) : value)
  }
}

type Keys = Result.Result<SealingKeys, SealingProblem>

/** Returns the plain text of a credential. */
export const openOrigin = (
  { isEntered, place, text }: CredentialOrigin,
  keys: Keys
): Result.Result<string, SealingProblem> =>
  isEntered || !isSealed(text)
    ? Result.succeed(text)
    : Result.map(
        Result.flatMap(keys, (known) => openSealed(known, place, text)),
        Redacted.value
      )

const isSamePlace = (left: SealedLocation, right: SealedLocation): boolean =>
  left.namespace === right.namespace && left.entity === right.entity && left.field === right.field

/** Returns a credential sealed for a place. */
const sealOrigin = (
  origin: CredentialOrigin,
  place: SealedLocation,
  keys: Keys
): Result.Result<string, SealingProblem> => {
  if (isSealed(origin.text)) {
    // Its plain text is not part of the edit, so its destination is unknown.
    if (origin.isEntered)
      return Result.fail({
        code: "secret_sealing_invalid",
        reason: { _tag: "SealedEntered" }
      })
    if (isSamePlace(origin.place, place)) return Result.succeed(origin.text)
  }
  return Result.flatMap(keys, (known) =>
    Result.flatMap(openOrigin(origin, keys), (text) => seal(known, place, Redacted.make(text)))
  )
}

/** Returns a document whose markers are replaced by sealed credentials. */
export const sealMarked = (
  document: DatabaseDocument,
  { find }: Pick<CredentialOrigins, "find">,
  namespace: string,
  keys: Keys
) =>
  mapSecrets(document, namespace, ({ place, text }) =>
    sealOrigin(find(text) ?? { place, text, isEntered: true }, place, keys)
  )

/** Returns operations whose markers are replaced by sealed credentials. */
export const sealOperations = (
  operations: ReadonlyArray<ConfigOperation>,
  { find }: Pick<CredentialOrigins, "find">,
  namespace: string,
  keys: Keys
): ReplacedOperations =>
  replaceAll(operations, ({ entity, field, text }) => {
    const place = { namespace, entity, field }
    return sealOrigin(find(text) ?? { place, text, isEntered: true }, place, keys)
  })

/** Returns the document without the other credentials. */
export const onlySecrets = (
  { entities, globals }: DatabaseDocument,
  isKept: (secret: unknown) => boolean
): DatabaseDocument =>
  parseDocument(
    replaceCredentials({ globals, entities }, (secret) => (isKept(secret) ? secret : undefined)),
    () => {}
  )
