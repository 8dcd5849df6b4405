/**
 * Signatures and encryption of WeCom callbacks (developer.work.weixin.qq.com, 90968): SHA-1 over the sorted parts; AES-256-CBC with the IV
 * taken from the key, over 16 random bytes, the length of the message (4 bytes, big endian), the message and the receiver, padded to 32.
 */
import { createDecipheriv, createHash } from "node:crypto"
import { Redacted } from "effect"
import { isSameText } from "../platform/SameText.ts"

const blockBytes = 32
const headBytes = 20

export const sign = (token: Redacted.Redacted, timestamp: string, nonce: string, encrypted: string): string =>
  createHash("sha1")
    .update([Redacted.value(token), timestamp, nonce, encrypted].toSorted().join(""))
    .digest("hex")

export const isSigned = (
  token: Redacted.Redacted,
  parts: { readonly timestamp: string; readonly nonce: string; readonly encrypted: string; readonly signature: string }
): boolean => isSameText(sign(token, parts.timestamp, parts.nonce, parts.encrypted), parts.signature.toLowerCase())

/** Returns the 32 bytes of an EncodingAESKey; undefined if it is not one. */
export const decodeKey = (key: Redacted.Redacted): Buffer | undefined => {
  const text = Redacted.value(key)
  if (!/^[A-Za-z0-9+/]{43}$/.test(text)) return undefined
  return Buffer.from(`${text}=`, "base64")
}

interface Decrypted {
  readonly message: string
  readonly receiver: string
}

/** Removes the padding (PKCS#7 to 32 bytes); undefined if it is wrong. */
const withoutPadding = (padded: Buffer): Buffer | undefined => {
  const pad = padded.at(-1) ?? 0
  if (pad < 1 || pad > blockBytes || pad > padded.length) return undefined
  for (const byte of padded.subarray(padded.length - pad)) if (byte !== pad) return undefined
  return padded.subarray(0, padded.length - pad)
}

/** Decrypts a verified text. Undefined if it is malformed or was encrypted with another key. */
export const decrypt = (key: Buffer, encrypted: string): Decrypted | undefined => {
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(encrypted)) return undefined
  const bytes = Buffer.from(encrypted, "base64")
  if (bytes.length === 0 || bytes.length % 16 !== 0) return undefined
  const decipher = createDecipheriv("aes-256-cbc", key, key.subarray(0, 16)).setAutoPadding(false)
  const plain = withoutPadding(Buffer.concat([decipher.update(bytes), decipher.final()]))
  if (plain === undefined || plain.length < headBytes) return undefined
  const end = headBytes + plain.readUInt32BE(16)
  if (end > plain.length) return undefined
  return { message: plain.toString("utf8", headBytes, end), receiver: plain.toString("utf8", end) }
}
