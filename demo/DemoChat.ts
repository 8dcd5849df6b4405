/**
 * The chat of the demo: a platform on this machine with the API of Feishu, a binding for one person, and what this person requests there. No
 * message leaves the machine.
 */
import { Effect } from "effect"
import { randomBytes, createCipheriv, createHash } from "node:crypto"
import { createServer } from "node:http"
import type { IncomingMessage, ServerResponse } from "node:http"
import { setTimeout as sleep } from "node:timers/promises"
import { DemoFeishu, botOpenId } from "./DemoFeishu.ts"
import { readBody } from "./ReadBody.ts"

/** Events of Feishu about people, and their delivery: encrypted and signed as the platform does it, with code of its own over node:crypto. */
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

/** Name of the connection. */
const connection = "chat"
const alias = "parcels"
const group = "oc_parcels"
const variables = {
  app: "AICR_DEMO_CHAT_SECRET",
  token: "AICR_DEMO_CHAT_TOKEN",
  encryptKey: "AICR_DEMO_CHAT_ENCRYPT_KEY"
} as const

const maxBodyBytes = 256 * 1024
/** Time for one reply. */
const maxWaitMillis = 60_000
const pollMillis = 50

export interface DemoChat {
  readonly url: string
  readonly feishu: DemoFeishu
  /** Variables that the configuration names. */
  readonly env: Readonly<Record<string, string>>
}

const respond = async (feishu: DemoFeishu, request: IncomingMessage, response: ServerResponse): Promise<void> => {
  const body = await readBody(request, maxBodyBytes)
  if (body === undefined) return void response.writeHead(413).end()
  const { pathname: path } = new URL(request.url ?? "/", "http://chat")
  const token = request.headers.authorization?.replace("Bearer ", "") ?? ""
  const parsed = body.length === 0 ? {} : Object(JSON.parse(body.toString("utf8")))
  const result = feishu.respond({ method: request.method ?? "", path, body: parsed }, token)
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(result))
}

export const startDemoChat = Effect.gen(function* () {
  const secret = () => randomBytes(20).toString("hex")
  const env = { [variables.app]: secret(), [variables.token]: secret(), [variables.encryptKey]: secret() }
  const feishu = new DemoFeishu(env[variables.app] ?? "")
  const server = yield* Effect.acquireRelease(
    Effect.sync(() =>
      createServer((request, response) => {
        respond(feishu, request, response).catch(() => response.destroy())
      })
    ),
    (started) =>
      Effect.promise(
        () =>
          new Promise<void>((resolve) => {
            started.close(() => resolve())
            started.closeAllConnections()
          })
      )
  )
  yield* Effect.promise(() => new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve)))
  const address = server.address()
  const port = typeof address === "object" && address !== null ? address.port : 0
  return { url: `http://127.0.0.1:${port}`, feishu, env } satisfies DemoChat
})

/** The section `im` of the configuration. */
export const chatDocument = (url: string, person: string) => ({
  connections: {
    [connection]: {
      kind: "feishu_app",
      app_id: "cli_a",
      app_secret_env: variables.app,
      base_url: url,
      callback: { enabled: true, verification_token_env: variables.token, encrypt_key_env: variables.encryptKey }
    }
  },
  command_bindings: {
    team: {
      enabled: true,
      connection,
      actors: [{ type: "feishu_open_id", id: `ou_${person}` }],
      conversations: [{ kind: "group", id: group }],
      commands: ["help", "projects", "review", "status", "cancel", "prs", "prdetail", "queue", "running"],
      repositories: { [alias]: { workspace: "demo" } }
    }
  }
})

/**
 * Sends the messages of a person one after another: it lists the repositories, requests a review of the draft, which the webhook did not start,
 * follows it, and misspells a command.
 */
export const holdConversation = async (
  { env, feishu }: DemoChat,
  serviceUrl: string,
  { draft, person }: { readonly draft: number; readonly person: string }
): Promise<void> => {
  let sent = 0
  const request = async (text: string, isDone: (reply: string) => boolean): Promise<string> => {
    const id = `om_person_${++sent}`
    const payload = feishuMessagePayload(env[variables.token] ?? "", id, text, { chat: group, from: `ou_${person}` })
    const key = env[variables.encryptKey] ?? ""
    const { status } = await sendFeishuEvent(`${serviceUrl}/callbacks/im/${connection}`, key, payload)
    if (status !== 200) throw new Error(`a message of the chat was refused with status ${status}`)
    for (const end = Date.now() + maxWaitMillis; Date.now() < end; await sleep(pollMillis)) {
      const reply = feishu.repliesTo(id)[0]?.texts.at(-1)
      if (reply !== undefined && isDone(reply)) return feishu.repliesTo(id)[0]?.texts[0] ?? ""
    }
    throw new Error(`a message of the chat got no reply within ${maxWaitMillis / 1000} s`)
  }
  const anything = () => true
  await request("projects", anything)
  const queued = await request(`review ${alias} ${draft}`, (reply) => /ended/.test(reply))
  await request(`status ${/Id: (\S+)/.exec(queued)?.[1] ?? ""}`, anything)
  await request("reviev parcels", anything)
}
