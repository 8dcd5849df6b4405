/**
 * The Web API of Slack and its long connections (Socket Mode) with their rules: addresses that are used once, envelopes that are delivered
 * again on another connection when no acknowledgement comes in time, refused messages beyond the limits of blocks. Keeps the messages that people would see.
 */
import { randomUUID } from "node:crypto"
import { createServer } from "node:http"
import type { IncomingMessage, ServerResponse } from "node:http"
import { WebSocketServer } from "ws"
import type { WebSocket } from "ws"
import { field, isObject, isText } from "./Fields.ts"

export const slackTokens = { app: "xapp-1-A1-s3cret", bot: "xoxb-1-s3cret" } as const

/** Scopes of the manifest in docs/chat-slack.md. */
const slackScopes =
  "app_mentions:read chat:write im:history im:write channels:history groups:history channels:read groups:read usergroups:read".split(
    " "
  )

interface SlackMessageSeen {
  readonly channel: string
  readonly thread: string | undefined
  readonly ts: string
  readonly texts: Array<string>
  readonly buttons: Array<string>
  readonly metadata: unknown
}

/** `lost`: the call is executed, and its response is lost. */
type SlackFault = "lost" | { readonly status: number; readonly body: object; readonly headers?: Record<string, string> }

const maxBlocks = 50
const maxSection = 3000
const maxAll = 13_200

const blocksOf = (body: object): ReadonlyArray<unknown> => {
  const { blocks } = Object(body)
  return Array.isArray(blocks) ? blocks : []
}
const sectionText = (block: unknown): string => field(field(block, "text", isObject), "text", isText) ?? ""

/** Returns the error of a message that Slack refuses. */
const refusal = (body: object): string | undefined => {
  const blocks = blocksOf(body)
  const texts = blocks.map(sectionText)
  if (blocks.length > maxBlocks || texts.some((text) => text.length > maxSection)) return "invalid_blocks"
  return texts.join("").length > maxAll ? "msg_blocks_too_long" : undefined
}

