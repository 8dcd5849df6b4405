/**
 * Verifies the signatures of deliveries. All comparisons take constant time. A header that is empty, a bare prefix or malformed
 * counts as wrong and never as absent. Used by `forge/<kind>/Webhook.ts` only.
 */
import { createHash, createHmac, timingSafeEqual } from "node:crypto"
import type { Hmac } from "node:crypto"
import { Redacted } from "effect"
import type { Headers, Signature, SignatureCheck } from "../Forge.ts"

const prefix = "sha256="
const hex = /^[0-9a-f]{64}$/i
const timestampToleranceMillis = 5 * 60_000
/** Hosts send one signature per key during a key rotation. */
const maxSignatures = 16

/** Whether the prefix `sha256=` before the hex digits is required (GitHub) or optional (Gitea, Forgejo). */
type HexForm = "prefixed" | "bare_or_prefixed"

const digestIn = (header: string, form: HexForm): Buffer | undefined => {
  const prefixed = header.startsWith(prefix)
  if (!prefixed && form === "prefixed") return undefined
  const digits = prefixed ? header.slice(prefix.length) : header
  return hex.test(digits) ? Buffer.from(digits, "hex") : undefined
}

/** Starts the HMAC with the body: before it, the check only shows that the header is well-formed. */
const toCheck = (start: () => Hmac, isRight: (expected: Buffer) => boolean): SignatureCheck => {
  let hmac: Hmac | undefined
  const started = () => (hmac ??= start())
  return {
    update: (bytes) => void started().update(bytes),
    matches: () => isRight(started().digest())
  }
}

/** Verifies an HMAC-SHA256 in hex: matches when at least one of the headers `names` is present and each present one matches. */
export const hexHmac = (headers: Headers, names: ReadonlyArray<string>, form: HexForm): Signature | undefined => {
  const claimed: Array<Buffer> = []
  for (const name of names) {
    const header = headers[name]
    if (header === undefined) continue
    const digest = digestIn(header, form)
    if (digest === undefined) return undefined
    claimed.push(digest)
  }
  if (claimed.length === 0) return undefined
  return (secret) => {
    const key = Redacted.value(secret)
    if (key.trim() === "") return false
    return toCheck(
      () => createHmac("sha256", key),
      (expected) => claimed.every((digest) => timingSafeEqual(digest, expected))
    )
  }
}

const sha256 = (text: string): Buffer => createHash("sha256").update(text).digest()

/** Verifies a secret that is sent in a header. Compares digests, so that timing does not reveal the length of the secret. */
export const sentToken = (headers: Headers, names: ReadonlyArray<string>): Signature | undefined => {
  const present = names.flatMap((name) => headers[name] ?? [])
  if (present.length === 0 || present.includes("")) return undefined
  const digests = present.map(sha256)
  return (secret) => {
    const key = Redacted.value(secret)
    const expected = sha256(key)
    return key.trim() !== "" && digests.every((digest) => timingSafeEqual(digest, expected))
  }
}

const signingPrefix = "whsec_"

/** Returns true for a signing key (Standard Webhooks), in contrast to a token that is sent in a header. */
export const isSigningToken = (secret: Redacted.Redacted): boolean => Redacted.value(secret).startsWith(signingPrefix)

/**
 * Verifies a delivery by Standard Webhooks: `webhook-signature` holds `v1,<base64>` values separated by spaces, one of which must
 * be the HMAC-SHA256 of `<id>.<timestamp>.<body>`. The timestamp (seconds) may deviate by five minutes.
 */
export const standardWebhook = (headers: Headers): Signature | undefined => {
  const id = headers["webhook-id"]
  const timestamp = headers["webhook-timestamp"]
  const signatures = headers["webhook-signature"]
  if (!id || !timestamp || !signatures || !/^\d{1,12}$/.test(timestamp)) return undefined
  const digests = signatures
    .split(" ", maxSignatures)
    .filter((signature) => signature.startsWith("v1,"))
    .map((signature) => Buffer.from(signature.slice(3), "base64"))
    .filter(({ length }) => length === 32)
  if (digests.length === 0) return undefined
  return (secret, now) => {
    if (Math.abs(now - Number(timestamp) * 1000) > timestampToleranceMillis) return false
    const key = Buffer.from(Redacted.value(secret).slice(signingPrefix.length), "base64")
    if (key.length === 0) return false
    return toCheck(
      () => createHmac("sha256", key).update(`${id}.${timestamp}.`),
      (expected) => digests.some((digest) => timingSafeEqual(digest, expected))
    )
  }
}
