/**
 * The APIs of Feishu and WeCom that the service calls, with their rules: tokens that expire, keys that make a repeated message one message,
 * codes inside of status 400 or 200. Keeps the messages that people would see.
 */
import { createServer } from "node:http"
import type { IncomingMessage, ServerResponse } from "node:http"
import type { Socket } from "node:net"
import { DemoFeishu } from "../../demo/DemoFeishu.ts"
import type { PlatformCallSeen, SeenMessage } from "../../demo/DemoFeishu.ts"
import { FakeDirectory } from "./FakeDirectory.ts"
import { FakeFeishuSocket } from "./FakeFeishuSocket.ts"
import { FakeWecomSocket } from "./FakeWecomSocket.ts"
import { readTemplateCard } from "./TemplateCard.ts"

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

export class FakeChatPlatform implements AsyncDisposable {
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
  readonly #feishuApi = new DemoFeishu(platformSecrets.feishu)
  readonly #tasks = new Set<string>()
  readonly #stalled: Array<Socket> = []
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

  get messages(): Array<SeenMessage> {
    return this.#feishuApi.messages
  }

  /** Forgets the keys of messages, as after an hour. */
  forgetKeys(): void {
    this.#feishuApi.forgetKeys()
  }

  /** Ends the tokens that are in use. */
  expireTokens(): void {
    this.#feishuApi.expireTokens()
  }

  /** Ends the connections of calls that got no response. */
  endStalled(): void {
    for (const socket of this.#stalled.splice(0)) socket.destroy()
  }

  /** Lists the replies to a message of a person. */
  repliesTo(to: string): ReadonlyArray<SeenMessage> {
    return this.#feishuApi.repliesTo(to)
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
    if (fault?.kind === "stall") return void this.#stalled.push(request.socket)
    const token = request.headers.authorization?.replace("Bearer ", "") ?? url.searchParams.get("access_token") ?? ""
    const result = this.#respondTo(call, token, url)
    if (fault?.kind === "lost") return void request.socket.destroy()
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(result))
  }

  #respondTo(call: PlatformCallSeen, token: string, url: URL): object {
    if (call.path === "/callback/ws/endpoint") return this.feishuSocket.discover(this.url, call.body)
    return call.path.startsWith("/open-apis/") ? this.#feishu(call, token, url) : this.#wecom(call, token, url)
  }

  #feishu(call: PlatformCallSeen, token: string, url: URL): object {
    const { path } = call
    if (this.#feishuApi.isToken(token)) {
      const listed = this.directory.feishu(path, url.searchParams)
      if (listed !== undefined) return listed
      if (path.endsWith("/application/v6/scopes"))
        return { code: 0, data: { scopes: this.scopes.map((name) => ({ scope_name: name, grant_status: 1 })) } }
    }
    return this.#feishuApi.respond(call, token)
  }

  #wecom({ body, path }: PlatformCallSeen, token: string, url: URL): object {
    const content = String(Object(body["markdown"]).content)
    if (path === "/cgi-bin/gettoken")
      return url.searchParams.get("corpsecret") === platformSecrets.wecom
        ? { errcode: 0, access_token: this.#feishuApi.issueToken(), expires_in: 7200 }
        : { errcode: 40_001, errmsg: "invalid credential" }
    if (path === "/response") return this.#respond(url.searchParams.get("code") ?? "", content)
    if (!this.#feishuApi.isToken(token)) return { errcode: 42_001, errmsg: "access_token expired" }
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
    if (path === "/cgi-bin/message/send" && body["msgtype"] === "template_card") return this.#keepCard(body)
    if (Buffer.byteLength(content) > 2048) return { errcode: 45_002, errmsg: "content size out of limit" }
    if (path === "/cgi-bin/appchat/send") {
      this.#feishuApi.keep(String(body["chatid"]), content, this.#feishuApi.nextKey())
      return { errcode: 0 }
    }
    const key = body["enable_duplicate_check"] === 1 ? JSON.stringify(body) : this.#feishuApi.nextKey()
    const recipients = [body["touser"], body["toparty"], body["totag"]].filter((ids) => ids !== undefined && ids !== "")
    return { errcode: 0, msgid: this.#feishuApi.keep(recipients.join(" "), content, key) }
  }

  /** A repeated request is one card. */
  #keepCard(body: Readonly<Record<string, unknown>>): object {
    const key = JSON.stringify(body)
    const card = this.#feishuApi.hasKey(key) ? undefined : readTemplateCard(body["template_card"], this.#tasks)
    if (card === undefined && !this.#feishuApi.hasKey(key)) return { errcode: 42_016, errmsg: "invalid template card" }
    const text = `card: ${card?.title ?? ""}`
    return { errcode: 0, msgid: this.#feishuApi.keep(String(body["touser"]), text, key, card?.buttons) }
  }

  /** An address of a callback takes one message. */
  #respond(code: string, content: string): object {
    if (this.#feishuApi.hasKey(`response ${code}`)) return { errcode: 93_000, errmsg: "response_url was used" }
    this.#feishuApi.keep(code, content, `response ${code}`)
    return { errcode: 0 }
  }
}
