/** Events of Feishu about people, and their delivery: encrypted and signed as the platform does it, with code of its own over node:crypto. */
import { createCipheriv, createHash, randomBytes } from "node:crypto"
import { botOpenId } from "./DemoFeishu.ts"

export interface Delivered {
  readonly status: number
  readonly body: string
}

export const encryptFeishu = (key: string, plain: string): string => {
  const iv = randomBytes(16)
  const cipher = createCipheriv("aes-256-cbc", createHash("sha256").update(key).digest(), iv)
  return Buffer.concat([iv, cipher.update(plain), cipher.final()]).toString("base64")
}

export const feishuHeaders = (key: string, body: string, seconds: number, nonce = "n0nce"): Record<string, string> => ({
  "content-type": "application/json",
  "x-lark-request-timestamp": String(seconds),
  "x-lark-request-nonce": nonce,
  "x-lark-signature": createHash("sha256").update(`${seconds}${nonce}${key}${body}`).digest("hex")
})

export const feishuPayload = (token: string, eventId: string, type: string, event: object): string =>
  JSON.stringify({
    schema: "2.0",
    header: {
      event_id: eventId,
      event_type: type,
      token,
      app_id: "cli_a",
      tenant_key: "t",
      create_time: `${Date.now()}`
    },
    event
  })

export interface FeishuMessageOptions {
  readonly chat?: string
  readonly from?: string
  readonly mention?: boolean
  readonly eventId?: string
}

/** Returns the request of a message: `id` is that of the message, and each delivery is another event. */
export const feishuMessagePayload = (
  token: string,
  id: string,
  text: string,
  { chat = "oc_team", from = "ou_ada", mention = true, eventId = `${id}-${Math.random()}` }: FeishuMessageOptions = {}
): string =>
  feishuPayload(token, eventId, "im.message.receive_v1", {
    sender: { sender_id: { open_id: from }, sender_type: "user" },
    message: {
      message_id: id,
      chat_id: chat,
      chat_type: chat.startsWith("oc_p2p") ? "p2p" : "group",
      message_type: "text",
      content: JSON.stringify({ text: mention ? `@_user_1 ${text}` : text }),
      mentions: mention ? [{ key: "@_user_1", id: { open_id: botOpenId }, name: "aicr" }] : []
    }
  })

export const sendFeishuEvent = async (url: string, encryptKey: string, payload: string): Promise<Delivered> => {
  const body = JSON.stringify({ encrypt: encryptFeishu(encryptKey, payload) })
  const headers = feishuHeaders(encryptKey, body, Math.floor(Date.now() / 1000))
  const response = await fetch(url, { method: "POST", body, headers })
  return { status: response.status, body: await response.text() }
}