const readBody = async (request: IncomingMessage): Promise<object> => {
  const chunks: Array<Buffer> = []
  for await (const chunk of request) chunks.push(Buffer.from(chunk))
  const text = Buffer.concat(chunks).toString("utf8")
  if (text.startsWith("{")) return Object(JSON.parse(text))
  // Forms have JSON in their fields.
  return Object.fromEntries(
    [...new URLSearchParams(text)].map(([name, value]) => [name, /^[[{]/.test(value) ? JSON.parse(value) : value])
  )
}

export class FakeSlack implements AsyncDisposable {
  readonly messages: Array<SlackMessageSeen> = []
  /** Methods that were called. */
  readonly calls: Array<string> = []
  /** Called before each method. */
  decide: (method: string, body: object) => SlackFault | undefined = () => undefined
  /** Members by channel or user group. */
  members: Readonly<Record<string, ReadonlyArray<string>>> = {}
  /** Milliseconds in which an envelope has to be acknowledged. */
  ackMillis = 3000
  isSocketMode = true
  /** Scopes of the bot token, which Slack names in the header of each response. */
  scopes: ReadonlyArray<string> = slackScopes
  url = ""
  /** Connections that were opened. */
  opened = 0
  readonly #server = createServer((request, response) => void this.#handle(request, response))
  readonly #sockets = new WebSocketServer({ noServer: true })
  readonly #tickets = new Set<string>()
  readonly #open = new Set<WebSocket>()
  readonly #waiting = new Map<string, () => void>()
  #ts = 0

  static async start(): Promise<FakeSlack> {
    const slack = new FakeSlack()
    slack.#server.on("upgrade", (request, socket, head) => {
      const ticket = new URL(request.url ?? "/", "http://x").searchParams.get("ticket") ?? ""
      if (!slack.#tickets.delete(ticket)) return void socket.end("HTTP/1.1 400 Bad Request\r\n\r\n")
      slack.#sockets.handleUpgrade(request, socket, head, (connection) => slack.#accept(connection))
    })
    await new Promise<void>((resolve) => slack.#server.listen(0, "127.0.0.1", resolve))
    const address = slack.#server.address()
    slack.url = `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`
    return slack
  }

  get connections(): number {
    return this.#open.size
  }

  /** Delivers an envelope until it is acknowledged, at most four times. Returns the number of deliveries; undefined if none was acknowledged. */
  async deliver(type: string, payload: object): Promise<number | undefined> {
    const envelope_id = randomUUID()
    for (let attempt = 0; attempt < 4; attempt++) {
      const connections = [...this.#open]
      const connection = connections[Math.floor(Math.random() * connections.length)]
      const acknowledged = new Promise<boolean>((resolve) => {
        this.#waiting.set(envelope_id, () => resolve(true))
        setTimeout(resolve, this.ackMillis, false)
      })
      connection?.send(
        JSON.stringify({ envelope_id, type, payload, accepts_response_payload: false, retry_attempt: attempt })
      )
      if (await acknowledged) return attempt + 1
    }
    return undefined
  }

  /** Delivers a message of a person that mentions the bot, or one to the bot alone. */
  write(ts: string, text: string, { channel = "C1", user = "UADA", thread = undefined as string | undefined } = {}) {
    const isDirect = channel.startsWith("D")
    const event = {
      type: isDirect ? "message" : "app_mention",
      user,
      text: isDirect ? text : `<@UBOT> ${text}`,
      ts,
      channel,
      ...(isDirect ? { channel_type: "im" } : {}),
      ...(thread === undefined ? {} : { thread_ts: thread })
    }
    return this.deliver("events_api", {
      type: "event_callback",
      api_app_id: "A1",
      event_id: `Ev${randomUUID()}`,
      event
    })
  }

  press(value: string, { channel = "C1", user = "UADA", ts = "1.1", at = "1.5" } = {}) {
    const actions = [{ type: "button", action_id: "aicr_0", value, action_ts: at }]
    const message = { ts, thread_ts: ts }
    return this.deliver("interactive", {
      type: "block_actions",
      api_app_id: "A1",
      user: { id: user },
      channel: { id: channel },
      message,
      actions
    })
  }

  /** Announces the end of the open connections, and ends them a moment later, as Slack does. */
  refresh(millis = 200): void {
    for (const connection of this.#open) {
      connection.send(JSON.stringify({ type: "disconnect", reason: "refresh_requested", debug_info: {} }))
      setTimeout(() => connection.close(), millis).unref()
    }
  }

  /** Switches Socket Mode off. */
  switchOff(): void {
    this.isSocketMode = false
    for (const connection of this.#open)
      connection.send(JSON.stringify({ type: "disconnect", reason: "link_disabled" }))
  }

  /** Reads nothing more, and responds to no ping. */
  freeze(): void {
    for (const connection of this.#open) connection.pause()
  }

  /** Ends the connections without a notice. */
  cut(): void {
    for (const connection of this.#open) connection.terminate()
  }

  repliesTo(thread: string): ReadonlyArray<SlackMessageSeen> {
    return this.messages.filter((message) => message.thread === thread)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.cut()
    this.#sockets.close()
    this.#server.closeAllConnections()
    await new Promise<void>((resolve) => this.#server.close(() => resolve()))
  }

  #accept(connection: WebSocket): void {
    this.opened += 1
    this.#open.add(connection)
    connection.on("close", () => this.#open.delete(connection))
    connection.on("error", () => {})
    connection.on("message", (data: Buffer) => {
      const id = field(JSON.parse(data.toString("utf8")), "envelope_id", isText) ?? ""
      this.#waiting.get(id)?.()
      this.#waiting.delete(id)
    })
    connection.send(
      JSON.stringify({ type: "hello", num_connections: this.#open.size, debug_info: { host: "applink-1" } })
    )
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "/", "http://x")
    const method = url.pathname.replace(/^\//, "")
    const body = await readBody(request)
    this.calls.push(method)
    const fault = this.decide(method, body)
    if (typeof fault === "object")
      return void response
        .writeHead(fault.status, { "content-type": "application/json", ...fault.headers })
        .end(JSON.stringify(fault.body))
    const token = request.headers.authorization?.replace("Bearer ", "") ?? ""
    const result = this.#respond(method, token, body, url.searchParams)
    if (fault === "lost") return void request.socket.destroy()
    response
      .writeHead(200, { "content-type": "application/json", "x-oauth-scopes": this.scopes.join(",") })
      .end(JSON.stringify(result))
  }

  #respond(method: string, token: string, body: object, query: URLSearchParams): object {
    const expected = method === "apps.connections.open" ? slackTokens.app : slackTokens.bot
    if (token !== expected)
      return { ok: false, error: token.startsWith("x") ? "not_allowed_token_type" : "invalid_auth" }
    switch (method) {
      case "apps.connections.open":
        return this.#connect()
      case "auth.test":
        return { ok: true, user: "aicr", team: "Team", user_id: "UBOT", bot_id: "B1" }
      case "chat.postMessage":
        return this.#post(body)
      case "chat.update":
        return this.#update(body)
      case "conversations.open":
        return { ok: true, channel: { id: `D${String(Object(body).users)}` } }
      case "conversations.history":
      case "conversations.replies":
        return this.#list(query)
      case "conversations.members":
        return this.#listMembers(query)
      case "usergroups.users.list":
        return { ok: true, users: this.members[query.get("usergroup") ?? ""] ?? [] }
      default:
        return { ok: false, error: "unknown_method" }
    }
  }

  #connect(): object {
    if (!this.isSocketMode) return { ok: false, error: "not_allowed_token_type" }
    const ticket = randomUUID()
    this.#tickets.add(ticket)
    return { ok: true, url: `${this.url.replace("http", "ws")}/link/?ticket=${ticket}&app_id=A1` }
  }

  #post(body: object): object {
    const error = refusal(body)
    if (error !== undefined) return { ok: false, error }
    const { channel, metadata, thread_ts: thread } = Object(body)
    const ts = `100.${++this.#ts}`
    this.messages.push({ channel, thread, ts, texts: [], buttons: [], metadata })
    this.#show(ts, body)
    return { ok: true, channel, ts }
  }

  #update(body: object): object {
    const error = refusal(body)
    if (error !== undefined) return { ok: false, error }
    return this.#show(String(Object(body).ts), body) ? { ok: true } : { ok: false, error: "message_not_found" }
  }

  #show(ts: string, body: object): boolean {
    const message = this.messages.find((one) => one.ts === ts)
    if (message === undefined) return false
    message.texts.push(
      blocksOf(body)
        .map(sectionText)
        .filter((text) => text !== "")
        .join("\n")
    )
    const elements = blocksOf(body).flatMap((block) =>
      Array.isArray(Object(block).elements) ? Object(block).elements : []
    )
    message.buttons.splice(0, Infinity, ...elements.map((element) => String(Object(element).value)))
    return true
  }

  #list(query: URLSearchParams): object {
    const [channel, thread] = [query.get("channel"), query.get("ts")]
    const withMetadata = query.get("include_all_metadata") === "true"
    const found = this.messages.filter((one) => one.channel === channel && (thread === null || one.thread === thread))
    return { ok: true, messages: found.map(({ metadata, ts }) => (withMetadata ? { ts, metadata } : { ts })) }
  }

  /** Pages of two. */
  #listMembers(query: URLSearchParams): object {
    const all = this.members[query.get("channel") ?? ""] ?? []
    const from = Number(query.get("cursor") || 0)
    const next = from + 2 < all.length ? String(from + 2) : ""
    return { ok: true, members: all.slice(from, from + 2), response_metadata: { next_cursor: next } }
  }
}
