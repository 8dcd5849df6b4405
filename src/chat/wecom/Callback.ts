/** Verifies and reads callbacks of WeCom: of applications (XML) and of bots (JSON). */
import { isRecent, refuse } from "../CallbackOutcome.ts"
import type { CallbackOutcome, CallbackReply, CallbackRequest, CallbackSecrets } from "../CallbackOutcome.ts"
import type { Inbound } from "../Inbound.ts"
import { parseJson, textAt } from "../platform/ReadJson.ts"
import { decodeKey, decrypt, isSigned } from "./Crypt.ts"
import { readAppMessage, readBotMessage } from "./Messages.ts"
import type { WecomBot } from "./Messages.ts"
import { childText, parseXml } from "./Xml.ts"

const empty: CallbackReply = { contentType: "text/plain; charset=utf-8", body: "" }

/** Differences between the two kinds of connections. */
export interface WecomForm {
  /** Returns the encrypted text of a body. */
  readonly encrypted: (body: string) => string | undefined
  /** Returns the message, undefined if it cannot be parsed. */
  readonly read: (message: string) => Inbound | undefined
}

export const appForm = (agentId: string): WecomForm => ({
  encrypted: (body) => {
    const xml = parseXml(body)
    return xml === undefined ? undefined : childText(xml, "Encrypt")
  },
  read: (message) => {
    const xml = parseXml(message)
    return xml === undefined ? undefined : readAppMessage(xml, agentId)
  }
})

export const botForm = (bot: WecomBot): WecomForm => ({
  encrypted: (body) => textAt(parseJson(body), ["encrypt"], 512 * 1024),
  read: (message) => {
    const json = parseJson(message)
    return json === undefined ? undefined : readBotMessage(json, bot)
  }
})

export const readWecomCallback =
  (form: WecomForm) =>
  ({ body, method, now, query }: CallbackRequest, { key, receivers, token }: CallbackSecrets): CallbackOutcome => {
    const timestamp = query.get("timestamp") ?? ""
    const nonce = query.get("nonce") ?? ""
    const signature = query.get("msg_signature") ?? ""
    if (signature === "" || timestamp === "" || nonce.length > 200) return refuse("signature")
    const encrypted =
      method === "GET" ? (query.get("echostr") ?? undefined) : form.encrypted(Buffer.from(body).toString("utf8"))
    if (encrypted === undefined) return refuse("malformed")
    if (!isSigned(token, { timestamp, nonce, encrypted, signature })) return refuse("signature")
    if (!isRecent(timestamp, now)) return refuse("stale")
    const aesKey = decodeKey(key)
    const decrypted = aesKey === undefined ? undefined : decrypt(aesKey, encrypted)
    if (decrypted === undefined) return refuse("malformed")
    if (!receivers.includes(decrypted.receiver)) return refuse("receiver")
    if (method === "GET") return { _tag: "Challenge", reply: { ...empty, body: decrypted.message } }
    const inbound = form.read(decrypted.message)
    return inbound === undefined ? refuse("malformed") : { _tag: "Received", inbound, reply: empty }
  }
