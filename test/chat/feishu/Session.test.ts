/** The long connection of Feishu: acknowledgements after storage, fragments, redelivery on another connection, and silent sockets. */
import { Redacted } from "effect"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { makeFeishuSession } from "../../../src/chat/feishu/Session.ts"
import { feishuMessage } from "../../harness/ChatPeople.ts"
import { FakeChatPlatform, platformSecrets } from "../../harness/FakeChatPlatform.ts"
import { waitUntil } from "../../harness/Wait.ts"
import { startSession } from "../Sessions.ts"
import type { RunningSession } from "../Sessions.ts"

describe("long connection of Feishu", () => {
  let platform: FakeChatPlatform
  const running: Array<RunningSession> = []
  beforeEach(async () => {
    platform = await FakeChatPlatform.start()
    platform.feishuSocket.redeliveryMillis = 300
  })
  afterEach(async () => {
    await Promise.all(running.splice(0).map((session) => session[Symbol.asyncDispose]()))
    await platform[Symbol.asyncDispose]()
  })

  const open = (secret: string = platformSecrets.feishu) => {
    const app = { baseUrl: platform.url, appId: "cli_a", secret: Redacted.make(secret), tenant: undefined }
    const session = startSession(makeFeishuSession(app, "key"))
    session.end.catch(() => {})
    running.push(session)
    return session
  }
  const ready = ({ state }: RunningSession) =>
    waitUntil(() => state.ready > 0, { describe: () => "a ready connection" })
  const texts = ({ received }: RunningSession) =>
    received.map((inbound) => (inbound._tag === "Message" ? inbound.text.trim() : inbound._tag))

  it("acknowledges an event after it is stored", async () => {
    const session = open()
    await ready(session)
    expect(await platform.feishuSocket.deliver(feishuMessage("m1", "help"))).toBe(200)
    expect(texts(session)).toEqual(["help"])
  })

  it("gets an event again that could not be stored", async () => {
    const session = open()
    await ready(session)
    session.state.isStoreBroken = true
    const delivered = platform.feishuSocket.deliver(feishuMessage("m1", "help"))
    await waitUntil(() => platform.feishuSocket.acknowledged.some(({ code }) => code === 500), {
      describe: () => "a refused event"
    })
    session.state.isStoreBroken = false
    expect(await delivered).toBe(200)
    expect(texts(session)).toEqual(["help"])
  })

  it("joins fragments in any order, and gets one again whose fragment was lost", async () => {
    const session = open()
    await ready(session)
    const long = `review app ${"b".repeat(200)}`
    await platform.feishuSocket.deliver(feishuMessage("m1", long), { parts: 5, order: "backwards" })
    await platform.feishuSocket.deliver(feishuMessage("m2", long), { parts: 5, lost: 2 })
    expect(texts(session)).toEqual([long, long])
  })

  it("takes events that another connection does not acknowledge", async () => {
    const [first, second] = [open(), open()]
    await Promise.all([ready(first), ready(second)])
    first.state.isStoreBroken = true
    second.state.isStoreBroken = false
    expect(await platform.feishuSocket.deliver(feishuMessage("m1", "help"))).toBe(200)
    expect(texts(second)).toEqual(["help"])
  })

  it("ignores frames that are not events", async () => {
    const session = open()
    await ready(session)
    for (const connection of platform.feishuSocket.connections) {
      connection.send(Buffer.from("not a frame"))
      connection.send("text")
    }
    await platform.feishuSocket.deliver("{")
    await platform.feishuSocket.deliver(feishuMessage("m1", "help"))
    expect(texts(session)).toEqual(["help"])
  })

  it("takes other intervals from a pong, and ends when the platform is silent", async () => {
    platform.feishuSocket.clientConfig = { ...platform.feishuSocket.clientConfig, PingInterval: 1 }
    const session = open()
    await ready(session)
    await waitUntil(() => platform.feishuSocket.pings > 1, { describe: () => "a second ping" })
    platform.feishuSocket.isSilent = true
    expect(await session.end).toMatchObject({ reason: "lost", message: "the platform sent nothing after a ping" })
  })

  it.each([
    ["credentials without data", { code: 514, msg: "auth failed" }, "refused"],
    ["credentials with data", { code: 514, msg: "auth failed", data: {} }, "refused"],
    ["another application", { code: 403, msg: "forbidden" }, "refused"],
    ["a busy platform", { code: 1, msg: "busy" }, "lost"],
    ["too many connections", { code: 1_000_040_350, msg: "exceeds" }, "limited"],
    ["no address", { code: 0, data: {} }, "refused"],
    ["an address of another kind", { code: 0, data: { URL: "http://127.0.0.1/" } }, "lost"]
  ])("ends with a reason: %s", async (_, response, reason) => {
    platform.feishuSocket.endpoint = () => response
    const end = await open().end
    expect(end.reason).toBe(reason)
    expect(end.message).not.toContain(platformSecrets.feishu)
  })

  it("does not name the ticket of the address when it is refused", async () => {
    platform.feishuSocket.endpoint = () => ({
      code: 0,
      data: { URL: "ws://127.0.0.1:9/feishu-ws?ticket=t1cket", ClientConfig: {} }
    })
    const end = await open().end
    expect(end.reason).toBe("lost")
    expect(end.message).not.toContain("t1cket")
  })

  it("ends when the socket is cut", async () => {
    const session = open()
    await ready(session)
    for (const connection of platform.feishuSocket.connections) connection.terminate()
    expect((await session.end).reason).toBe("lost")
  })

  it("ends on a message that is too large", async () => {
    const session = open()
    await ready(session)
    for (const connection of platform.feishuSocket.connections) connection.send(Buffer.alloc(2 * 1024 * 1024))
    expect((await session.end).reason).toBe("lost")
  })
})
