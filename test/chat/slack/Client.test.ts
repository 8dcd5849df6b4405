/** Messages of a Slack app: one per key although a response is lost, within the limits of blocks, and errors by their names. */
import { Effect, Redacted } from "effect"
import { afterEach, beforeEach, expect, it } from "vitest"
import type { ChatText } from "../../../src/chat/ChatClient.ts"
import { makeSlackApi } from "../../../src/chat/slack/Api.ts"
import { makeSlackClient } from "../../../src/chat/slack/Client.ts"
import { FakeSlack, slackTokens } from "../../harness/FakeSlack.ts"

let slack: FakeSlack
beforeEach(async () => {
  slack = await FakeSlack.start()
})
afterEach(() => slack[Symbol.asyncDispose]())

const clientWith = (token: string = slackTokens.bot) =>
  makeSlackClient(makeSlackApi({ baseUrl: slack.url, token: Redacted.make(token) }))
const to = {
  conversation: { kind: "group", id: "C1" },
  sender: { type: "slack_user", id: "UADA" },
  reply: { messageId: "1.1" }
} as const
const text = (value: string, more: Partial<ChatText> = {}): ChatText => ({
  text: value,
  buttons: [],
  isFinal: true,
  isRepeat: false,
  ...more
})
const send = (message: ChatText, key = "key-1", client = clientWith()) =>
  Effect.runPromise(Effect.result(client.send(to, message, key)))

it("replies in the thread, in the markup of Slack, and replaces the text", async () => {
  const client = clientWith()
  const buttons = [{ id: "once", label: "Cancel" }]
  const sent = await Effect.runPromise(
    client.send(to, text("**queued** [run](https://a.test/x?y=1&z=2)", { buttons }), "k")
  )
  expect(slack.messages).toMatchObject([
    { channel: "C1", thread: "1.1", texts: ["*queued* <https://a.test/x?y=1&amp;z=2|run>"], buttons: ["once"] }
  ])
  expect(client.isEditable(sent, sent.at + 60_000)).toBe(true)
  await Effect.runPromise(client.edit?.(to, sent, text("done")) ?? Effect.void)
  expect(slack.messages).toMatchObject([{ texts: [expect.any(String), "done"], buttons: [] }])
})

it("sends a message whose response is lost once", async () => {
  const faults: Array<"lost"> = ["lost"]
  slack.decide = (method) => (method === "chat.postMessage" ? faults.pop() : undefined)
  expect(await send(text("hello"))).toMatchObject({ failure: { reason: "unknown_outcome" } })
  expect(await send(text("hello", { isRepeat: true }))).toMatchObject({ success: { messageId: "100.1" } })
  expect(slack.messages).toHaveLength(1)
  // Another message is not taken for it.
  expect(await send(text("other", { isRepeat: true }), "key-2")).toMatchObject({ success: { messageId: "100.2" } })
})

it.each([1, 2900, 12_000, 400_000])("a text of %i characters is never refused", async (length) => {
  const words = `${"a word & <another> ".repeat(Math.ceil(length / 19)).slice(0, length)}`
  expect((await send(text(`\`\`\`\n${words}\n\`\`\``), `k${length}`))._tag).toBe("Success")
  expect((await send(text(words.replaceAll(" ", "\n")), `l${length}`))._tag).toBe("Success")
})

it.each([
  ["invalid_auth", "unauthorized"],
  ["missing_scope", "forbidden"],
  ["not_in_channel", "forbidden"],
  ["ratelimited", "rate_limited"],
  ["invalid_blocks", "invalid"],
  ["internal_error", "unknown_outcome"]
] as const)("reports the error %s as %s", async (error, reason) => {
  slack.decide = () => ({ status: 200, body: { ok: false, error } })
  const result = await send(text("hello"))
  expect(result).toMatchObject({ failure: { reason } })
  expect(JSON.stringify(result)).not.toContain(slackTokens.bot)
})

it("waits as long as Slack demands", async () => {
  slack.decide = () => ({ status: 429, body: { ok: false, error: "ratelimited" }, headers: { "retry-after": "7" } })
  expect(await send(text("hello"))).toMatchObject({ failure: { reason: "rate_limited", retryAfterMillis: 7000 } })
})

it("checks its token", async () => {
  await Effect.runPromise(clientWith().check)
  expect(await Effect.runPromise(Effect.result(clientWith("wrong").check))).toMatchObject({
    failure: { reason: "unauthorized" }
  })
})
