/** Verifies and reads callbacks of Feishu and Lark. An event must be signed; the challenge has no signature and is verified by its token. */
import { isRecent, refuse } from "../CallbackOutcome.ts"
import type { CallbackOutcome, CallbackReply, CallbackRequest, CallbackSecrets } from "../CallbackOutcome.ts"
import { objectAt, parseJson, textAt } from "../platform/ReadJson.ts"
import type { JsonObject } from "../platform/ReadJson.ts"
import { isSameText } from "../platform/SameText.ts"
import { Redacted } from "effect"
import { readEvent } from "./Messages.ts"
import { createDecipheriv, createHash } from "node:crypto"

/** Signatures and encryption of Feishu callbacks: SHA-256 over the raw body, AES-256-CBC with the hashed encrypt key and the IV in front. */
export const sign = (key: Redacted.Redacted, timestamp: string, nonce: string, body: Uint8Array): string =>
  createHash("sha256")
    .update(`${timestamp}${nonce}${Redacted.value(key)}`)
    .update(body)
    .digest("hex")

const isSigned = (
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

const json = (body: object): CallbackReply => ({
  contentType: "application/json; charset=utf-8",
  body: JSON.stringify(body)
})

const header = (headers: CallbackRequest["headers"], name: string): string => {
  const value = headers[name]
  return typeof value === "string" ? value : ""
}

const challenge = (payload: JsonObject, token: Redacted.Redacted): CallbackOutcome => {
  const text = textAt(payload, ["challenge"])
  if (!isSameText(textAt(payload, ["token"]) ?? "", Redacted.value(token))) return refuse("signature")
  return text === undefined ? refuse("malformed") : { _tag: "Challenge", reply: json({ challenge: text }) }
}

export const readFeishuCallback = (
  { body, headers, method, now }: CallbackRequest,
  { key, receivers, tenant, token }: CallbackSecrets
): CallbackOutcome => {
  if (method === "GET") return refuse("signature")
  const signature = header(headers, "x-lark-signature")
  const timestamp = header(headers, "x-lark-request-timestamp")
  const nonce = header(headers, "x-lark-request-nonce")
  const signed = signature !== "" && nonce.length <= 200 && isSigned(key, { timestamp, nonce, signature }, body)
  if (signature !== "" && !signed) return refuse("signature")
  const outer = parseJson(Buffer.from(body).toString("utf8"))
  const encrypted = textAt(outer, ["encrypt"], 512 * 1024)
  const plain = encrypted === undefined ? undefined : decrypt(key, encrypted)
  if (encrypted !== undefined && plain === undefined) return refuse(signed ? "malformed" : "signature")
  const payload = plain === undefined ? outer : parseJson(plain)
  if (payload === undefined) return refuse(signed ? "malformed" : "signature")
  if (textAt(payload, ["type"]) === "url_verification") return challenge(payload, token)
  // An event in clear, although encryption is configured, is not of the platform.
  if (!signed || encrypted === undefined) return refuse("signature")
  if (!isRecent(timestamp, now)) return refuse("stale")
  if (!isSameText(textAt(objectAt(payload, "header"), ["token"]) ?? "", Redacted.value(token)))
    return refuse("signature")
  return { _tag: "Received", inbound: readEvent(payload, receivers[0] ?? "", tenant), reply: json({}) }
}
