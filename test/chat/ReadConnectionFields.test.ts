/** Each field of `im.connections` has an effect. */
import { describe, expect, it } from "vitest"
import { Effect, Layer, Redacted } from "effect"
import { ChatClients } from "../../src/chat/ChatClients.ts"
import { findCallbackReader } from "../../src/chat/ReadConnection.ts"
import { encryptFeishu, feishuHeaders } from "../../demo/DemoChat.ts"
import { ChatSends } from "../../src/store/ChatSends.ts"
import { encryptWecom, wecomKey, wecomQuery } from "../harness/ChatSigning.ts"
import { FakeChatPlatform, platformSecrets } from "../harness/FakeChatPlatform.ts"
import { FakeSlack, slackTokens } from "../harness/FakeSlack.ts"
import { testSnapshot } from "../harness/TestSnapshot.ts"
import { uncounted } from "../harness/Owners.ts"

const now = 1_700_000_000_000
const env = { TOKEN: "token", KEY: wecomKey, ENCRYPT: "key", FEISHU: platformSecrets.feishu }

const wecomCallback = { enabled: true, token: Redacted.make("token"), encoding_aes_key: Redacted.make(wecomKey) }
const feishuCallback = { enabled: true, verification_token: Redacted.make("token"), encrypt_key: Redacted.make("key") }
const app = { kind: "wecom_app", corp_id: "corp", agent_id: "5", callback: wecomCallback }
const bot = { kind: "wecom_aibot", corp_id: "corp", aibot_id: "bot", callback: wecomCallback }
const lark = { kind: "feishu_app", app_id: "cli_a", tenant_key: "t", callback: feishuCallback }

const readerOf = (connection: object) =>
  findCallbackReader(testSnapshot({ im: { connections: { c: connection } } }, env), "c")

const read = (connection: object, body: string, query = new URLSearchParams(), headers = {}) => {
  const reader = readerOf(connection)
  return reader._tag === "Reader"
    ? reader.read({ method: "POST", query, headers, body: Buffer.from(body), now })
    : reader
}

const toApp = (connection: object, receiver = "corp", agent = "5") => {
  const message = `<xml><FromUserName>ada</FromUserName><CreateTime>1</CreateTime><MsgType>text</MsgType><Content>help</Content><MsgId>1</MsgId><AgentID>${agent}</AgentID></xml>`
  const encrypted = encryptWecom(wecomKey, message, receiver)
  return read(connection, `<xml><Encrypt>${encrypted}</Encrypt></xml>`, wecomQuery("token", encrypted, now / 1000))
}
const toBot = (connection: object, id = "bot") => {
  const message = { msgid: "1", aibotid: id, from: { userid: "ada" }, msgtype: "text", text: { content: "help" } }
  const encrypt = encryptWecom(wecomKey, JSON.stringify(message), "")
  return read(connection, JSON.stringify({ encrypt }), wecomQuery("token", encrypt, now / 1000))
}
const toLark = (connection: object, header: object = {}) => {
  const payload = {
    header: {
      event_id: "e",
      event_type: "im.message.receive_v1",
      token: "token",
      app_id: "cli_a",
      tenant_key: "t",
      ...header
    },
    event: {
      sender: { sender_id: { open_id: "ou" }, sender_type: "user" },
      message: { message_id: "m", chat_id: "c", message_type: "text", content: '{"text":"aicr help"}' }
    }
  }
  const body = JSON.stringify({ encrypt: encryptFeishu("key", JSON.stringify(payload)) })
  return read(connection, body, new URLSearchParams(), feishuHeaders("key", body, now / 1000))
}

const accepted = { _tag: "Received", inbound: { _tag: "Message" } }
const ignored = { _tag: "Received", inbound: { _tag: "Ignored" } }

