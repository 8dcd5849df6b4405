/** Webhooks of Slack, Teams and programs: what they get, signed and split, and what becomes of a message without a response. */
import { createHmac } from "node:crypto"
import { readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { join } from "node:path"
import type * as Cards from "adaptivecards"
import { Redacted, Schema } from "effect"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { isRecord } from "../../../src/config/document/Path.ts"
import { newId } from "../../../src/domain/Ids.ts"
import { forgeTable } from "../../../src/forge/hosts/ForgeTable.ts"
import type { ChannelKind } from "../../../src/outputs/channels/Channel.ts"
import { channelTable } from "../../../src/outputs/channels/Channels.ts"
import { standardHeaders } from "../../../src/outputs/chat/HookSends.ts"
import { teamsWebhook } from "../../../src/outputs/chat/TeamsMessage.ts"
import { WebhookBody } from "../../../src/outputs/chat/WebhookMessage.ts"
import type { Fault } from "../../../demo/DemoForge.ts"
import { startHost } from "../../forge/Clients.ts"
import { startChatPlatform } from "../../harness/ChatPlatform.ts"
import { fault } from "../../harness/FakeForge.ts"
import { analysis, channel, finding, input, renderError } from "../Fixtures.ts"
import { publishAll } from "../Publishing.ts"

// The entry of the package names files without their endings, which Node refuses.
const vendor: typeof Cards = createRequire(import.meta.url)("adaptivecards/dist/adaptivecards.js")
const table = channelTable((kind) => forgeTable[kind].bodyLimit)
type Hook = "slack_webhook" | "teams_webhook" | "webhook"
const secret = `whsec_${Buffer.from("a key of twenty-four bytes").toString("base64")}`

/** Rows of the outbox have the time of their creation in their id. */
const withTime = (kind: ChannelKind): ChannelKind => ({
  ...kind,
  find: (context, publication, previous) => kind.find(context, { ...publication, id: newId() }, previous)
})

/** The example of its libraries. */
it("signs as Standard Webhooks documents it", () => {
  const headers = standardHeaders(
    "msg_p5jXN8AQM9LWM0D4loKWxJek",
    1614265330,
    Redacted.make("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"),
    '{"test": 2432232314}'
  )
  expect(headers).toEqual({
    "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
    "webhook-timestamp": "1614265330",
    "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
  })
})

it("docs/webhook-body.schema.json is the schema of the body", () => {
  const path = join(import.meta.dirname, "../../../docs/webhook-body.schema.json")
  const { definitions, schema } = Schema.toJsonSchemaDocument(WebhookBody)
  expect(JSON.parse(readFileSync(path, "utf8"))).toEqual({
    $schema: "https://json-schema.org/draft/2020-12/schema",
    $id: "https://aicr.invalid/webhook-body.schema.json",
    ...schema,
    ...(Object.keys(definitions).length === 0 ? {} : { $defs: definitions })
  })
})

describe("webhooks", () => {
  let platform: Awaited<ReturnType<typeof startChatPlatform>>
  let host: Awaited<ReturnType<typeof startHost>>
  beforeEach(async () => {
    ;[platform, host] = await Promise.all([startChatPlatform(), startHost("gitea")])
  })
  afterEach(async () => {
    await Promise.all([platform.stop(), host.forge.stop()])
  })

  const setup = (kind: Hook, settings: Parameters<typeof channel>[0] = {}) => ({
    forge: host.forge,
    kind: withTime(table[kind]),
    channel: channel({ name: "hook", kind, ...settings }),
    credentials: { webhook_url: platform.url, secret }
  })
  const at = (findings = [finding(1), finding(2, { severity: "high" })]) => input(findings, { head: host.pull.head })
  const messages = (): ReadonlyArray<Record<string, unknown>> =>
    platform.got.map((text) => {
      const value: unknown = JSON.parse(text)
      return isRecord(value) ? value : {}
    })
  const list = (value: unknown): ReadonlyArray<Record<string, unknown>> =>
    Array.isArray(value) ? value.filter(isRecord) : []
  const sections = (message: Record<string, unknown>) =>
    list(message["blocks"]).flatMap(({ text, type }) => (type === "section" && isRecord(text) ? [text] : []))
  const slackText = () =>
    messages()
      .flatMap(sections)
      .map(({ text }) => String(text))
      .join("\n")

  it("sends a signed review to a program, with its findings as data", async () => {
    await publishAll(setup("webhook", { max_comments: 1 }), at())
    const [headers, text = ""] = [platform.headers[0], platform.got[0]]
    const [id, seconds] = [String(headers?.["webhook-id"]), String(headers?.["webhook-timestamp"])]
    const key = Buffer.from("a key of twenty-four bytes")
    const signature = createHmac("sha256", key).update(`${id}.${seconds}.${text}`).digest("base64")
    expect(headers?.["webhook-signature"]).toBe(`v1,${signature}`)
    const body = Schema.decodeUnknownSync(WebhookBody, { onExcessProperty: "error" })(JSON.parse(text))
    expect(body).toMatchObject({ version: 1, type: "review", data: { severity: "high" } })
    expect(body.data.text).toContain("Message 2")
    expect(body.data.review).toEqual({
      run_id: "run-1",
      provider: "gitea",
      trigger: "host",
      workspace: "shop",
      repository: "team/shop",
      target: { kind: "pull_request", number: 1 },
      head: host.pull.head,
      findings: [
        {
          fingerprint: "2".padStart(32, "0"),
          severity: "high",
          category: "bug",
          title: "Title 2",
          message: "Message 2",
          file: "src/a.ts",
          line: 2
        }
      ],
      hidden: 1
    })
  })

  it("sends Slack its own markup: one mark for strong text, links in angle brackets, escaped text", async () => {
    const hostile = "<!channel> & <@U024BE7LH> *x* `a` [b](https://evil.test)"
    await publishAll(setup("slack_webhook", { mention_author: true, mention_fallback: "all" }), {
      ...at([finding(1, { message: `${hostile}\n\n\`\`\`ts\nconst a = <T>(b: T) => b && "<!here>"\n\`\`\`` })]),
      runUrl: "https://aicr.test/runs/1?a=1&b=2"
    })
    const [message] = messages()
    expect(message).toMatchObject({ blocks: [{ type: "header", text: { type: "plain_text" } }, { type: "section" }] })
    expect(sections(message ?? {})[0]).toMatchObject({ type: "mrkdwn", verbatim: true })
    const text = slackText()
    expect(text).toContain("*1 problem found*")
    expect(text).toContain("<https://aicr.test/runs/1?a=1&amp;b=2|")
    expect(text).toContain("&lt;!channel&gt; &amp; &lt;@")
    expect(text).toContain('```\nconst a = &lt;T&gt;(b: T) =&gt; b &amp;&amp; "&lt;!here&gt;"\n```')
    expect(text).toMatch(/^<!channel>\n/)
    expect(text.match(/<[^>]*>/g)).toEqual(["<!channel>", expect.stringContaining("<https://aicr.test/")])
  })

  it("splits for Slack: sections of at most 3,000 characters, messages of at most 50 blocks and 13,000 characters", async () => {
    const text = `${"a < b & c ".repeat(400)}\n\n\`\`\`\n${'if (x < 1 && y) { "z" }\n'.repeat(300)}\`\`\`\n\n${"字".repeat(4000)}`
    await publishAll(setup("slack_webhook"), at([finding(1, { message: text })]))
    expect(messages().length).toBeGreaterThan(1)
    for (const message of messages()) {
      const texts = sections(message).map(({ text: one }) => String(one))
      expect(texts.length).toBeLessThanOrEqual(49)
      expect(Math.max(...texts.map((one) => one.length))).toBeLessThanOrEqual(3000)
      expect(texts.join("").length).toBeLessThanOrEqual(13_000)
      for (const one of texts) {
        expect(one.split("\n").filter((line) => line.startsWith("```")).length % 2).toBe(0)
        // No escape is split.
        expect(one.replace(/&(amp|lt|gt);/g, "")).not.toMatch(/[&<>]/)
      }
    }
  })

  /** Reads a card as Microsoft's own library does: what it objects to, and what it understood. */
  const readCard = ({ msteams: _msteams, ...card }: Readonly<Record<string, unknown>>) => {
    const context = new vendor.SerializationContext()
    const parsed = new vendor.AdaptiveCard()
    parsed.parse(card, context)
    const objections = Array.from({ length: context.eventCount }, (_, index) => context.getEventAt(index).message)
    return { card, objections, understood: parsed.toJSON() }
  }

  it.each(["critical", "low", undefined] as const)("every part of a card is one that Teams reads: %s", (severity) => {
    const body = "A *text*.\n\n```ts\nconst a = 1\n```\n\nMore."
    const { attachments } = teamsWebhook.message({ title: "2 problems", body, severity })
    const { card, objections, understood } = readCard(attachments[0]?.content ?? {})
    expect(objections).toEqual([])
    expect(understood).toEqual(card)
  })

  it("sends Teams an Adaptive Card, with code as text without markup", async () => {
    const code = "```ts\nconst a = 1 // [x](https://evil.test)\n```"
    await publishAll(setup("teams_webhook"), at([finding(1, { message: `See [x](https://evil.test).\n\n${code}` })]))
    const [message] = messages()
    const [attachment] = list(message?.["attachments"])
    expect(message?.["type"]).toBe("message")
    expect(attachment).toMatchObject({
      contentType: "application/vnd.microsoft.card.adaptive",
      content: { type: "AdaptiveCard", version: "1.4", body: [{ type: "TextBlock", weight: "Bolder" }, {}, {}] }
    })
    const body = isRecord(attachment?.["content"]) ? list(attachment["content"]["body"]) : []
    const run = list(body.find(({ type }) => type === "RichTextBlock")?.["inlines"])[0]
    expect(run).toMatchObject({
      type: "TextRun",
      fontType: "Monospace",
      text: expect.stringMatching(/^const a = 1 \/\/ /)
    })
    const texts = body.filter(({ type }) => type === "TextBlock").map(({ text }) => String(text))
    expect(texts.join("\n")).not.toMatch(/https:\/\/evil|\]\((?!http:\/\/forge\.test\/)/)
  })

  it.each([
    ["lines", "a\n".repeat(3000)],
    ["quotes", '"\\'.repeat(3000)],
    ["blocks of code", "```\na\n```\n".repeat(600)],
    ["long names", "字".repeat(2000)]
  ])("keeps a request to Teams below 28 KB, whatever it escapes: %s", (_, text) => {
    const body = text.slice(0, 6000)
    const message = teamsWebhook.message({ title: '"'.repeat(300), body, severity: "high" })
    expect(Buffer.byteLength(JSON.stringify(message))).toBeLessThanOrEqual(28 * 1024)
    // Nothing of the body is missing.
    const letters = (all: string) => (all.match(/[a字]/g) ?? []).length
    expect(
      letters(
        JSON.stringify(message).replace(
          /"(?:type|text|wrap|\$schema|version|size)":|TextBlock|RichTextBlock|TextRun/g,
          ""
        )
      )
    ).toBeGreaterThanOrEqual(letters(body))
  })

  it.each<readonly [string, Hook, Fault, number, string, string | undefined]>([
    ["Slack: a lost response counts as sent", "slack_webhook", fault.lost, 1, "sent", undefined],
    ["Slack: a broken platform may have it", "slack_webhook", fault.broken, 0, "sent", undefined],
    ["Slack: 429 is tried again", "slack_webhook", fault.tooMany("1"), 1, "sent", undefined],
    ["Teams: 503 is tried again", "teams_webhook", fault.unavailable, 1, "sent", undefined],
    [
      "Teams: a refusal is final",
      "teams_webhook",
      fault.invalid,
      0,
      "failed",
      "the webhook responded with status 422; check webhook_url of the channel"
    ],
    ["a program: a lost response is repeated with its id", "webhook", fault.lost, 1, "sent", undefined],
    ["a program: status 500 is repeated with its id", "webhook", fault.broken, 1, "sent", undefined],
    ["a program: a cut connection is repeated", "webhook", fault.cut, 1, "sent", undefined],
    [
      "a program: a wrong address is final",
      "webhook",
      fault.missing,
      0,
      "failed",
      "the webhook responded with status 404; check webhook_url of the channel"
    ]
  ])("%s", async (_, kind, thrown, kept, status, error) => {
    let struck = 0
    platform.decide = () => (struck++ === 0 ? thrown : undefined)
    const [row] = await publishAll(setup(kind), at())
    expect([platform.got.length, row?.status, renderError(row)]).toEqual([kept, status, error])
    expect(JSON.stringify(row)).not.toMatch(/hook\/key|whsec_/)
  })

  it("sends a program one request for a review, and none for a clean one", async () => {
    await publishAll(setup("webhook"), at([]))
    expect(platform.got).toEqual([])
    const many = Array.from({ length: 60 }, (_, n) => finding(n + 1, { message: "long ".repeat(200) }))
    await publishAll(setup("webhook"), { ...at(many), analysis: analysis(many) })
    expect(messages().map(({ type }) => type)).toEqual(["review"])
  })
})
