/**
 * A workspace that reviews without publishing, through the real process: the host, the chat and the author get nothing, the page of the review has what would
 * have been published, and its findings are published with the next head once the workspace publishes.
 */
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, expect, it } from "vitest"
import { parse, stringify } from "yaml"
import { AdminSession, adminEnv } from "../harness/AdminSession.ts"
import { startChatPlatform } from "../harness/ChatPlatform.ts"
import type { ChatPlatform } from "../harness/ChatPlatform.ts"
import { FakeSlack, slackTokens } from "../harness/FakeSlack.ts"
import { Installation, listStates } from "../harness/Installation.ts"
import { makeStatementKey, signing, storedStatements } from "../harness/StatementKeys.ts"
import { waitUntil } from "../harness/Wait.ts"
import { runAicr } from "../harness/RunAicr.ts"

let at: Installation
let chat: ChatPlatform
let slack: FakeSlack
const writes: Array<string> = []
beforeAll(async () => {
  chat = await startChatPlatform()
  slack = await FakeSlack.start()
  at = await Installation.make({
    queue: "sqlite",
    review: { labels: { auto_tag: "in-review", reviewed_tag: "reviewed" } },
    channels: [
      { name: "chat", kind: "feishu_bot", webhook_url: chat.url },
      { name: "issues", kind: "gitea_problem_issue" },
      {
        name: "direct",
        kind: "slack_app",
        connection: "slack",
        conversation: "C7",
        direct_message: true,
        user_mappings: { dana: "UDANA" }
      }
    ],
    im: {
      connections: {
        slack: { kind: "slack_app", app_token: slackTokens.app, bot_token: slackTokens.bot, base_url: slack.url }
      }
    },
    rules: [
      {
        match: { target_kind: "pull_request" },
        line_comments: ["review"],
        summary: ["review", "chat", "issues", "direct"]
      }
    ],
    server: signing,
    env: { ...adminEnv, TEST_STATEMENT_KEY: makeStatementKey().pem }
  })
  configure(true)
  at.host.onRequest = ({ method, path }) => {
    if (method !== "GET") writes.push(`${method} ${path}`)
    return undefined
  }
  await at.aicr.start()
})
afterAll(async () => {
  await at[Symbol.asyncDispose]()
  await chat.stop()
  await slack[Symbol.asyncDispose]()
})

const configure = (shadow: boolean): void => {
  const file = join(at.directory, "config.yaml")
  const document = parse(readFileSync(file, "utf8"))
  document.workspaces.instances["team-one"].outputs = { shadow }
  writeFileSync(file, stringify(document))
}

const why = async (): Promise<string> => {
  const env = { TEST_KEY: "k", TEST_TOKEN_0: "t", TEST_SECRET: "s" }
  const { err, out } = await runAicr(["why", "team/one#1", "--config", join(at.directory, "config.yaml")], { env })
  return out + err
}

it("publishes nothing until it leaves the shadow, and then with the next head", { timeout: 120_000 }, async () => {
  const admin = await AdminSession.open(at.aicr.url)
  const runs = () => admin.items("/runs")
  const ended = (count: number) =>
    waitUntil(async () => (await runs()).length >= count && at.unfinished().length === 0, {
      timeout: 60_000,
      describe: () => `${at.unfinished().join()} ${at.aicr.log.slice(-4000)}`
    })
  const pull = await at.open("first")
  await at.forge.notify(pull, "opened")
  await ended(1)
  expect([writes, chat.got, slack.messages]).toEqual([[], [], []])

  const [run] = await runs()
  expect(run).toMatchObject({ status: "succeeded", findings: 1, reason: { _tag: "InShadow" } })
  const { body } = await admin.get(`/runs/${run?.["id"]}`)
  const { withheld } = body
  expect(withheld).toMatchObject({ state: "success" })
  const texts: ReadonlyArray<Record<string, unknown>> = Object(withheld).texts
  expect(texts.map(({ operation, path }) => [operation, path])).toEqual(
    expect.arrayContaining([
      ["Summary", undefined],
      ["Review", "src/first.ts"],
      ["Issues", "src/first.ts"],
      ["Chat", undefined],
      ["DirectMessage", undefined],
      ["Label", undefined]
    ])
  )
  const summary = texts.find(({ operation }) => operation === "Summary")?.["text"]
  expect(summary).toContain("Problem of first")
  expect(JSON.stringify(texts)).not.toContain("<!-- aicr")
  expect(Object(body["findings"])[0]).not.toHaveProperty("outcome")
  const [statement = ""] = storedStatements(join(at.directory, "objects")).values()
  const { predicate } = JSON.parse(Buffer.from(JSON.parse(statement).payload, "base64").toString())
  expect(predicate).toMatchObject({ outcome: "success", shadow: true })
  expect(await why()).toContain("review Summary: nothing to do: not published, because the workspace reviews in shadow")

  const loads = () => at.aicr.log.split("configuration in force").length
  const before = loads()
  configure(false)
  await waitUntil(() => loads() > before, { describe: () => at.aicr.log.slice(-3000) })
  expect([writes, chat.got, slack.messages]).toEqual([[], [], []])
  await at.push("first", 2)
  await at.forge.notify(pull, "synchronized")
  await ended(2)
  expect(at.posted(pull)).toEqual({ reviews: [pull.head], comments: ["src/first.ts:2"], summaries: 1 })
  expect(listStates(pull)).toEqual(["pending", "success"])
  expect(chat.got).toHaveLength(1)
  expect(slack.messages.map(({ channel }) => channel).toSorted()).toEqual(["C7", "DUDANA"])
})
