/** Opens the sealed credentials of a normalised document. Failures are reported with their path. */
import { Redacted, Result } from "effect"
import type { Env } from "../Credentials.ts"
import type { Report } from "../document/Normalise.ts"
import type { Path } from "../document/Path.ts"
import { isRecord } from "../document/Path.ts"
import { replaceCredentials } from "./ReplaceCredentials.ts"
import { named, readNamespace, locateCredential } from "./SealedPlaces.ts"
import { toReason, isSealed, openSealed as open, sealingKeys } from "./Sealing.ts"
import type { SealedLocation } from "./Sealing.ts"

interface SealedField {
  readonly path: Path
  readonly place: SealedLocation
  readonly value: string
}

/** Returns every sealed credential. Text in other fields is not affected. */
export const sealedFields = (tree: unknown): ReadonlyArray<SealedField> => {
  const namespace = readNamespace(tree)
  const found: Array<SealedField> = []
  const walk = (value: unknown, path: Path): void => {
    if (Redacted.isRedacted(value)) {
      const text = Redacted.value(value)
      if (typeof text === "string" && isSealed(text)) {
        found.push({ path, value: text, place: locateCredential(named(tree, path), namespace) })
      }
    } else if (Array.isArray(value)) {
      value.forEach((item, index) => walk(item, [...path, index]))
    } else if (isRecord(value)) {
      for (const [key, item] of Object.entries(value)) walk(item, [...path, key])
    }
  }
  walk(tree, [])
  return found
}

/**
 * Returns the document with its sealed credentials opened. One that cannot be opened is removed, so that a ciphertext is never used as a
 * credential. `missing` is called for missing keys, `invalid` for values that no key can open.
 */
export const openSealed = (
  tree: unknown,
  env: Env,
  report: { readonly missing: Report; readonly invalid: Report }
): unknown => {
  if (sealedFields(tree).length === 0) return tree
  const namespace = readNamespace(tree)
  const keys = sealingKeys(env)
  return replaceCredentials(tree, (secret, path) => {
    const value = Redacted.value(secret)
    if (typeof value !== "string" || !isSealed(value)) return secret
    const place = locateCredential(named(tree, path), namespace)
    const opened = Result.flatMap(keys, (known) => open(known, place, value))
    if (Result.isSuccess(opened)) return opened.success
    const { failure } = opened
    report[failure.code === "secrets_key_missing" ? "missing" : "invalid"]({
      path,
      reason: toReason(failure),
      at: "value"
    })
    return undefined
  })
}

/** Returns the function that opens a credential at its place, or returns its plain text; undefined if it cannot be opened. */
export const makeReadSealed = (env: Env, namespace: string) => {
  const keys = sealingKeys(env)
  return (secret: Redacted.Redacted<unknown>, place: Omit<SealedLocation, "namespace">): string | undefined => {
    const text = String(Redacted.value(secret))
    if (!isSealed(text)) return text
    const opened = Result.flatMap(keys, (known) => open(known, { ...place, namespace }, text))
    return Result.isSuccess(opened) ? Redacted.value(opened.success) : undefined
  }
}
