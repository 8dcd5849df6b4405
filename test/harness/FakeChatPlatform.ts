/**
 * The APIs of Feishu and WeCom that the service calls, with their rules: tokens that expire, keys that make a repeated message one message,
 * codes inside of status 400 or 200. Keeps the messages that people would see.
 */
import { createServer } from "node:http"
import type { IncomingMessage, ServerResponse } from "node:http"
import { FakeDirectory } from "./FakeDirectory.ts"
import { FakeFeishuSocket } from "./FakeFeishuSocket.ts"
import { FakeWecomSocket } from "./FakeWecomSocket.ts"

export interface SeenMessage {
  readonly id: string
  /** Message that it replies to, or person that gets it. */
  readonly to: string
  /** Texts, oldest first: more than one if it was edited. */
  readonly texts: Array<string>
  /** Ids and labels of its buttons. */
  buttons: ReadonlyArray<{ readonly id: string; readonly label: string }>
}

export type PlatformFault =
  | {
      readonly kind: "answer"
      readonly status: number
      readonly body: object
      readonly headers?: Record<string, string>
    }
  /** It gets no response. */
  | { readonly kind: "stall" }
  /** It is processed, and its response is lost. */
  | { readonly kind: "lost" }

export interface PlatformCallSeen {
  readonly method: string
  readonly path: string
  readonly body: Readonly<Record<string, unknown>>
}

export const botOpenId = "ou_bot"
export const platformSecrets = {
  feishu: "feishu-app-s3cret",
  wecom: "wecom-app-s3cret",
  wecomBot: "wecom-bot-s3cret"
} as const

const readBody = async (request: IncomingMessage): Promise<Record<string, unknown>> => {
  const chunks: Array<Buffer> = []
  for await (const chunk of request) chunks.push(Buffer.from(chunk))
  const text = Buffer.concat(chunks).toString("utf8")
  return text === "" ? {} : Object(JSON.parse(text))
}

const toMarkdown = (card: unknown): Pick<SeenMessage, "buttons"> & { readonly text: string } => {
  const elements: ReadonlyArray<Record<string, never>> = Object(Object(JSON.parse(String(card))).body).elements ?? []
  const text = elements.find(({ tag }) => tag === "markdown")?.["content"] ?? ""
  const buttons = elements
    .filter(({ tag }) => tag === "button")
    .map((button) => ({
      id: String(Object(Object(button["behaviors"])[0]).value.aicr),
      label: String(Object(button["text"]).content)
    }))
  return { text, buttons }
}

export class FakeChatPlatform implements AsyncDisposable {
  readonly messages: Array<SeenMessage> = []
  readonly calls: Array<PlatformCallSeen> = []
  readonly directory = new FakeDirectory()
  /** Queries of the calls without tokens and secrets. */
  readonly queries: Array<string> = []
  /** Permissions of the Feishu application. */
  scopes = ["im:message:send_as_bot", "im:message.group_at_msg:readonly", "im:message.p2p_msg:readonly"]
  /** Number of people in the visible range of the WeCom application. */
  visible = 3
  /** Called before each call. */
  decide: (call: PlatformCallSeen) => PlatformFault | undefined = () => undefined
  url = ""
  readonly feishuSocket = new FakeFeishuSocket(platformSecrets.feishu)
  readonly wecomSocket = new FakeWecomSocket(platformSecrets.wecomBot)
  readonly #keys = new Map<string, string>()
  readonly #tokens = new Set<string>()
  #made = 0
  #server = createServer((request, response) => void this.#handle(request, response))

  static async start(): Promise<FakeChatPlatform> {
    const platform = new FakeChatPlatform()
    platform.#server.on("upgrade", (request, socket, head) =>
      (request.url?.startsWith("/feishu-ws") === true ? platform.feishuSocket : platform.wecomSocket).accept(
        request,
        socket,
        head
      )
    )
    await new Promise<void>((resolve) => platform.#server.listen(0, "127.0.0.1", resolve))
    const address = platform.#server.address()
    platform.url = `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`
    return platform
  }

  /** Forgets the keys of messages, as after an hour. */
  forgetKeys(): void {
    this.#keys.clear()
  }

  /** Ends the tokens that are in use. */
  expireTokens(): void {
    this.#tokens.clear()
  }

