/** People command the service from chat: the real process, a git host, a model, and the APIs of the platforms. */
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import {
  challengeWecom,
  chatDocument,
  chatEnv,
  deliverFeishu,
  deliverWecomApp,
  deliverWecomBot,
  feishuButton,
  feishuMessage
} from "../harness/ChatPeople.ts"
import { FakeChatPlatform, platformSecrets } from "../harness/FakeChatPlatform.ts"
import { Installation } from "../harness/Installation.ts"
import { waitUntil } from "../harness/Wait.ts"

/** Number of commands in the scenario of a kill. */
const commands = Number(process.env["AICR_TEST_CHAT"] ?? 40)

describe("chat", { timeout: 180_000 }, () => {
  let platform: FakeChatPlatform
  let installation: Installation

  beforeAll(async () => {
    platform = await FakeChatPlatform.start()
    installation = await Installation.make({
      queue: "sqlite",
      im: chatDocument(platform.url, { app: { workspace: "team-one" } }),
      env: { ...chatEnv, FEISHU_SECRET: platformSecrets.feishu, WECOM_SECRET: platformSecrets.wecom }
    })
    await installation.aicr.start()
  }, 120_000)

  afterAll(async () => {
    await installation?.[Symbol.asyncDispose]()
    await platform?.[Symbol.asyncDispose]()
  })

  const callback = (connection: string) => `${installation.aicr.url}/callbacks/im/${connection}`
  const lark = (id: string, text: string, options?: Parameters<typeof feishuMessage>[2]) =>
    deliverFeishu(callback("lark"), feishuMessage(id, text, options))
  const reply = (to: string) =>
    waitUntil(() => platform.repliesTo(to).at(-1)?.texts.at(-1), {
      describe: () => `a reply to ${to}; log:\n${installation.aicr.log.slice(-6000)}`
    })

  it("runs a command once, however often the platform delivers it", async () => {
    const responses = await Promise.all(Array.from({ length: 5 }, () => lark("m-help", "help")))
    expect(responses.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200])
    expect(await reply("m-help")).toContain("aicr review <alias> <rev>")
    await lark("m-projects", "projects")
    expect(await reply("m-projects")).toContain("app")
    expect(platform.repliesTo("m-help").length).toBe(1)
  })

  it("sends an unauthorised person only their own ids", async () => {
    await lark("m-eve", "projects", { from: "ou_eve" })
    const text = await reply("m-eve")
    expect(text).toContain("ou_eve")
    expect(text).not.toContain("app")
  })

  it("reviews a pull request, edits its message, and repeats it with a button once", async () => {
    const pull = await installation.open("chat-one")
    await lark("m-review", `review app ${pull.number}`)
    await waitUntil(() => platform.repliesTo("m-review").at(0)?.buttons.length === 2, {
      timeout: 60_000,
      describe: () =>
        `the result of m-review: ${JSON.stringify(platform.messages)}; log:\n${installation.aicr.log.slice(-8000)}`
    })
    const [message, ...others] = platform.repliesTo("m-review")
    expect(others).toEqual([])
    expect(message?.texts.at(-1)).toContain("src/chat-one.ts:2")
    expect(message?.texts.length).toBeGreaterThan(1)
    // Its lines of log have one story: from the request to its end.
    const find = (text: string) =>
      waitUntil(
        () =>
          installation.aicr.log
            .split("\n")
            .filter((line) => line.includes(`"msg":"${text}"`))
            .map((line): Record<string, unknown> => Object(JSON.parse(line)))
            .find((line) => text !== "chat request ended" || line["command"] === "review"),
        { describe: () => text }
      )
    const decided = await find("delivery decided")
    expect(decided).toMatchObject({ event: "chat", decision: "queued", number: pull.number, repository: "team/one" })
    const { chat_request_id, event_id, trace } = decided
    expect(await find("chat request ended")).toMatchObject({ chat_request_id, event_id: [event_id], trace })
    for (const text of ["run started", "run ended"]) {
      expect(await find(text)).toMatchObject({ event_id: [event_id], trace })
    }
    await lark("m-status", "prdetail app 1")
    expect(await reply("m-status")).toContain("Problem of chat-one")
    const calls = installation.countModelCalls("chat-one")
    const again = message?.buttons[0]?.id ?? ""
    await deliverFeishu(callback("lark"), feishuButton("e-1", again))
    await deliverFeishu(callback("lark"), feishuButton("e-1", again))
    expect(await reply("om_card")).toMatch(/queued|running|ended/i)
    await deliverFeishu(callback("lark"), feishuButton("e-2", again))
    await waitUntil(() => platform.repliesTo("om_card").some(({ texts }) => texts.at(-1)?.includes("used already")), {
      describe: () => `a used button is refused: ${JSON.stringify(platform.repliesTo("om_card"))}`
    })
    expect(installation.countModelCalls("chat-one")).toBeGreaterThanOrEqual(calls)
  })

  it("serves an application and a bot of WeCom", async () => {
    expect(await challengeWecom(callback("corp"), "1616140317555161061")).toEqual({
      status: 200,
      body: "1616140317555161061"
    })
    platform.expireTokens()
    expect(await deliverWecomApp(callback("corp"), "9001", "projects")).toEqual({ status: 200, body: "" })
    expect(await reply("ada")).toContain("app")
    expect((await deliverWecomBot(callback("bot"), "b1", "chat-id", { platform: platform.url })).status).toBe(200)
    expect(await reply("b1")).toContain("group g1")
  })

  it("refuses what the platform did not send", async () => {
    expect((await fetch(callback("nobody"), { method: "POST", body: "{}" })).status).toBe(404)
    expect((await fetch(callback("off"), { method: "POST", body: "{}" })).status).toBe(503)
    expect((await fetch(callback("lark"), { method: "PUT", body: "{}" })).status).toBe(405)
    expect((await fetch(callback("lark"), { method: "POST", body: "{}" })).status).toBe(401)
    expect((await fetch(callback("corp"), { method: "POST", body: "<xml/>" })).status).toBe(401)
    const large = await fetch(callback("lark"), { method: "POST", body: "x".repeat(256 * 1024 + 1) })
    expect(large.status).toBe(413)
  })

  it("loses no command and repeats no reply when the process is killed", async () => {
    const ids = Array.from({ length: commands }, (_, at) => `k-${at}`)
    // The platform delivers again what was not accepted, and some of what was, in any order.
    const deliver = async (id: string) => {
      const from = `ou_${Number(id.slice(2)) % Math.ceil(commands / 10)}`
      for (;;) {
        const response = await lark(id, "chat-id", { from }).catch(() => undefined)
        if (response?.status === 200) return
        await new Promise((resume) => setTimeout(resume, 20))
      }
    }
    const first = Promise.all([...ids, ...ids.slice(0, commands / 2).toReversed()].map(deliver))
    await waitUntil(() => platform.messages.some(({ to }) => to.startsWith("k-")), { describe: () => "a first reply" })
    await installation.aicr.kill()
    await installation.aicr.start()
    await first
    const open = () => ids.filter((id) => platform.repliesTo(id).length === 0)
    // Unauthorised people get two messages a minute; the others are closed without one.
    await waitUntil(() => open().length <= commands - 2 * Math.ceil(commands / 10), {
      timeout: 60_000,
      describe: () => `replies; missing: ${open().join(", ")}; log:\n${installation.aicr.log.slice(-6000)}`
    })
    expect(ids.filter((id) => platform.repliesTo(id).length > 1)).toEqual([])
  })
})
