/** Fields of `im.connections` that long connections use. */
import { Redacted } from "effect"
import { describe, expect, it } from "vitest"
import { findSession } from "../../src/chat/ChatSessions.ts"
import { FakeChatPlatform, platformSecrets } from "../harness/FakeChatPlatform.ts"
import { FakeSlack, slackTokens } from "../harness/FakeSlack.ts"
import { testSnapshot } from "../harness/TestSnapshot.ts"
import { waitUntil } from "../harness/Wait.ts"
import { startSession } from "./Sessions.ts"

const env = { BOT: platformSecrets.wecomBot, FEISHU: platformSecrets.feishu }
const snapshotOf = (connection: object) => testSnapshot({ im: { connections: { c: connection } } }, env)
const sessionOf = (connection: object) => findSession(snapshotOf(connection), "c", undefined)

describe("long connections", () => {
  it.each([
    ["secret", { secret: Redacted.make(platformSecrets.wecomBot) }],
    ["secret_env", { secret_env: "BOT" }]
  ])("%s and aibot_id subscribe at base_url", async (_, secret) => {
    await using platform = await FakeChatPlatform.start()
    const settings = { kind: "wecom_aibot", corp_id: "corp", aibot_id: "bot", base_url: platform.url, ...secret }
    const session = sessionOf(settings)
    if (session === undefined) throw new Error("no session")
    await using running = startSession(session)
    running.end.catch(() => {})
    await waitUntil(() => platform.wecomSocket.isSubscribed("bot"), { describe: () => "a subscription" })
    expect(platform.wecomSocket.subscriptions).toBe(1)
  })

  it.each([
    ["app_token", { app_token: Redacted.make(slackTokens.app) }],
    ["app_token_env", { app_token_env: "APP" }]
  ])("%s opens that of a Slack app at base_url", async (_, token) => {
    await using slack = await FakeSlack.start()
    const connection = { kind: "slack_app", bot_token: Redacted.make("b"), ...token, base_url: slack.url }
    const snapshot = testSnapshot({ im: { connections: { c: connection } } }, { APP: slackTokens.app })
    const session = findSession(snapshot, "c", undefined)
    if (session === undefined) throw new Error("no session")
    await using running = startSession(session)
    running.end.catch(() => {})
    await waitUntil(() => running.state.ready === 1, { describe: () => "a greeting" })
    expect(slack.opened).toBe(1)
  })

  it("are opened by feishu_app and wecom_aibot without an enabled callback", () => {
    const lark = { kind: "feishu_app", app_id: "cli_a", app_secret_env: "FEISHU" }
    const bot = { kind: "wecom_aibot", corp_id: "corp", aibot_id: "bot", secret_env: "BOT" }
    const app = { kind: "wecom_app", corp_id: "corp", agent_id: "5", app_secret_env: "FEISHU" }
    const callback = { enabled: true }
    const opened = [lark, bot, app, { ...lark, callback }, { ...bot, callback }, { ...bot, enabled: false }].map(
      (connection) => sessionOf(connection) !== undefined
    )
    expect(opened).toEqual([true, true, false, false, false, false])
  })

  it("are the same until a setting changes", () => {
    const bot = { kind: "wecom_aibot", corp_id: "corp", aibot_id: "bot", secret_env: "BOT" }
    const first = sessionOf(bot)
    expect(findSession(snapshotOf(bot), "c", first)).toBe(first)
    expect(findSession(snapshotOf({ ...bot, aibot_id: "other" }), "c", first)).not.toBe(first)
    expect(findSession(snapshotOf({ ...bot, secret_env: "FEISHU" }), "c", first)).not.toBe(first)
  })
})
