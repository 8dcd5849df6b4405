/**
 * The long connections of WeCom's bots: one per bot, so that a second one ends the first; replies that belong to a message of a person, and
 * replace their text while their stream is open; acknowledgements that are late or lost; limits of messages.
 */
import { randomUUID } from "node:crypto"
import type { IncomingMessage } from "node:http"
import type { Duplex } from "node:stream"
import { WebSocketServer } from "ws"
import type { WebSocket } from "ws"
import { field, isObject, isText } from "./Fields.ts"
import { readTemplateCard } from "./TemplateCard.ts"
import type { TemplateCard } from "./TemplateCard.ts"

export interface WecomReply {
  /** Message of a person that it replies to, or conversation that it was pushed into. */
  readonly to: string
  readonly texts: Array<string>
  isFinished: boolean
}

/**
 * `late`: this acknowledgement and all after it come after so many milliseconds. `cmd`: a frame with this command and the id of the request
 * comes instead.
 */
export type WecomFault = { readonly late: number } | "lost" | { readonly errcode: number } | { readonly cmd: string }

const ok = { errcode: 0, errmsg: "ok" }

/** The part of an event that names its sender in a group. */
const inGroup = (bot: string, { chat, from, id }: Record<"chat" | "from" | "id", string>) => ({
  msgid: id,
  aibotid: bot,
  chatid: chat,
  chattype: "group",
  from: { userid: from }
})

export class FakeWecomSocket {
  readonly replies: Array<WecomReply> = []
  /** Commands that arrived, with their bodies. */
  readonly commands: Array<{ readonly command: string; readonly body: unknown }> = []
  /** Decides about a command other than a ping. */
  decide: (command: string, body: unknown) => WecomFault | undefined = () => undefined
  /** Cards that were pushed into conversations. */
  readonly cards: Array<TemplateCard & { readonly to: string }> = []
  readonly #tasks = new Set<string>()
  isSilent = false
  subscriptions = 0
  #acknowledged: Promise<void> = Promise.resolve()
  readonly #server = new WebSocketServer({ noServer: true })
  readonly #secret: string
  readonly #bots = new Map<string, WebSocket>()
  readonly #sockets = new Set<WebSocket>()
  /** Request ids of delivered messages, with the message. */
  readonly #requests = new Map<string, string>()
  readonly #streams = new Map<string, WecomReply>()
  readonly #chats = new Set<string>()

  constructor(secret: string) {
    this.#secret = secret
  }

  accept(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    this.#server.handleUpgrade(request, socket, head, (connection) => {
      this.#sockets.add(connection)
      connection.on("close", () => {
        this.#sockets.delete(connection)
        for (const [bot, known] of this.#bots) if (known === connection) this.#bots.delete(bot)
      })
      connection.on("error", () => {})
      connection.on("message", (data: Buffer) => this.#receive(connection, JSON.parse(data.toString("utf8"))))
    })
  }

  isSubscribed(bot: string): boolean {
    return this.#bots.has(bot)
  }

  /** Delivers a message of a person to the bot. False if the bot is not connected. */
  deliver(
    bot: string,
    { chat = "g1", from = "ada", id, text }: Record<"id" | "text", string> & { chat?: string; from?: string }
  ): boolean {
    const connection = this.#bots.get(bot)
    if (connection === undefined || this.isSilent) return false
    const requestId = randomUUID()
    this.#requests.set(requestId, id)
    this.#chats.add(chat)
    const body = {
      ...inGroup(bot, { chat, from, id }),
      msgtype: "text",
      text: { content: `@aicr ${text}` }
    }
    connection.send(JSON.stringify({ cmd: "aibot_msg_callback", headers: { req_id: requestId }, body }))
    return true
  }

  /** Delivers the press of a button. False if the bot is not connected. */
  press(
    bot: string,
    { chat = "g1", from = "ada", id, key }: Record<"id" | "key", string> & { chat?: string; from?: string }
  ): boolean {
    const connection = this.#bots.get(bot)
    if (connection === undefined) return false
    const body = {
      ...inGroup(bot, { chat, from, id }),
      msgtype: "event",
      event: {
        eventtype: "template_card_event",
        template_card_event: { card_type: "button_interaction", event_key: key }
      }
    }
    connection.send(JSON.stringify({ cmd: "aibot_event_callback", headers: { req_id: randomUUID() }, body }))
    return true
  }

