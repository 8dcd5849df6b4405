/** People command the service over long connections: the real process, and the platforms with their sockets. */
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { feishuDirectoryChange, feishuMessage, longDocument } from "../harness/ChatPeople.ts"
import { FakeChatPlatform, platformSecrets } from "../harness/FakeChatPlatform.ts"
import { Installation } from "../harness/Installation.ts"
import { waitUntil } from "../harness/Wait.ts"

describe("long connections of chat", { timeout: 180_000 }, () => {
  let platform: FakeChatPlatform
  let installation: Installation

  beforeAll(async () => {
    platform = await FakeChatPlatform.start()
    const im = longDocument(platform.url, { app: { workspace: "team-one" } })
    const staff = {
      ...im.command_bindings.lark,
      actors: [{ kind: "feishu_chat", chat_id: "oc_staff" }],
      conversations: [{ kind: "group", id: "oc_staff" }]
    }
    installation = await Installation.make({
      queue: "sqlite",
      im: { ...im, command_bindings: { ...im.command_bindings, staff } },
      env: { FEISHU_SECRET: platformSecrets.feishu, BOT_SECRET: platformSecrets.wecomBot }
    })
    await installation.aicr.start()
  }, 120_000)

  afterAll(async () => {
    await installation?.[Symbol.asyncDispose]()
    await platform?.[Symbol.asyncDispose]()
  })

  const log = () => installation.aicr.log.slice(-6000)
  const subscribed = () =>
    waitUntil(() => platform.wecomSocket.isSubscribed("bot"), { describe: () => `a subscribed bot; log:\n${log()}` })
  const write = async (id: string, text: string) => {
    await waitUntil(() => platform.wecomSocket.deliver("bot", { id, text }), {
      describe: () => `a bot; log:\n${log()}`
    })
  }
  const botReply = (to: string) =>
    waitUntil(() => platform.wecomSocket.replies.find((reply) => reply.to === to && reply.isFinished), {
      timeout: 60_000,
      describe: () => `a reply to ${to}: ${JSON.stringify(platform.wecomSocket.replies)}; log:\n${log()}`
    })

  it("executes a command of Feishu once, also when its acknowledgement is repeated", async () => {
    const event = feishuMessage("m1", "projects")
    expect(await platform.feishuSocket.deliver(event)).toBe(200)
    expect(await platform.feishuSocket.deliver(event, { parts: 4, order: "backwards" })).toBe(200)
    await platform.feishuSocket.deliver(feishuMessage("m2", "chat-id"))
    await waitUntil(() => platform.repliesTo("m2").length > 0, { describe: () => `a reply; log:\n${log()}` })
    expect(platform.repliesTo("m1").map(({ texts }) => texts.at(-1))).toEqual([expect.stringContaining("app")])
  })

  it("replies to a bot's message in one message, from progress to the result of a review", async () => {
    await subscribed()
    const pull = await installation.open("chat-long")
    await write("b1", `review app ${pull.number}`)
    const { texts } = await botReply("b1")
    expect(texts.length).toBeGreaterThan(1)
    expect(texts.at(-1)).toContain("src/chat-long.ts:2")
    // Cards follow: one with the progress, one with the result.
    const { cards, replies } = platform.wecomSocket
    await waitUntil(() => cards.length === 2, { describe: () => `cards; log:\n${log()}` })
    expect(cards.map(({ buttons, to }) => [to, buttons.map(({ label }) => label)])).toEqual([
      ["g1", ["Cancel"]],
      ["g1", ["Run again", "Details", "Dismiss 1"]]
    ])
    const key = cards[1]?.buttons[1]?.id ?? ""
    for (const id of ["p1", "p1"]) platform.wecomSocket.press("bot", { id, key })
    await waitUntil(() => replies.some(({ texts: pushed }) => pushed[0]?.includes("Problem of chat-long")), {
      describe: () => `details; log:\n${log()}`
    })
    platform.wecomSocket.press("bot", { id: "p2", key })
    await waitUntil(() => replies.filter(({ to }) => to === "g1").length === 2, {
      describe: () => `a used button; log:\n${log()}`
    })
    expect(replies.filter(({ to }) => to === "g1").at(-1)?.texts[0]).toContain("used already")
  })

  it("reconnects a lost connection, and continues after a kill", async () => {
    platform.wecomSocket.cut()
    await write("b2", "projects")
    expect((await botReply("b2")).texts.at(-1)).toContain("app")
    await installation.aicr.kill()
    await installation.aicr.start()
    await write("b3", "projects")
    await botReply("b3")
    expect(platform.wecomSocket.replies.filter(({ to }) => to === "b2").length).toBe(1)
    expect(await platform.feishuSocket.deliver(feishuMessage("m3", "projects"))).toBe(200)
  })

  it("a person who is removed from a group loses the rights of its members with the next message", async () => {
    const replyTo = async (id: string) => {
      expect(
        await platform.feishuSocket.deliver(feishuMessage(id, "projects", { chat: "oc_staff", from: "ou_eve" }))
      ).toBe(200)
      return waitUntil(() => platform.repliesTo(id)[0]?.texts.at(-1), { describe: () => `a reply; log:\n${log()}` })
    }
    platform.directory.chats = { oc_staff: ["ou_eve"] }
    expect(await replyTo("m-eve-1")).toContain("app")
    platform.directory.chats = { oc_staff: [] }
    expect(await platform.feishuSocket.deliver(feishuDirectoryChange("e-eve", "oc_staff"))).toBe(200)
    expect(await replyTo("m-eve-2")).toContain("not authorised")
  })

  it("reports the state of each connection", async () => {
    const chat = async () => Object(await (await fetch(`${installation.aicr.url}/readyz`)).json()).chat
    await waitUntil(async () => Object(await chat()).bot?.state === "ready", {
      describe: () => `a state; log:\n${log()}`
    })
    const metrics = await (await fetch(`${installation.aicr.url}/metrics`)).text()
    expect(metrics).toMatch(/aicr_chat_connection_ready\{connection="bot"\} 1/)
    expect(metrics).toMatch(
      /aicr_chat_disconnects_total\{connection="bot",reason="lost"\} [1-9]|aicr_chat_connection_ready\{connection="lark"\} 1/
    )
  })

  it("leaves the bot to another program that connects", async () => {
    await subscribed()
    const before = platform.wecomSocket.subscriptions
    const other = new WebSocket(platform.url.replace("http", "ws"))
    const subscribe = {
      cmd: "aibot_subscribe",
      headers: { req_id: "other" },
      body: { bot_id: "bot", secret: platformSecrets.wecomBot }
    }
    other.addEventListener("open", () => other.send(JSON.stringify(subscribe)))
    await waitUntil(
      async () => {
        const state = Object(await (await fetch(`${installation.aicr.url}/readyz`)).json())
        return state.chat?.bot?.state === "failing"
      },
      { describe: () => `a failing connection; log:\n${log()}` }
    )
    expect(installation.aicr.log).toContain("OtherConnectionOpened")
    expect(installation.aicr.log).toMatch(/"chat connection does not work"/)
    expect(platform.wecomSocket.subscriptions).toBe(before + 1)
    other.close()
  })
})
