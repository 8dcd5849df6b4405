/** People command the service in Slack: the real process, its long connection, a process that is killed while it replies. */
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { FakeSlack, slackTokens } from "../harness/FakeSlack.ts"
import { Installation } from "../harness/Installation.ts"
import { runAicr } from "../harness/RunAicr.ts"
import { waitUntil } from "../harness/Wait.ts"

describe("commands in Slack", { timeout: 180_000 }, () => {
  let slack: FakeSlack
  let at: Installation

  beforeAll(async () => {
    slack = await FakeSlack.start()
    slack.members = { C9: ["UX", "UY", "UMEMBER"], S1: ["UGROUP"] }
    at = await Installation.make({
      queue: "sqlite",
      channels: [
        {
          name: "slack",
          kind: "slack_app",
          connection: "slack",
          conversation: "C7",
          direct_message: true,
          user_mappings: { dana: "UDANA" }
        }
      ],
      rules: [{ match: { target_kind: "pull_request" }, line_comments: ["review"], summary: ["review", "slack"] }],
      im: {
        connections: {
          slack: { kind: "slack_app", app_token_env: "SLACK_APP", bot_token_env: "SLACK_BOT", base_url: slack.url }
        },
        command_bindings: {
          team: {
            enabled: true,
            connection: "slack",
            actors: [
              { type: "slack_user", id: "UADA" },
              { kind: "slack_channel", id: "C9" },
              { kind: "slack_usergroup", id: "S1" }
            ],
            conversations: [{ kind: "group", id: "C1" }],
            commands: ["help", "projects", "review", "cancel", "detail", "prdetail"],
            repositories: { app: { workspace: "team-one" } }
          }
        }
      },
      env: { SLACK_APP: slackTokens.app, SLACK_BOT: slackTokens.bot }
    })
    await at.aicr.start()
    await connected()
  }, 120_000)
  afterAll(async () => {
    await at?.[Symbol.asyncDispose]()
    await slack?.[Symbol.asyncDispose]()
  })

  const log = () => at.aicr.log.slice(-6000)
  const connected = () =>
    waitUntil(() => slack.connections > 0, { timeout: 60_000, describe: () => `a connection; ${log()}` })
  const replyTo = (ts: string, has: string) =>
    waitUntil(() => slack.repliesTo(ts).find(({ texts }) => texts.at(-1)?.includes(has)), {
      timeout: 60_000,
      describe: () => `${has} to ${ts}: ${JSON.stringify(slack.repliesTo(ts))}; ${log()}`
    })

  it.each([
    ["1.1", "UADA", "app"],
    ["1.2", "UMEMBER", "app"],
    ["1.3", "UGROUP", "app"],
    ["1.4", "UEVE", "not authorised"]
  ])("%s of %s gets %s, for people, members of a channel and of a group", async (ts, user, words) => {
    expect(await slack.write(ts, "projects", { user })).toBe(1)
    await replyTo(ts, words)
    expect(slack.repliesTo(ts)).toHaveLength(1)
  })

  it("replaces the progress of a review by its result, with buttons that work once", async () => {
    const pull = await at.open("slack")
    await slack.write("2.1", `review app ${pull.number}`)
    const { buttons, texts } = await replyTo("2.1", "src/slack.ts:2")
    expect(texts.length).toBeGreaterThan(1)
    expect(slack.repliesTo("2.1")).toHaveLength(1)
    const details = buttons[1] ?? ""
    for (let press = 0; press < 2; press++) await slack.press(details, { ts: "2.1", at: "2.5" })
    await waitUntil(() => slack.repliesTo("2.1").length === 2, {
      timeout: 60_000,
      describe: () => `details: ${JSON.stringify(slack.repliesTo("2.1"))}; ${log()}`
    })
    // A used button gets that as its reply.
    await slack.press(details, { ts: "2.1", at: "2.6" })
    await waitUntil(() => slack.repliesTo("2.1").at(-1)?.texts[0]?.includes("used already") === true, {
      timeout: 60_000,
      describe: () => `a used button: ${JSON.stringify(slack.repliesTo("2.1"))}; ${log()}`
    })
    expect(slack.repliesTo("2.1")).toHaveLength(3)
  })

  const postedOf = (file: string) =>
    slack.messages.filter(({ texts }) => texts.some((text) => text.includes(file))).map(({ channel }) => channel)

  it("posts a review to a conversation and to its author once although the process is killed while it posts", async () => {
    const killedAt = new Set<string>()
    let restarted = Promise.resolve()
    slack.decide = (method, body) => {
      const { channel } = Object(body)
      if (method !== "chat.postMessage" || !["C7", "DUDANA"].includes(channel) || killedAt.has(channel))
        return undefined
      killedAt.add(channel)
      // The process may send the next message before it is ready.
      restarted = restarted.then(() => at.aicr.kill()).then(() => at.aicr.start())
      return "lost"
    }
    const pull = await at.open("posted")
    await at.forge.notify(pull, "opened")
    await waitUntil(() => killedAt.size === 2, { timeout: 90_000, describe: () => `two messages; ${log()}` })
    await restarted
    await at.settled()
    expect(postedOf("src/posted.ts")).toEqual(["C7", "DUDANA"])
    slack.decide = () => undefined
    await connected()
  })

  it("sends no direct message to an author without rights who stopped them, and reports it", async () => {
    await slack.write("4.1", "stop", { channel: "DUDANA", user: "UDANA" })
    await replyTo("4.1", "no more direct messages")
    const pull = await at.open("stopped")
    await at.forge.notify(pull, "opened")
    await at.settled()
    expect(postedOf("src/stopped.ts")).toEqual(["C7"])
    const env = { TEST_KEY: "k", TEST_TOKEN_0: "t", TEST_SECRET: "s", SLACK_APP: "a", SLACK_BOT: "b" }
    const { out } = await runAicr(["why", `team/one#${pull.number}`, "--config", join(at.directory, "config.yaml")], {
      env
    })
    expect(out).toContain("slack DirectMessage: nothing to do: no direct message: the author has stopped")
  })

  it("replies once to each command although the process is killed while it replies", async () => {
    slack.ackMillis = 1000
    let kills = 0
    let killing: Promise<void> | undefined
    slack.decide = (method) => {
      if (method !== "chat.postMessage" || kills >= 3 || killing !== undefined) return undefined
      kills += 1
      killing = at.aicr.kill().then(() => at.aicr.start())
      void killing.finally(() => (killing = undefined))
      // Executed before the process is dead, or not at all.
      return kills % 2 === 1 ? "lost" : { status: 500, body: {} }
    }
    const commands = Array.from({ length: 12 }, (_, index) => `3.${index}`)
    for (const ts of commands) {
      while ((await slack.write(ts, "projects")) === undefined) await connected()
      await killing
    }
    for (const ts of commands) await replyTo(ts, "app")
    expect(kills).toBe(3)
    expect(commands.map((ts) => slack.repliesTo(ts).length)).toEqual(commands.map(() => 1))
  })
})
