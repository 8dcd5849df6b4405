/**
 * Checks of what a host signed. All comparisons take the same time whatever the attacker guessed; a header that is present
 * but empty, a bare prefix or not of the host's form is wrong, never absent. Called by `forge/<kind>/webhook.ts` only.
 */
import { createHash, createHmac, timingSafeEqual } from "node:crypto"
import type { Hmac } from "node:crypto"
import { Redacted } from "effect"
import type { Headers, Signature, SignatureCheck } from "./Forge.ts"

const prefix = "sha256="
const hex = /^[0-9a-f]{64}$/i
const timestampToleranceMillis = 5 * 60_000
/** A host sends one signature per key while keys are exchanged. */
const maxSignatures = 16

/** Whether the `sha256=` before the hex digits must stand there (GitHub) or may be left out (Gitea, Forgejo). */
export type HexForm = "prefixed" | "bare_or_prefixed"

const digestIn = (header: string, form: HexForm): Buffer | undefined => {
  const prefixed = header.startsWith(prefix)
  if (!prefixed && form === "prefixed") return undefined
  const digits = prefixed ? header.slice(prefix.length) : header
  return hex.test(digits) ? Buffer.from(digits, "hex") : undefined
}

const checkOf = (hmac: Hmac, isRight: (expected: Buffer) => boolean): SignatureCheck => ({
  update: (bytes) => void hmac.update(bytes),
  matches: () => isRight(hmac.digest())
})

/** HMAC-SHA256 in hex: right when one of `names` is present and each one present is right. */
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
    return checkOf(createHmac("sha256", key), (expected) =>
      claimed.every((digest) => timingSafeEqual(digest, expected))
    )
  }
}

const sha256 = (text: string): Buffer => createHash("sha256").update(text).digest()

/** The secret itself in a header, compared as digests so that not even its length shows. */
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

/** A secret of this form is a signing token (Standard Webhooks), not a token sent along. */
export const isSigningToken = (secret: Redacted.Redacted): boolean => Redacted.value(secret).startsWith(signingPrefix)

/**
 * Standard Webhooks: `webhook-signature` holds `v1,<base64>` values parted by spaces, one of which must be the HMAC-SHA256 of
 * `<id>.<timestamp>.<body>`; the timestamp (seconds) may be off by five minutes.
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
    return checkOf(createHmac("sha256", key).update(`${id}.${timestamp}.`), (expected) =>
      digests.some((digest) => timingSafeEqual(digest, expected))
    )
  }
}
