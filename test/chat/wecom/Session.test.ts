/** The long connection of a WeCom bot: subscription, replies that replace their text, lost and late acknowledgements, and replacement. */
import { Duration, Effect, Redacted } from "effect"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import type { ChatClient, ChatText } from "../../../src/chat/ChatClient.ts"
import type { InboundMessage } from "../../../src/chat/Inbound.ts"
import { makeWecomSession } from "../../../src/chat/wecom/Session.ts"
import { ResponseTimeout } from "../../../src/forge/ResponseTimeout.ts"
import type { WecomFault } from "../../harness/FakeWecomSocket.ts"
import { FakeChatPlatform, platformSecrets } from "../../harness/FakeChatPlatform.ts"
import { waitUntil } from "../../harness/Wait.ts"
import { startSession } from "../Sessions.ts"
import type { RunningSession } from "../Sessions.ts"

const text = (value: string, more: Partial<ChatText> = {}): ChatText => ({
  text: value,
  buttons: [],
  isFinal: true,
  isRepeat: false,
  ...more
})

describe("long connection of a WeCom bot", () => {
  let platform: FakeChatPlatform
  const running: Array<RunningSession> = []
  beforeEach(async () => {
    platform = await FakeChatPlatform.start()
  })
  afterEach(async () => {
    await Promise.all(running.splice(0).map((session) => session[Symbol.asyncDispose]()))
    await platform[Symbol.asyncDispose]()
  })

  const open = ({ pingMillis = 30_000, secret = platformSecrets.wecomBot as string } = {}) => {
    const url = platform.url.replace("http", "ws")
    const session = makeWecomSession({ url, botId: "bot", secret: Redacted.make(secret), pingMillis }, "key")
    const started = startSession(session)
    started.end.catch(() => {})
    running.push(started)
    const { client } = session
    if (client === undefined) throw new Error("no client")
    return { ...started, client }
  }
  const openReady = async (options?: Parameters<typeof open>[0]) => {
    const session = open(options)
    await waitUntil(() => session.state.ready > 0, { describe: () => "a subscription" })
    return session
  }
  /** Lets a person write, and returns the message as it arrived. */
  const write = async ({ received }: RunningSession, id: string, chat = "g1"): Promise<InboundMessage> => {
    platform.wecomSocket.deliver("bot", { id, text: "help", chat })
    return await waitUntil(
      () => received.find((one): one is InboundMessage => one._tag === "Message" && one.key === `msg:${id}`),
      { describe: () => `message ${id}` }
    )
  }
  const send = (client: ChatClient, to: InboundMessage, message: ChatText, key = "key-1") =>
    Effect.runPromise(
      Effect.result(client.send(to, message, key)).pipe(Effect.provideService(ResponseTimeout, Duration.millis(300)))
    )

  it("receives a message and replies to it", async () => {
    const session = await openReady()
    const message = await write(session, "m1")
    expect(message).toMatchObject({ text: "@aicr help", conversation: { kind: "group", id: "g1" }, mention: true })
    expect((await send(session.client, message, text("hello")))._tag).toBe("Success")
    expect(platform.wecomSocket.replies).toEqual([{ to: "m1", texts: ["hello"], isFinished: true }])
  })

  it("replaces progress by the result in one message", async () => {
    const { client, ...session } = await openReady()
    const message = await write(session, "m1")
    const sent = await Effect.runPromise(client.send(message, text("queued", { isFinal: false }), "key-1"))
    expect(client.isEditable(sent, sent.at + 60_000)).toBe(true)
    expect(client.isEditable(sent, sent.at + 6 * 60_000)).toBe(false)
    await Effect.runPromise(client.edit?.(message, sent, text("done")) ?? Effect.void)
    expect(platform.wecomSocket.replies).toEqual([{ to: "m1", texts: ["queued", "done"], isFinished: true }])
  })

  it("pushes what is too late for a reply, and never twice", async () => {
    const { client, ...session } = await openReady()
    const message = await write(session, "m1")
    platform.wecomSocket.expireStreams()
    expect((await send(client, message, text("late")))._tag).toBe("Success")
    const repeated = await send(client, message, text("late", { isRepeat: true }))
    expect(repeated).toMatchObject({ _tag: "Failure", failure: { reason: "unknown_outcome" } })
    expect(platform.wecomSocket.replies).toEqual([{ to: "g1", texts: ["late"], isFinished: true }])
  })

  it("repeats a reply without an acknowledgement as the same message", async () => {
    const { client, ...session } = await openReady()
    const message = await write(session, "m1")
    const faults: Array<"lost"> = ["lost"]
    platform.wecomSocket.decide = (command) => (command === "aibot_respond_msg" ? faults.pop() : undefined)
    expect(await send(client, message, text("hello"))).toMatchObject({ failure: { reason: "unknown_outcome" } })
    expect((await send(client, message, text("hello", { isRepeat: true })))._tag).toBe("Success")
    expect(platform.wecomSocket.replies.map(({ to }) => to)).toEqual(["m1"])
  })

  it("does not take a frame with an unknown command for an acknowledgement", async () => {
    const { client, ...session } = await openReady()
    const message = await write(session, "m1")
    platform.wecomSocket.decide = () => ({ cmd: "aibot_other" })
    expect(await send(client, message, text("hello"))).toMatchObject({ failure: { reason: "unknown_outcome" } })
  })

  it("does not take a late acknowledgement for that of a later reply", async () => {
    const { client, ...session } = await openReady()
    const message = await write(session, "m1")
    const faults: Array<WecomFault> = [{ errcode: 40_058 }, { late: 400 }]
    platform.wecomSocket.decide = (command) => (command === "aibot_respond_msg" ? faults.pop() : undefined)
    expect(await send(client, message, text("first"), "key-1")).toMatchObject({
      failure: { reason: "unknown_outcome" }
    })
    // The acknowledgement of the first arrives while the second waits for its own.
    expect((await send(client, message, text("second"), "key-2"))._tag).toBe("Failure")
  })

  it.each([
    [45_009, "rate_limited"],
    [40_058, "invalid"]
  ] as const)("reports code %i as %s", async (errcode, reason) => {
    const { client, ...session } = await openReady()
    const message = await write(session, "m1")
    platform.wecomSocket.decide = () => ({ errcode })
    expect(await send(client, message, text("hello"))).toMatchObject({ failure: { reason } })
  })

  it("sends nothing before the subscription, and after the end", async () => {
    platform.wecomSocket.decide = (command) => (command === "aibot_subscribe" ? "lost" : undefined)
    const { client, end, ...session } = open()
    const message = {
      conversation: { kind: "group", id: "g1" },
      sender: { type: "wecom_userid", id: "a" },
      reply: {}
    } as const
    const sent = await Effect.runPromise(Effect.result(client.send(message, text("hello"), "key")))
    expect(sent).toMatchObject({ failure: { reason: "unavailable" } })
    platform.wecomSocket.cut()
    await end
    expect(session.state.ready).toBe(0)
    expect(await Effect.runPromise(Effect.result(client.send(message, text("hello"), "key")))).toMatchObject({
      failure: { reason: "unavailable" }
    })
  })

  it("ends with a refused secret, without naming it", async () => {
    const end = await open({ secret: "wr0ng-secret" }).end
    expect(end.reason).toBe("refused")
    expect(end.message).not.toContain("wr0ng-secret")
  })

  it("ends when another connection of the bot is opened", async () => {
    const first = await openReady()
    await openReady()
    expect((await first.end).reason).toBe("kicked")
  })

  it("ends when a message cannot be stored, when the socket is cut, and when the platform is silent", async () => {
    const broken = await openReady()
    broken.state.isStoreBroken = true
    platform.wecomSocket.deliver("bot", { id: "m1", text: "help" })
    expect((await broken.end).message).toContain("not stored")
    const cut = await openReady()
    platform.wecomSocket.cut()
    expect((await cut.end).reason).toBe("lost")
    const silent = await openReady({ pingMillis: 100 })
    platform.wecomSocket.isSilent = true
    expect((await silent.end).message).toBe("the platform sent nothing after a ping")
  })
})
