/**
 * Checks of what a host signed. All comparisons take the same time whatever the attacker guessed; a header that is present
 * but empty, a bare prefix or not of the host's form is wrong, never absent. Called by `forge/<kind>/webhook.ts` only.
 */
import { createHash, createHmac, timingSafeEqual } from "node:crypto"
import { Redacted } from "effect"
import type { Headers } from "./Forge.ts"

const prefix = "sha256="
const hex = /^[0-9a-f]{64}$/i
const timestampToleranceMillis = 5 * 60_000

/** Whether the `sha256=` before the hex digits must stand there (GitHub) or may be left out (Gitea, Forgejo). */
export type HexForm = "prefixed" | "bare_or_prefixed"

const digestIn = (header: string, form: HexForm): Buffer | undefined => {
  const prefixed = header.startsWith(prefix)
  if (!prefixed && form === "prefixed") return undefined
  const digits = prefixed ? header.slice(prefix.length) : header
  return hex.test(digits) ? Buffer.from(digits, "hex") : undefined
}

/** HMAC-SHA256 of `signed` in hex: true when one of `names` is present and each one present is right. */
export const verifyHexHmac = (
  secret: Redacted.Redacted,
  headers: Headers,
  names: ReadonlyArray<string>,
  form: HexForm,
  signed: Uint8Array | string
): boolean => {
  const key = Redacted.value(secret)
  if (key === "") return false
  const claimed: Array<Buffer> = []
  for (const name of names) {
    const header = headers[name]
    if (header === undefined) continue
    const digest = digestIn(header, form)
    if (digest === undefined) return false
    claimed.push(digest)
  }
  if (claimed.length === 0) return false
  const expected = createHmac("sha256", key).update(signed).digest()
  return claimed.every((digest) => timingSafeEqual(digest, expected))
}

const sha256 = (text: string): Buffer => createHash("sha256").update(text).digest()

/** The secret itself in a header, compared as digests so that not even its length shows. */
export const verifyToken = (secret: Redacted.Redacted, headers: Headers, names: ReadonlyArray<string>): boolean => {
  const key = Redacted.value(secret)
  const present = names.flatMap((name) => headers[name] ?? [])
  if (key === "" || present.length === 0) return false
  const expected = sha256(key)
  return present.every((header) => header !== "" && timingSafeEqual(sha256(header), expected))
}

const signingPrefix = "whsec_"

/** A secret of this form is a signing token (Standard Webhooks), not a token sent along. */
export const isSigningToken = (secret: Redacted.Redacted): boolean => Redacted.value(secret).startsWith(signingPrefix)

/**
 * Standard Webhooks: `webhook-signature` holds `v1,<base64>` values parted by spaces, one of which must be the HMAC-SHA256 of
 * `<id>.<timestamp>.<body>`; the timestamp (seconds) may be off by five minutes.
 */
export const verifySigningToken = (
  secret: Redacted.Redacted,
  headers: Headers,
  body: Uint8Array,
  now: number
): boolean => {
  const id = headers["webhook-id"]
  const timestamp = headers["webhook-timestamp"]
  const signatures = headers["webhook-signature"]
  if (!id || !timestamp || !signatures || !/^\d{1,12}$/.test(timestamp)) return false
  if (Math.abs(now - Number(timestamp) * 1000) > timestampToleranceMillis) return false
  const key = Buffer.from(Redacted.value(secret).slice(signingPrefix.length), "base64")
  if (key.length === 0) return false
  const expected = createHmac("sha256", key).update(`${id}.${timestamp}.`).update(body).digest()
  return signatures.split(" ").some((signature) => {
    if (!signature.startsWith("v1,")) return false
    const digest = Buffer.from(signature.slice(3), "base64")
    return digest.length === expected.length && timingSafeEqual(digest, expected)
  })
}
