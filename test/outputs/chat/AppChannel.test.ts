/** Reviews in Slack by an app: one thread for each change, and one message for each part although responses are lost. */
import { afterEach, beforeEach, expect, it } from "vitest"
import { startHost } from "../../forge/Clients.ts"
import type { Host } from "../../forge/Clients.ts"
import { FakeSlack, slackTokens } from "../../harness/FakeSlack.ts"
import { finding } from "../Fixtures.ts"
import { documentFor, only, publisher } from "../FromDocument.ts"

let host: Host
let slack: FakeSlack
beforeEach(async () => {
  ;[host, slack] = await Promise.all([startHost("gitea"), FakeSlack.start()])
})
afterEach(async () => {
  await Promise.all([host.forge.stop(), slack[Symbol.asyncDispose]()])
})

const publish = (more: object = {}) => {
  const channel = { kind: "slack_app", connection: "slack", conversation: "C7", ...more }
  const connection = {
    kind: "slack_app",
    app_token: slackTokens.app,
    bot_token: slackTokens.bot,
    base_url: slack.url
  }
  return publisher(host, { ...documentFor(host, only(channel)), im: { connections: { slack: connection } } })
}

it("posts each change to a thread of the conversation", async () => {
  const review = publish()
  const [first] = await review([finding(1)])
  expect(first).toMatchObject({ status: "sent", hostId: "100.1" })
  const [second] = await review([finding(2)])
  expect(second).toMatchObject({ status: "sent", hostId: "100.1/100.2" })
  expect(slack.messages).toMatchObject([
    { channel: "C7", thread: undefined, texts: [expect.stringContaining("Message 1")] },
    { channel: "C7", thread: "100.1", texts: [expect.stringContaining("Message 2")] }
  ])
})

it("starts a thread again if people deleted the first message", async () => {
  const review = publish()
  await review([finding(1)])
  slack.decide = (_, body) =>
    Object(body).thread_ts === undefined ? undefined : { status: 200, body: { ok: false, error: "thread_not_found" } }
  expect(await review([finding(2)])).toMatchObject([{ status: "sent", hostId: "100.2" }])
  slack.decide = () => undefined
  await review([finding(3)])
  expect(slack.messages.map(({ thread }) => thread)).toEqual([undefined, undefined, "100.2"])
})

it("splits a long review into messages that Slack accepts, in one thread", async () => {
  const many = Array.from({ length: 90 }, (_, at) => finding(at + 1, { message: `"${"word & <b> ".repeat(60)}"` }))
  const rows = await publish()(many)
  expect(rows.length).toBeGreaterThan(1)
  expect(slack.messages).toHaveLength(rows.length)
  expect(new Set(slack.messages.slice(1).map(({ thread }) => thread))).toEqual(new Set(["100.1"]))
})

it("notifies the author whom user_mappings name by an id of Slack only", async () => {
  await publish({ mention_author: true, user_mappings: { dana: "UDANA" } })([finding(1)])
  await publish({ mention_author: true, user_mappings: { dana: "not an id" } })([finding(1)])
  const [named, unnamed] = slack.messages.map(({ texts }) => texts.join(""))
  expect(named).toContain("<@UDANA>")
  expect(unnamed).not.toContain("<@")
})
