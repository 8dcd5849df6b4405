/**
 * The chat of the demo: a platform on this machine with the API of Feishu, a binding for one person, and what this person requests there. No
 * message leaves the machine.
 */
import { Effect } from "effect"
import { randomBytes } from "node:crypto"
import { createServer } from "node:http"
import type { IncomingMessage, ServerResponse } from "node:http"
import { setTimeout as sleep } from "node:timers/promises"
import { DemoFeishu } from "./DemoFeishu.ts"
import { feishuMessagePayload, sendFeishuEvent } from "./DemoFeishuEvents.ts"
import { readBody } from "./ReadBody.ts"

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