  /** Lists the replies to a message of a person. */
  repliesTo(to: string): ReadonlyArray<SeenMessage> {
    return this.messages.filter((message) => message.to === to)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.feishuSocket.close()
    this.wecomSocket.close()
    this.#server.closeAllConnections()
    await new Promise<void>((resolve) => this.#server.close(() => resolve()))
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "/", "http://x")
    const body = await readBody(request)
    const call = { method: request.method ?? "", path: url.pathname, body }
    this.calls.push(call)
    const query = new URLSearchParams(url.searchParams)
    for (const secret of ["access_token", "corpsecret"]) query.delete(secret)
    this.queries.push(query.toString())
    const fault = this.decide(call)
    if (fault?.kind === "answer")
      return void response
        .writeHead(fault.status, { "content-type": "application/json", ...fault.headers })
        .end(JSON.stringify(fault.body))
    if (fault?.kind === "stall") return
    const token = request.headers.authorization?.replace("Bearer ", "") ?? url.searchParams.get("access_token") ?? ""
    const result = this.#respondTo(call, token, url)
    if (fault?.kind === "lost") return void request.socket.destroy()
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(result))
  }

  #respondTo(call: PlatformCallSeen, token: string, url: URL): object {
    if (call.path === "/callback/ws/endpoint") return this.feishuSocket.discover(this.url, call.body)
    return call.path.startsWith("/open-apis/") ? this.#feishu(call, token, url) : this.#wecom(call, token, url)
  }

  #token(): string {
    const token = `t-${++this.#made}`
    this.#tokens.add(token)
    return token
  }

  /** Keeps a message unless one with this key exists; returns its id. */
  #keep(to: string, text: string, key: string, buttons: SeenMessage["buttons"] = []): string {
    const known = this.#keys.get(key)
    if (known !== undefined) return known
    const id = `om_${++this.#made}`
    this.#keys.set(key, id)
    this.messages.push({ id, to, texts: [text], buttons })
    return id
  }

  #feishu({ body, method, path }: PlatformCallSeen, token: string, url: URL): object {
    if (path.endsWith("/tenant_access_token/internal"))
      return body["app_secret"] === platformSecrets.feishu
        ? { code: 0, tenant_access_token: this.#token(), expire: 7200 }
        : { code: 10_014, msg: "app secret invalid" }
    if (!this.#tokens.has(token)) return { code: 99_991_663, msg: "token invalid" }
    const listed = this.directory.feishu(path, url.searchParams)
    if (listed !== undefined) return listed
    if (path.endsWith("/bot/v3/info")) return { code: 0, bot: { open_id: botOpenId, app_name: "aicr" } }
    if (path.endsWith("/application/v6/scopes"))
      return { code: 0, data: { scopes: this.scopes.map((name) => ({ scope_name: name, grant_status: 1 })) } }
    if (Buffer.byteLength(JSON.stringify(body)) > 30_000) return { code: 230_025, msg: "message too long" }
    const id = path.split("/")[5] ?? ""
    const card = toMarkdown(body["content"])
    if (method === "PATCH") {
      const message = this.messages.find((one) => one.id === id)
      if (message === undefined) return { code: 230_001, msg: "no such message" }
      message.texts.push(card.text)
      message.buttons = card.buttons
      return { code: 0 }
    }
    const to = path.endsWith("/reply") ? id : String(body["receive_id"])
    return { code: 0, data: { message_id: this.#keep(to, card.text, `${body["uuid"]}`, card.buttons) } }
  }

  #wecom({ body, path }: PlatformCallSeen, token: string, url: URL): object {
    const content = String(Object(body["markdown"]).content)
    if (path === "/cgi-bin/gettoken")
      return url.searchParams.get("corpsecret") === platformSecrets.wecom
        ? { errcode: 0, access_token: this.#token(), expires_in: 7200 }
        : { errcode: 40_001, errmsg: "invalid credential" }
    if (path === "/response") return this.#respond(url.searchParams.get("code") ?? "", content)
    if (!this.#tokens.has(token)) return { errcode: 42_001, errmsg: "access_token expired" }
    const listed = this.directory.wecom(path, url.searchParams)
    if (listed !== undefined) return listed
    if (path === "/cgi-bin/agent/get") {
      const user = Array.from({ length: this.visible }, (_, index) => ({ userid: `u${index}` }))
      return {
        errcode: 0,
        close: 0,
        allow_userinfos: { user },
        allow_partys: { partyid: [] },
        allow_tags: { tagid: [] }
      }
    }
    if (Buffer.byteLength(content) > 2048) return { errcode: 45_002, errmsg: "content size out of limit" }
    if (path === "/cgi-bin/appchat/send") {
      this.#keep(String(body["chatid"]), content, `${this.#made}`)
      return { errcode: 0 }
    }
    const key = body["enable_duplicate_check"] === 1 ? JSON.stringify(body) : `${this.#made}`
    const recipients = [body["touser"], body["toparty"], body["totag"]].filter((ids) => ids !== undefined && ids !== "")
    return { errcode: 0, msgid: this.#keep(recipients.join(" "), content, key) }
  }

  /** An address of a callback takes one message. */
  #respond(code: string, content: string): object {
    if (this.#keys.has(`response ${code}`)) return { errcode: 93_000, errmsg: "response_url was used" }
    this.#keep(code, content, `response ${code}`)
    return { errcode: 0 }
  }
}
