/**
 * Seals credentials: `enc:v1.<kid>.<nonce>.<ciphertext+tag>`, base64url, AES-256-GCM with a nonce of 12 bytes. The additional authenticated
 * data is the location of the credential, so that a sealed value cannot be opened in another location.
 *
 * `SVC_CONFIG_SECRETS_KEY` (32 bytes, hex or base64) seals and opens; retired keys in `SVC_CONFIG_SECRETS_KEY_PREVIOUS`, separated by
 * commas, only open. `kid` is the first 8 hex digits of the SHA-256 of the key.
 */
import { createCipheriv, createDecipheriv, createHash, randomBytes } from "node:crypto"
import { Redacted, Result } from "effect"
import type { Env } from "../Credentials.ts"
import { variable } from "../Credentials.ts"
import type { Reason, ReasonWith } from "../../domain/Reason.ts"

const keyVariable = "SVC_CONFIG_SECRETS_KEY"
const previousVariable = "SVC_CONFIG_SECRETS_KEY_PREVIOUS"

/** Location of a sealed value. */
export interface SealedLocation {
  /** Value of `config_sources.database.namespace`. */
  readonly namespace: string
  /** Entity such as `triggers/main` or `providers/p`; `globals` for fields outside of entities. */
  readonly entity: string
  /** Path of the field in its entity, with names instead of positions: `app.private_key`. */
  readonly field: string
}

export interface SealingProblem {
  readonly code: "secrets_key_missing" | "secret_sealing_invalid"
  readonly reason: Reason
}

export interface SealingKey {
  readonly kid: string
  readonly bytes: Redacted.Redacted<Buffer>
}

export interface SealingKeys {
  /** Undefined: nothing can be sealed. */
  readonly current: SealingKey | undefined
  /** All keys, the current one first. */
  readonly all: ReadonlyArray<SealingKey>
}

const problem = (code: SealingProblem["code"], reason: Reason) => Result.fail({ code, reason })

/** Returns the reason of a problem with its code. */
export const toReason = ({ code, reason }: SealingProblem): ReasonWith<"SealedUnreadable"> => ({
  _tag: "SealedUnreadable",
  code,
  why: reason
})

const readKey = (text: string): SealingKey | undefined => {
  const trimmed = text.trim()
  const bytes = /^[0-9a-f]{64}$/i.test(trimmed)
    ? Buffer.from(trimmed, "hex")
    : /^[A-Za-z0-9+/_-]{43}=?$/.test(trimmed)
      ? Buffer.from(trimmed, "base64url")
      : undefined
  if (bytes?.length !== 32) return undefined
  return { kid: createHash("sha256").update(bytes).digest("hex").slice(0, 8), bytes: Redacted.make(bytes) }
}

/** Reads the keys of the environment. A missing key is an error only when it is needed. */
export const sealingKeys = (env: Env): Result.Result<SealingKeys, SealingProblem> => {
  const given = variable(env, keyVariable)
  const current = given === undefined ? undefined : readKey(given)
  if (given !== undefined && current === undefined) {
    return problem("secrets_key_missing", { _tag: "SealingKeyMalformed", variable: keyVariable })
  }
  const retired = (variable(env, previousVariable) ?? "").split(",").filter((text) => text.trim() !== "")
  const previous = retired.flatMap((text) => readKey(text) ?? [])
  if (previous.length !== retired.length) {
    return problem("secrets_key_missing", { _tag: "RetiredKeyMalformed", variable: previousVariable })
  }
  return Result.succeed({ current, all: current === undefined ? previous : [current, ...previous] })
}

export const isSealed = (value: string): boolean => value.startsWith("enc:v1.")

/** Returns the additional authenticated data, unambiguous for all names. */
const additionalData = ({ namespace, entity, field }: SealedLocation): Buffer =>
  Buffer.from(JSON.stringify([namespace, entity, field]), "utf8")

/** Seals a value. `nonce` is for test vectors; it must never be used twice with a key. */
export const seal = (
  keys: SealingKeys,
  place: SealedLocation,
  secret: Redacted.Redacted,
  nonce: Buffer = randomBytes(12)
): Result.Result<string, SealingProblem> => {
  const { current } = keys
  if (current === undefined) return problem("secrets_key_missing", { _tag: "SealingKeyUnset", variable: keyVariable })
  const cipher = createCipheriv("aes-256-gcm", Redacted.value(current.bytes), nonce)
  cipher.setAAD(additionalData(place))
  const text = Buffer.concat([cipher.update(Redacted.value(secret), "utf8"), cipher.final(), cipher.getAuthTag()])
  return Result.succeed(`enc:v1.${current.kid}.${nonce.toString("base64url")}.${text.toString("base64url")}`)
}

const form = /^enc:v1\.([0-9a-f]{8})\.([A-Za-z0-9_-]{16})\.([A-Za-z0-9_-]{22,})$/

export const openSealed = (
  keys: SealingKeys,
  place: SealedLocation,
  sealed: string
): Result.Result<Redacted.Redacted, SealingProblem> => {
  const [, kid, nonce, text] = form.exec(sealed) ?? []
  if (kid === undefined || nonce === undefined || text === undefined) {
    return problem("secret_sealing_invalid", { _tag: "SealedForm" })
  }
  const key = keys.all.find((one) => one.kid === kid)
  if (key === undefined) {
    const ours = keys.all.map((one) => one.kid).join(", ")
    return problem(
      "secrets_key_missing",
      ours === ""
        ? { _tag: "SealedWithKey", kid, variable: keyVariable }
        : { _tag: "SealedWithOtherKey", kid, kids: ours, variable: previousVariable }
    )
  }
  const bytes = Buffer.from(text, "base64url")
  try {
    const decipher = createDecipheriv("aes-256-gcm", Redacted.value(key.bytes), Buffer.from(nonce, "base64url"))
    decipher.setAAD(additionalData(place))
    decipher.setAuthTag(bytes.subarray(-16))
    const plain = Buffer.concat([decipher.update(bytes.subarray(0, -16)), decipher.final()])
    return Result.succeed(Redacted.make(plain.toString("utf8")))
  } catch {
    // Authentication cannot distinguish a wrong key from a changed value.
    return problem("secret_sealing_invalid", { _tag: "SealedElsewhere", ...place })
  }
}
