/** Signs and encrypts callbacks as WeCom does, with code of its own over node:crypto. */
import { createCipheriv, createHash, randomBytes } from "node:crypto"

export const wecomKey = "jWmYm7qr5nMoAUwZRjGtBxmz3KA1tkAj3ykkR6q2B2C"

const pad = (bytes: Buffer): Buffer => {
  const length = 32 - (bytes.length % 32)
  return Buffer.concat([bytes, Buffer.alloc(length, length)])
}

export const encryptWecom = (key: string, message: string, receiver: string): string => {
  const aes = Buffer.from(`${key}=`, "base64")
  const length = Buffer.alloc(4)
  length.writeUInt32BE(Buffer.byteLength(message))
  const plain = pad(Buffer.concat([randomBytes(16), length, Buffer.from(message), Buffer.from(receiver)]))
  const cipher = createCipheriv("aes-256-cbc", aes, aes.subarray(0, 16)).setAutoPadding(false)
  return Buffer.concat([cipher.update(plain), cipher.final()]).toString("base64")
}

/** Returns the query of a signed request of WeCom. */
export const wecomQuery = (token: string, encrypted: string, seconds: number, nonce = "n0nce"): URLSearchParams =>
  new URLSearchParams({
    timestamp: String(seconds),
    nonce,
    msg_signature: createHash("sha1")
      .update([token, String(seconds), nonce, encrypted].toSorted().join(""))
      .digest("hex")
  })
