/** Signatures and encryption of Feishu callbacks: SHA-256 over the raw body, AES-256-CBC with the hashed encrypt key and the IV in front. */
import { createDecipheriv, createHash } from "node:crypto"
import { Redacted } from "effect"
import { isSameText } from "../platform/SameText.ts"

export const sign = (key: Redacted.Redacted, timestamp: string, nonce: string, body: Uint8Array): string =>
  createHash("sha256")
    .update(`${timestamp}${nonce}${Redacted.value(key)}`)
    .update(body)
    .digest("hex")

export const isSigned = (
  key: Redacted.Redacted,
  parts: { readonly timestamp: string; readonly nonce: string; readonly signature: string },
  body: Uint8Array
): boolean => isSameText(sign(key, parts.timestamp, parts.nonce, body), parts.signature.toLowerCase())

/** Undefined if the text is malformed or was encrypted with another key. */
export const decrypt = (key: Redacted.Redacted, encrypted: string): string | undefined => {
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(encrypted)) return undefined
  const bytes = Buffer.from(encrypted, "base64")
  if (bytes.length < 32 || bytes.length % 16 !== 0) return undefined
  const aesKey = createHash("sha256").update(Redacted.value(key)).digest()
  const decipher = createDecipheriv("aes-256-cbc", aesKey, bytes.subarray(0, 16))
  try {
    return Buffer.concat([decipher.update(bytes.subarray(16)), decipher.final()]).toString("utf8")
  } catch {
    // Wrong padding.
    return undefined
  }
}
