/** The vendors' own clients work with the fake platform: what it accepts and sends is what they send and accept. */
import * as lark from "@larksuiteoapi/node-sdk"
import { WSClient } from "@wecom/aibot-node-sdk"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { feishuMessage } from "./ChatPeople.ts"
import { FakeChatPlatform, platformSecrets } from "./FakeChatPlatform.ts"
import { waitUntil } from "./Wait.ts"

const quiet = { error: () => {}, warn: () => {}, info: () => {}, debug: () => {}, trace: () => {} }

describe("the vendors' clients", () => {
  let platform: FakeChatPlatform
  beforeEach(async () => {
    platform = await FakeChatPlatform.start()
  })
  afterEach(async () => {
    await platform[Symbol.asyncDispose]()
  })

  const settings = () => ({
    appId: "cli_0123456789abcdef",
    appSecret: platformSecrets.feishu as string,
    domain: platform.url,
    logger: quiet
  })

  it("Feishu: token, message, repeated key, edited card", async () => {
    const client = new lark.Client(settings())
    const content = JSON.stringify({ schema: "2.0", body: { elements: [{ tag: "markdown", content: "hello" }] } })
    const data = { receive_id: "oc_1", msg_type: "interactive", content, uuid: "key-1" }
    const send = () => client.im.v1.message.create({ params: { receive_id_type: "chat_id" }, data })
    const sent = await send()
    expect(await send()).toMatchObject({ code: 0, data: { message_id: sent.data?.message_id } })
    await client.im.v1.message.patch({
      path: { message_id: sent.data?.message_id ?? "" },
      data: { content: content.replace("hello", "bye") }
    })
    expect(platform.messages).toMatchObject([{ to: "oc_1", texts: ["hello", "bye"] }])
  })

  it("Feishu: long connection with fragments, ping and redelivery", async () => {
    platform.feishuSocket.redeliveryMillis = 500
    const got: Array<string> = []
    const client = new lark.WSClient({ ...settings(), autoReconnect: false })
    await client.start({
      eventDispatcher: new lark.EventDispatcher({ logger: quiet }).register({
        "im.message.receive_v1": (event) => {
          got.push(event.message.message_id)
          if (got.length === 1) throw new Error("not now")
        }
      })
    })
    await waitUntil(() => platform.feishuSocket.pings > 0, { describe: () => "a ping" })
    expect(await platform.feishuSocket.deliver(feishuMessage("m1", "help"), { parts: 3 })).toBe(200)
    expect(got).toEqual(["m1", "m1"])
    client.close({ force: true })
  })

  it("WeCom: subscription, message, stream, push, ping", async () => {
    const client = new WSClient({
      botId: "bot",
      secret: platformSecrets.wecomBot,
      wsUrl: platform.url.replace("http", "ws"),
      heartbeatInterval: 50,
      logger: quiet
    })
    const authenticated = new Promise((resolve) => client.on("authenticated", () => resolve(true)))
    const replied = new Promise((resolve) => {
      client.on("message.text", (frame) => {
        void client
          .replyStream(frame, "s1", "working", false)
          .then(() => client.replyStream(frame, "s1", "done", true))
          .then(resolve)
      })
    })
    client.connect()
    await authenticated
    platform.wecomSocket.deliver("bot", { id: "m1", text: "help" })
    await replied
    await client.sendMessage("g1", { msgtype: "markdown", markdown: { content: "later" } })
    expect(platform.wecomSocket.replies).toEqual([
      { to: "m1", texts: ["working", "done"], isFinished: true },
      { to: "g1", texts: ["later"], isFinished: true }
    ])
    client.disconnect()
  })

  it("WeCom: a second connection ends the first, which does not reconnect", async () => {
    const connect = () =>
      new WSClient({
        botId: "bot",
        secret: platformSecrets.wecomBot,
        wsUrl: platform.url.replace("http", "ws"),
        reconnectInterval: 10,
        logger: quiet
      })
    const [first, second] = [connect(), connect()]
    const ready = (client: WSClient) =>
      new Promise((resolve) => {
        client.on("authenticated", () => resolve(true))
        client.connect()
      })
    await ready(first)
    const ended = new Promise((resolve) => first.on("disconnected", resolve))
    await ready(second)
    await ended
    expect(platform.wecomSocket.subscriptions).toBe(2)
    first.disconnect()
    second.disconnect()
  })
})