  /** Ends streams, as after six minutes. */
  expireStreams(): void {
    this.#streams.clear()
    this.#requests.clear()
  }

  /** Ends the sockets without a notice. */
  cut(): void {
    this.#bots.clear()
    for (const connection of this.#sockets) connection.terminate()
  }

  close(): void {
    this.cut()
    this.#server.close()
  }

  #receive(connection: WebSocket, frame: Record<string, unknown>): void {
    const command = field(frame, "cmd", isText) ?? ""
    const id = field(field(frame, "headers", isObject), "req_id", isText) ?? ""
    const body = frame["body"]
    if (this.isSilent) return
    const acknowledge = (result: object, millis = 0) => {
      const wait = () => new Promise<void>((resolve) => setTimeout(resolve, millis))
      const send = () => connection.send(JSON.stringify({ headers: { req_id: id }, ...result }))
      // One after the other: a timer that fires late must not let the next one overtake it.
      this.#acknowledged = (millis > 0 ? this.#acknowledged.then(wait) : this.#acknowledged).then(send)
    }
    if (command === "ping") return void acknowledge(ok)
    this.commands.push({ command, body })
    const fault = this.decide(command, body)
    if (typeof fault === "object" && "errcode" in fault) return void acknowledge({ ...fault, errmsg: "refused" })
    const result = this.#execute(connection, command, id, body)
    if (typeof fault === "object" && "cmd" in fault) return void acknowledge({ ...result, ...fault })
    if (fault !== "lost") acknowledge(result, fault?.late ?? 0)
  }

  #execute(connection: WebSocket, command: string, id: string, body: unknown): object {
    if (command === "aibot_subscribe") return this.#subscribe(connection, body)
    if (![...this.#bots.values()].includes(connection)) return { errcode: 846_600, errmsg: "not subscribed" }
    return command === "aibot_respond_msg" ? this.#respond(id, body) : this.#push(body)
  }

  #subscribe(connection: WebSocket, body: unknown): object {
    const bot = field(body, "bot_id", isText) ?? ""
    if (field(body, "secret", isText) !== this.#secret) return { errcode: 853_000, errmsg: "invalid bot_id or secret" }
    const previous = this.#bots.get(bot)
    this.subscriptions += 1
    this.#bots.set(bot, connection)
    if (previous !== undefined && previous !== connection) {
      const event = { msgtype: "event", event: { eventtype: "disconnected_event" } }
      previous.send(JSON.stringify({ cmd: "aibot_event_callback", headers: { req_id: randomUUID() }, body: event }))
      previous.close()
    }
    return ok
  }

  #respond(id: string, body: unknown): object {
    const to = this.#requests.get(id)
    if (to === undefined) return { errcode: 846_605, errmsg: "invalid req_id" }
    const stream = field(body, "stream", isObject)
    const streamId = field(stream, "id", isText) ?? ""
    const text = field(stream, "content", isText) ?? ""
    const known = this.#streams.get(streamId)
    if (known?.isFinished === true && known.texts.at(-1) !== text) return { errcode: 846_608, errmsg: "stream expired" }
    const reply = known ?? { to, texts: [], isFinished: false }
    if (known === undefined) this.replies.push(reply)
    this.#streams.set(streamId, reply)
    reply.texts.push(text)
    reply.isFinished = Object(stream).finish === true
    return ok
  }

  #push(body: unknown): object {
    const chat = field(body, "chatid", isText) ?? ""
    if (!this.#chats.has(chat)) return { errcode: 846_610, errmsg: "the chat did not write to the bot" }
    if (field(body, "msgtype", isText) === "template_card") {
      const card = readTemplateCard(Object(body).template_card, this.#tasks)
      if (card === undefined) return { errcode: 42_016, errmsg: "invalid template card" }
      this.cards.push({ to: chat, ...card })
      return ok
    }
    const text = field(field(body, "markdown", isObject), "content", isText) ?? ""
    this.replies.push({ to: chat, texts: [text], isFinished: true })
    return ok
  }
}