describe("fields of connections", () => {
  it("kind, corp_id and agent_id select the messages of an application", () => {
    expect(toApp(app)).toMatchObject(accepted)
    expect(toApp(app, "other")).toMatchObject({ reason: "receiver" })
    expect(toApp(app, "corp", "6")).toMatchObject(ignored)
  })

  it("kind and aibot_id select the messages of a bot", () => {
    expect(toBot(bot)).toMatchObject(accepted)
    expect(toBot(bot, "other")).toMatchObject(ignored)
  })

  it.each([
    ["@AI Review Bot help", "help"],
    ["请 @AI Review Bot review web 7", "请   review web 7"],
    ["review web 7 @AI Review Bot", "review web 7"]
  ])("bot_name is removed from a text, also inside of it: %s", (content, text) => {
    const message = { msgid: "1", aibotid: "bot", from: { userid: "ada" }, chattype: "group", chatid: "g" }
    const json = JSON.stringify({ ...message, msgtype: "text", text: { content } })
    const encrypt = encryptWecom(wecomKey, json, "")
    const query = wecomQuery("token", encrypt, now / 1000)
    const { inbound } = Object(read({ ...bot, bot_name: "AI Review Bot" }, JSON.stringify({ encrypt }), query))
    expect(inbound.text.trim()).toBe(text)
    expect(Object(read(bot, JSON.stringify({ encrypt }), query)).inbound.text).toBe(content)
  })

  it("app_id and tenant_key select the events of Feishu", () => {
    expect(toLark(lark)).toMatchObject(accepted)
    expect(toLark(lark, { app_id: "cli_b" })).toMatchObject(ignored)
    expect(toLark(lark, { tenant_key: "u" })).toMatchObject(ignored)
  })

  it("enabled: false receives nothing", () => {
    expect(readerOf({ ...app, enabled: false })).toMatchObject({ _tag: "Disabled" })
    expect(readerOf(app)).toMatchObject({ _tag: "Reader" })
  })

  it("callback.enabled is required", () => {
    expect(readerOf({ ...app, callback: { ...wecomCallback, enabled: false } })).toMatchObject({ _tag: "Disabled" })
    expect(readerOf(app)).toMatchObject({ _tag: "Reader" })
  })

  it("callback.token and callback.encoding_aes_key verify and decrypt", () => {
    expect(toApp(app)).toMatchObject(accepted)
    expect(toApp({ ...app, callback: { ...wecomCallback, token: Redacted.make("x") } })).toMatchObject({
      reason: "signature"
    })
    const otherKey = { ...wecomCallback, encoding_aes_key: Redacted.make("x".repeat(43)) }
    expect(toApp({ ...app, callback: otherKey })).toMatchObject({ reason: "malformed" })
  })

  it("callback.token_env and callback.encoding_aes_key_env name variables", () => {
    const callback = { enabled: true, token_env: "TOKEN", encoding_aes_key_env: "KEY" }
    expect(toApp({ ...app, callback })).toMatchObject(accepted)
  })

  it("callback.verification_token and callback.encrypt_key verify and decrypt", () => {
    expect(toLark(lark)).toMatchObject(accepted)
    const otherToken = { ...feishuCallback, verification_token: Redacted.make("x") }
    expect(toLark({ ...lark, callback: otherToken })).toMatchObject({ reason: "signature" })
    expect(toLark({ ...lark, callback: { ...feishuCallback, encrypt_key: Redacted.make("x") } })).toMatchObject({
      reason: "signature"
    })
  })

  it("callback.verification_token_env and callback.encrypt_key_env name variables", () => {
    const callback = { enabled: true, verification_token_env: "TOKEN", encrypt_key_env: "ENCRYPT" }
    expect(toLark({ ...lark, callback })).toMatchObject(accepted)
  })

  it.each([
    [7, 1400],
    [undefined, 20_000]
  ])("accounts %s bounds the persons that replies reach on a day", async (accounts, limit) => {
    const connection = { ...app, app_secret: Redacted.make("s"), ...(accounts === undefined ? {} : { accounts }) }
    const snapshot = testSnapshot({ im: { connections: { c: connection } } }, env)
    const limits: Array<number> = []
    const counting = ChatSends.of({
      refund: () => Effect.void,
      take: (_app: string, _day: string, persons: number, max: number) => {
        limits.push(persons, max)
        return Effect.succeed(false)
      }
    })
    const send = Effect.gen(function* () {
      const to = {
        conversation: { kind: "direct", id: "ada" },
        sender: { type: "wecom_userid", id: "ada" },
        reply: {}
      } as const
      const message = { text: "t", buttons: [], isFinal: true, isRepeat: false }
      return yield* Effect.flip((yield* ChatClients).of(snapshot, "c")?.send(to, message, "k") ?? Effect.void)
    })
    const refused = await Effect.runPromise(
      send.pipe(Effect.provide(ChatClients.layer), Effect.provideService(ChatSends, counting))
    )
    expect([limits, refused?.reason]).toEqual([[1, limit], "rate_limited"])
  })

  it.each([
    ["app_secret", { app_secret: Redacted.make(platformSecrets.feishu) }],
    ["app_secret_env", { app_secret_env: "FEISHU" }]
  ])("%s is the secret at base_url", async (_, secret) => {
    await using platform = await FakeChatPlatform.start()
    const connection = { ...lark, ...secret, base_url: platform.url }
    const snapshot = testSnapshot({ im: { connections: { c: connection } } }, env)
    const check = Effect.gen(function* () {
      const client = (yield* ChatClients).of(snapshot, "c")
      if (client === undefined) return "no client"
      yield* client.check
      return "ready"
    })
    expect(await Effect.runPromise(Effect.provide(check, Layer.provide(ChatClients.layer, uncounted)))).toBe("ready")
    expect(platform.calls.map(({ path }) => path)).toContain("/open-apis/bot/v3/info")
  })

  it.each([
    ["bot_token", { bot_token: Redacted.make(slackTokens.bot) }],
    ["bot_token_env", { bot_token_env: "BOT" }]
  ])("%s is the token of a Slack bot at base_url", async (_, token) => {
    await using slack = await FakeSlack.start()
    const connection = { kind: "slack_app", app_token: Redacted.make("a"), ...token, base_url: slack.url }
    const snapshot = testSnapshot({ im: { connections: { c: connection } } }, { BOT: slackTokens.bot })
    const check = Effect.gen(function* () {
      const client = (yield* ChatClients).of(snapshot, "c")
      if (client === undefined) return "no client"
      yield* client.check
      return "ready"
    })
    expect(await Effect.runPromise(Effect.provide(check, Layer.provide(ChatClients.layer, uncounted)))).toBe("ready")
    expect(readerOf(connection)).toMatchObject({ _tag: "Disabled" })
  })
})
