/** The long connection of a Slack app: what it receives, acknowledgements after storing, and connections that take each other's place. */
import { Redacted } from "effect"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import type { Inbound } from "../../../src/chat/Inbound.ts"
import { makeSlackSession } from "../../../src/chat/slack/Session.ts"
import { FakeSlack, slackTokens } from "../../harness/FakeSlack.ts"
import { waitUntil } from "../../harness/Wait.ts"
import { startSession } from "../Sessions.ts"
import type { RunningSession } from "../Sessions.ts"

let slack: FakeSlack
const running: Array<RunningSession> = []
beforeEach(async () => {
  slack = await FakeSlack.start()
  slack.ackMillis = 400
})
afterEach(async () => {
  await Promise.all(running.splice(0).map((session) => session[Symbol.asyncDispose]()))
  await slack[Symbol.asyncDispose]()
})

const open = (token: string = slackTokens.app) => {
  const session = startSession(
    makeSlackSession({ baseUrl: slack.url, token: Redacted.make(token), appId: "A1" }, "key")
  )
  session.end.catch(() => {})
  running.push(session)
  return session
}
const openReady = async () => {
  const session = open()
  await waitUntil(() => session.state.ready > 0, { describe: () => "a greeting" })
  return session
}
const keys = ({ received }: RunningSession) => received.map((one) => ("key" in one ? one.key : one._tag))

describe("what arrives", () => {
  it("is a message that mentions the bot, with the words of its author", async () => {
    const session = await openReady()
    expect(await slack.write("1.1", "review <http://team.app|team.app> &lt;7&gt;", { thread: "1.0" })).toBe(1)
    expect(session.received).toEqual([
      {
        _tag: "Message",
        key: "msg:C1:1.1",
        conversation: { kind: "group", id: "C1" },
        sender: { type: "slack_user", id: "UADA" },
        text: "review team.app <7>",
        mention: true,
        reply: { messageId: "1.0" }
      }
    ] satisfies ReadonlyArray<Inbound>)
  })

  it("is a direct message, and the press of a button", async () => {
    const session = await openReady()
    await slack.write("2.1", "help", { channel: "D1" })
    await slack.press("single-use")
    expect(session.received).toMatchObject([
      { _tag: "Message", conversation: { kind: "direct", id: "D1" }, text: "help" },
      { _tag: "Action", actionId: "single-use", sender: { id: "UADA" }, reply: { messageId: "1.1" } }
    ])
  })

  it("has one key, whether as a mention or as a message of the channel, and is nothing without a mention", async () => {
    const session = await openReady()
    const event = { user: "UADA", text: "<@UBOT> help", ts: "3.1", channel: "C1" }
    for (const type of ["app_mention", "message"])
      await slack.deliver("events_api", { event: { ...event, type, channel_type: "channel" } })
    expect(keys(session)).toEqual(["msg:C1:3.1", "Ignored"])
  })

  it.each<readonly [string, object, string]>([
    ["a bot", { bot_id: "B2" }, "A1"],
    ["an edit", { subtype: "message_changed" }, "A1"],
    ["another application", {}, "A2"]
  ])("is ignored from %s", async (_, more, app) => {
    const session = await openReady()
    const event = { type: "app_mention", user: "UADA", text: "help", ts: "4.1", channel: "C1", ...more }
    expect(await slack.deliver("events_api", { api_app_id: app, event })).toBe(1)
    expect(keys(session)).toEqual(["Ignored"])
  })

  it("is acknowledged after it is stored: before, it arrives again", async () => {
    const session = await openReady()
    session.state.isStoreBroken = true
    const delivered = slack.write("5.1", "help")
    await new Promise((resolve) => setTimeout(resolve, 100))
    session.state.isStoreBroken = false
    expect(await delivered).toBe(2)
    expect(keys(session)).toEqual(["msg:C1:5.1"])
  })
})

describe("connections", () => {
  it("take each other's place without losing a message", async () => {
    const session = await openReady()
    slack.refresh(600)
    const deliveries = await Promise.all(
      Array.from({ length: 30 }, async (_, index) => {
        await new Promise((resolve) => setTimeout(resolve, index * 40))
        return slack.write(`6.${index}`, "help")
      })
    )
    expect(deliveries.every((count) => count !== undefined)).toBe(true)
    expect(new Set(keys(session)).size).toBe(30)
    expect([slack.opened, slack.connections]).toEqual([2, 1])
    expect(session.state.ready).toBe(2)
  })

  it.each([
    ["a wrong token", () => open("xapp-wrong"), "refused"],
    ["Socket Mode that is off", () => ((slack.isSocketMode = false), open()), "refused"]
  ] as const)("are refused with %s", async (_, start, reason) => {
    expect((await start().end).reason).toBe(reason)
  })

  it("end when the platform no longer responds to pings", { timeout: 30_000 }, async () => {
    const session = startSession(
      makeSlackSession({ baseUrl: slack.url, token: Redacted.make(slackTokens.app), pingMillis: 50 }, "key")
    )
    running.push(session)
    await waitUntil(() => session.state.ready > 0, { describe: () => "a greeting" })
    await new Promise((resolve) => setTimeout(resolve, 300))
    expect(await slack.write("8.1", "help")).toBe(1)
    slack.freeze()
    expect(await session.end).toMatchObject({ reason: "lost", why: { _tag: "SilentAfterPing" } })
  })

  it("end with the network, and for good when Socket Mode is switched off", async () => {
    const first = await openReady()
    slack.cut()
    expect((await first.end).reason).toBe("lost")
    const second = await openReady()
    slack.switchOff()
    expect(await second.end).toMatchObject({ reason: "refused", why: { _tag: "LongConnectionOff" } })
  })
})
