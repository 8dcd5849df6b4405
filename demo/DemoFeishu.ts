/**
 * The part of Feishu that the service calls: access tokens, the account of the bot, and messages, which keys keep from being repeated. Keeps
 * the messages that people would see.
 */
export interface SeenMessage {
  readonly id: string
  /** Message that it replies to, or person that gets it. */
  readonly to: string
  /** Texts, oldest first: more than one if it was edited. */
  readonly texts: Array<string>
  /** Ids and labels of its buttons. */
  buttons: ReadonlyArray<{ readonly id: string; readonly label: string }>
}

export interface PlatformCallSeen {
  readonly method: string
  readonly path: string
  readonly body: Readonly<Record<string, unknown>>
}

/** Account of the bot. */
export const botOpenId = "ou_bot"

/** Maximum size of a request with a card. */
const maxCardBytes = 30_000

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

export class DemoFeishu {
  readonly messages: Array<SeenMessage> = []
  readonly #keys = new Map<string, string>()
  readonly #tokens = new Set<string>()
  readonly #secret: string
  #made = 0

  constructor(secret: string) {
    this.#secret = secret
  }

  /** Forgets the keys of messages, as after an hour. */
  forgetKeys(): void {
    this.#keys.clear()
  }

  /** Ends the tokens that are in use. */
  expireTokens(): void {
    this.#tokens.clear()
  }

  issueToken(): string {
    const issued = `t-${++this.#made}`
    this.#tokens.add(issued)
    return issued
  }

  isToken(token: string): boolean {
    return this.#tokens.has(token)
  }

  hasKey(key: string): boolean {
    return this.#keys.has(key)
  }

  /** Returns a key that no message has. */
  nextKey(): string {
    return `${this.#made}`
  }

  /** Lists the replies to a message of a person. */
  repliesTo(to: string): ReadonlyArray<SeenMessage> {
    return this.messages.filter((message) => message.to === to)
  }

  /** Keeps a message unless one with this key exists; returns its id. */
  keep(to: string, text: string, key: string, buttons: SeenMessage["buttons"] = []): string {
    const known = this.#keys.get(key)
    if (known !== undefined) return known
    const id = `om_${++this.#made}`
    this.#keys.set(key, id)
    this.messages.push({ id, to, texts: [text], buttons })
    return id
  }

  /** Responds to a call of the API. */
  respond({ body, method, path }: PlatformCallSeen, token: string): object {
    if (path.endsWith("/tenant_access_token/internal"))
      return body["app_secret"] === this.#secret
        ? { code: 0, tenant_access_token: this.issueToken(), expire: 7200 }
        : { code: 10_014, msg: "app secret invalid" }
    if (!this.isToken(token)) return { code: 99_991_663, msg: "token invalid" }
    if (path.endsWith("/bot/v3/info")) return { code: 0, bot: { open_id: botOpenId, app_name: "aicr" } }
    if (Buffer.byteLength(JSON.stringify(body)) > maxCardBytes) return { code: 230_025, msg: "message too long" }
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
    return { code: 0, data: { message_id: this.keep(to, card.text, `${body["uuid"]}`, card.buttons) } }
  }
}
