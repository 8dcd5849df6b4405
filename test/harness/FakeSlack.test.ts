/** Slack's own clients work with the fake workspace: what it accepts and sends is what they send and accept. */
import { LogLevel, SocketModeClient } from "@slack/socket-mode"
import { WebClient } from "@slack/web-api"
import type { KnownBlock } from "@slack/types"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { slackPlatform } from "../../src/outputs/chat/SlackMessage.ts"
import { toSlackSections } from "../../src/outputs/SlackSections.ts"
import { FakeSlack, slackTokens } from "./FakeSlack.ts"
import { waitUntil } from "./Wait.ts"

describe("the vendor's clients", () => {
  let slack: FakeSlack
  beforeEach(async () => {
    slack = await FakeSlack.start()
  })
  afterEach(() => slack[Symbol.asyncDispose]())

  it("post, update and find a message", async () => {
    const client = new WebClient(slackTokens.bot, { slackApiUrl: `${slack.url}/`, logLevel: LogLevel.ERROR })
    const blocks: Array<KnownBlock> = [...toSlackSections("**done**")]
    const metadata = { event_type: "aicr_message", event_payload: { key: "k" } }
    const sent = await client.apiCall("chat.postMessage", { channel: "C1", thread_ts: "1.1", blocks, metadata })
    await client.chat.update({
      channel: "C1",
      ts: String(Object(sent).ts),
      text: "more",
      blocks: [...toSlackSections("more")]
    })
    expect(slack.repliesTo("1.1")).toMatchObject([{ texts: ["*done*", "more"], metadata }])
    await expect(new WebClient("wrong", { slackApiUrl: `${slack.url}/` }).auth.test()).rejects.toThrow("invalid_auth")
  })

  it("accept the type of every block of a webhook", () => {
    const { blocks } = slackPlatform.message({ title: "Title", body: "Body", severity: undefined })
    const typed: ReadonlyArray<KnownBlock> = blocks
    expect(typed.map(({ type }) => type)).toEqual(["header", "section"])
  })

  it("receive a mention over Socket Mode, and continue after a refresh", { timeout: 60_000 }, async () => {
    const client = new SocketModeClient({
      appToken: slackTokens.app,
      logLevel: LogLevel.ERROR,
      clientOptions: { slackApiUrl: `${slack.url}/` }
    })
    const texts: Array<string> = []
    client.on("app_mention", ({ ack, event }: { ack: () => Promise<void>; event: { text: string } }) => {
      texts.push(event.text)
      void ack()
    })
    await client.start()
    expect(await slack.write("1.1", "help")).toBe(1)
    slack.refresh()
    await waitUntil(() => slack.opened === 2 && slack.connections === 1, {
      timeout: 30_000,
      describe: () => "another connection"
    })
    await waitUntil(async () => (await slack.write("1.2", "queue")) !== undefined, { describe: () => "a message" })
    expect(new Set(texts)).toEqual(new Set(["<@UBOT> help", "<@UBOT> queue"]))
    await client.disconnect()
  })
})
