/** Chat bots: the messages that their webhooks get, signed and split, and each message at most once. */
import { MemberFiles } from "../../../src/chat/members/MemberFiles.ts"
import { createServer } from "node:http"
import { Effect, Redacted } from "effect"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { TargetKey } from "../../../src/domain/Keys.ts"
import { forgeTable } from "../../../src/forge/hosts/ForgeTable.ts"
import { computeFeishuSignature } from "../../../src/outputs/chat/BotHook.ts"
import { channelTable } from "../../../src/outputs/channels/Channels.ts"
import { mentionSlot } from "../../../src/outputs/text/Mention.ts"
import { split } from "../../../src/outputs/chat/Split.ts"
import { noCache } from "../../../src/store/Cache.ts"
import { repoName, startHost } from "../../forge/Clients.ts"
import { field, isList, isObject, isText } from "../../harness/Fields.ts"
import { analysis, channel, finding, input, workspace } from "../Fixtures.ts"
import { publishAll } from "../Publishing.ts"
import { owned } from "../../harness/Owners.ts"

const table = channelTable((kind) => forgeTable[kind].bodyLimit)
type Reply = { readonly status?: number; readonly body?: unknown; readonly cut?: boolean }

/** A platform that records its messages and sends the given responses. */
const startPlatform = async () => {
  const got: Array<unknown> = []
  const replies: Array<Reply> = []
  const server = createServer((request, response) => {
    const chunks: Array<Buffer> = []
    request.on("data", (chunk: Buffer) => chunks.push(chunk))
    request.on("end", () => {
      got.push(JSON.parse(Buffer.concat(chunks).toString("utf8")))
      const { status = 200, body = { code: 0, errcode: 0 }, cut = false } = replies.shift() ?? {}
      if (cut) return void request.socket.destroy()
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const address = server.address()
  const port = typeof address === "object" && address !== null ? address.port : 0
  return {
    url: `http://127.0.0.1:${port}/hook/secret-key`,
    got,
    replies,
    stop: () => new Promise((resolve) => server.close(resolve))
  }
}

describe("chat bots", () => {
  let platform: Awaited<ReturnType<typeof startPlatform>>
  let host: Awaited<ReturnType<typeof startHost>>
  beforeEach(async () => {
    ;[platform, host] = await Promise.all([startPlatform(), startHost("gitea")])
  })
  afterEach(async () => {
    await Promise.all([platform.stop(), host.forge.stop()])
  })

  const setup = (kind: "feishu_bot" | "wecom_bot", settings: Parameters<typeof channel>[0] = {}) => ({
    forge: host.forge,
    kind: table[kind],
    channel: channel({ name: "chat", kind, ...settings }),
    credentials: { webhook_url: platform.url, secret: "demo" }
  })
  const at = (findings = [finding(1), finding(2, { severity: "high" })]) => input(findings, { head: host.pull.head })
  const cardText = (message: unknown): string => {
    const elements = field(field(field(message, "card", isObject), "body", isObject), "elements", isList) ?? []
    return elements.map((element) => field(element, "content", isText)).join("\n")
  }
  const markdown = (message: unknown): string => field(field(message, "markdown", isObject), "content", isText) ?? ""

  it("sends a signed card to Feishu", async () => {
    await publishAll(setup("feishu_bot"), at())
    const [message] = platform.got
    const timestamp = Number(field(message, "timestamp", isText))
    expect(field(message, "sign", isText)).toBe(computeFeishuSignature(Redacted.make("demo"), timestamp))
    expect(message).toMatchObject({
      msg_type: "interactive",
      card: {
        schema: "2.0",
        header: { title: { tag: "plain_text", content: `Code review · ${repoName}` }, template: "red" }
      }
    })
    expect(cardText(message)).toContain("Message 2")
    expect(cardText(message)).toContain("**2 problems found**")
  })

  it("signs as Feishu documents it", () => {
    expect(computeFeishuSignature(Redacted.make("demo"), 1599360473)).toBe(
      "l1N0gAcBjdwBvGm1xMjOF0XSyaLRpR7tuO5dHfhAYc8="
    )
  })

  it("splits for WeCom, and calls telephone numbers once in a message of their own", async () => {
    const many = Array.from({ length: 30 }, (_, i) => finding(i + 1, { message: `数字 ${"字".repeat(90)}` }))
    await publishAll(setup("wecom_bot", { mentioned_mobile_list: ["13800000000"] }), at(many))
    const texts = platform.got.map(markdown).filter((text) => text !== "")
    expect(texts.length).toBeGreaterThan(1)
    for (const text of texts) expect(Buffer.byteLength(text)).toBeLessThanOrEqual(4096)
    const calls = platform.got.filter((message) => field(message, "msgtype", isText) === "text")
    expect(calls).toMatchObject([{ text: { mentioned_mobile_list: ["13800000000"], mentioned_list: [] } }])
  })

  it.each([
    ["feishu_bot", {}, "@dana"],
    ["wecom_bot", {}, "<@dana>"],
    ["feishu_bot", { mention_fallback: "all", bad: true }, "<at id=all></at>"],
    // The name of an account is no mention in Feishu.
    ["feishu_bot", { mention_fallback: "all" }, "<at id=all></at>"],
    ["wecom_bot", { mention_fallback: "all" }, "<@dana>"]
  ] as const)(
    "mentions on %s",
    async (kind, { bad, ...settings }: { readonly mention_fallback?: "all"; readonly bad?: boolean }, text) => {
      const given = at()
      const { author: _author, ...nobody } = given.change
      await publishAll(
        setup(kind, { mention_author: true, ...settings }),
        bad === true ? { ...given, change: nobody } : given
      )
      expect(kind === "feishu_bot" ? cardText(platform.got[0]) : markdown(platform.got[0])).toContain(text)
      expect(JSON.stringify(platform.got)).not.toContain("aicr-author")
    }
  )

  it.each([
    ["brief", false, false],
    ["titles", true, false],
    ["full", true, true]
  ] as const)("shows %s when issues contain the rest", async (detail, titles, messages) => {
    const parts = { lineComments: false, summary: true, recorded: true }
    await publishAll({ ...setup("feishu_bot", { issue_link_card: detail }), parts }, at())
    const text = cardText(platform.got[0])
    expect([text.includes("Title 1"), text.includes("Message 1")]).toEqual([titles, messages])
  })

  it("shows the message of a problem without a title where a card shows titles", async () => {
    const untitled = finding(1, { title: undefined, message: "Divides by zero.\n\nMore of it." })
    const parts = { lineComments: false, summary: true, recorded: true }
    await publishAll({ ...setup("feishu_bot", { issue_link_card: "titles" }), parts }, at([untitled]))
    const text = cardText(platform.got[0])
    expect([text.includes("Divides by zero"), text.includes("More of it")]).toEqual([true, false])
  })

  it.each<readonly [string, Reply, number, string]>([
    ["a lost answer counts as sent", { cut: true }, 1, "sent"],
    ["a broken platform may have it", { status: 500 }, 1, "sent"],
    ["503 is tried again", { status: 503 }, 2, "sent"],
    ["a limit is tried again", { body: { code: 11232, msg: "frequency limited" } }, 2, "sent"],
    ["429 is tried again", { status: 429 }, 2, "sent"],
    ["a refusal is final", { body: { code: 19021, msg: "sign match fail" } }, 1, "failed"],
    ["a wrong address is final", { status: 404 }, 1, "failed"]
  ])("%s", async (_, reply, requests, status) => {
    platform.replies.push(reply)
    const [row] = await publishAll(setup("feishu_bot"), at())
    expect([platform.got.length, row?.status]).toEqual([requests, status])
    expect(JSON.stringify(row)).not.toContain("secret-key")
  })

  it("follows the policy for clean reviews", async () => {
    const quiet = workspace({ no_problems: { action: "suppress" } })
    await publishAll(setup("feishu_bot"), { ...at([]), workspace: quiet })
    expect(platform.got).toEqual([])
    await publishAll(setup("feishu_bot"), { ...at([]), workspace: workspace() })
    expect(platform.got).toEqual([])
    await publishAll(setup("feishu_bot"), { ...at([]), workspace: workspace({ no_problems: { action: "publish" } }) })
    expect(platform.got).toHaveLength(1)
  })

  it("sends nothing about a later round without news, unless a person requested it", () => {
    const round = { number: 2, key: "k", read: [], reported: [] }
    const plan = (kind: "new" | "carried", requestedBy?: string) => {
      const findings = [{ ...finding(1), round: { kind, since: 1 } }]
      const given = input(findings, { analysis: analysis(findings, { round }) })
      const change = { ...given.change, requestedBy }
      return table.feishu_bot.plan({ ...given, change }, setup("feishu_bot").channel, {
        lineComments: true,
        summary: true
      })
    }
    expect(plan("carried")).toEqual([])
    expect(plan("carried", "erin")).toHaveLength(1)
    expect(plan("new")).toHaveLength(1)
  })

  it("notifies a group of each new issue once, whatever is lost", async () => {
    host.forge.fail(/POST .*\/issues$/, { kind: "lost" })
    platform.replies.push({ cut: true })
    const to = {
      forge: host.forge,
      kind: table.gitea_problem_issue,
      channel: channel({
        name: "issues",
        kind: "gitea_problem_issue",
        notify_feishu: { webhook_url_env: "HOOK" },
        assign_committer: false
      }),
      credentials: { webhook_url: platform.url }
    }
    await publishAll(to, at())
    await publishAll(to, { ...at(), head: "b".repeat(40), analysis: analysis([finding(1)]) })
    expect(platform.got.map(cardText).toSorted()).toEqual([
      expect.stringContaining("[AICR Title 1 (src/a.ts)]("),
      expect.stringContaining("[AICR Title 2 (src/a.ts)](")
    ])
    expect(host.forge.issues(repoName).issues).toHaveLength(2)
    expect(platform.got[0]).not.toHaveProperty("sign")
  })
})

describe("split", () => {
  it.each([
    ["short", 10, 3, ["short"]],
    ["one\ntwo\nthree", 8, 3, ["one\ntwo", "three"]],
    ["abcdefgh", 4, 3, ["abcd", "efgh"]],
    ["字字字", 4, 3, ["字", "字", "字"]],
    ["aaaa\nbbbb\ncccc\ndddd", 5, 9, ["aaaa", "bbbb", "cccc", "dddd"]]
  ] as const)("%j in %i bytes", (text, most, parts, expected) => {
    expect(split(text, most, parts, "…")).toEqual(expected)
  })
  it("closes a code block that continues in the next part, and opens it again there", () => {
    const code = Array.from({ length: 12 }, (_, at) => `const line${at} = ${at}`)
    const text = ["Look:", "```ts", ...code, "```", "End of the text"].join("\n")
    const parts = split(text, 120, 9, "…")
    expect(parts.length).toBeGreaterThan(2)
    for (const part of parts) {
      expect(Buffer.byteLength(part)).toBeLessThanOrEqual(120)
      expect(part.split("\n").filter((line) => line.startsWith("```")).length % 2).toBe(0)
      expect(part).not.toMatch(/```ts\n```/)
    }
    const lines = parts.flatMap((part) => part.split("\n")).filter((line) => !line.startsWith("```"))
    expect(lines).toEqual(["Look:", ...code, "End of the text"])
    expect(parts.slice(1).some((part) => part.startsWith("```ts\nconst line"))).toBe(true)
    const cut = split(text, 120, 2, "cut here")
    expect(cut).toHaveLength(2)
    expect(cut[1]?.endsWith("```\n\ncut here")).toBe(true)
    expect(Buffer.byteLength(cut[1] ?? "")).toBeLessThanOrEqual(120)
  })

  it.each(["<at id=ou_0123456789></at>", "<@ada.lovelace>", mentionSlot])("keeps the mention %s whole", (mention) => {
    for (let before = 1; before < 60; before++) {
      const parts = split(`${"x".repeat(before)}${mention}${"y".repeat(70)}`, 60, 9, "…")
      expect(parts.join("")).toBe(`${"x".repeat(before)}${mention}${"y".repeat(70)}`)
      expect(parts.filter((part) => part.includes(mention))).toHaveLength(1)
      for (const part of parts) expect(Buffer.byteLength(part)).toBeLessThanOrEqual(60)
    }
  })

  it("marks what it cut", () => {
    const parts = split("line of text\n".repeat(50), 40, 2, "cut")
    expect(parts).toHaveLength(2)
    expect(parts[1]?.endsWith("\n\ncut")).toBe(true)
    for (const part of parts) expect(Buffer.byteLength(part)).toBeLessThanOrEqual(40)
  })
})

describe("credentials", () => {
  it("are named with their channel where an address is missing", async () => {
    const context = {
      client: Effect.die("not asked"),
      change: input([]).change,
      reviewed: input([]).change,
      workspace: workspace(),
      channel: channel({ name: "chat", kind: "feishu_bot" }),
      credential: () => undefined,
      cache: noCache,
      members: MemberFiles.none
    }
    const [planned] = table.feishu_bot.plan(input([finding(1)]), context.channel, {
      lineComments: false,
      summary: true
    })
    if (planned === undefined) throw new Error("nothing planned")
    const row = {
      id: "1",
      runId: "r",
      targetKey: TargetKey.make("t"),
      channel: "chat",
      status: "pending",
      position: 0,
      attempts: 0,
      ...planned
    } as const
    const error = await Effect.runPromise(owned(Effect.flip(table.feishu_bot.send(context, row, undefined))))
    expect(error.message).toBe("channel chat has no webhook_url; set webhook_url_env to its variable")
  })
})
