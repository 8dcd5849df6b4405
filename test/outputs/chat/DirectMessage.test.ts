/** Messages to the author of a change alone: only to the person whom the configuration names for the account, by each application. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import type { Finding } from "../../../src/domain/Problem.ts"
import { run, startHost } from "../../forge/Clients.ts"
import type { Host } from "../../forge/Clients.ts"
import { FakeChatPlatform, platformSecrets } from "../../harness/FakeChatPlatform.ts"
import { FakeSlack, slackTokens } from "../../harness/FakeSlack.ts"
import { change, finding } from "../Fixtures.ts"
import { documentFor, only, publisher } from "../FromDocument.ts"

let host: Host
let slack: FakeSlack
let platform: FakeChatPlatform
let folder: string
beforeEach(async () => {
  ;[host, slack, platform] = await Promise.all([startHost("gitea"), FakeSlack.start(), FakeChatPlatform.start()])
  folder = mkdtempSync(join(tmpdir(), "aicr-direct-"))
})
afterEach(async () => {
  rmSync(folder, { recursive: true })
  await Promise.all([host.forge.stop(), slack[Symbol.asyncDispose](), platform[Symbol.asyncDispose]()])
})

const connections = () => ({
  slack: { kind: "slack_app", app_token: slackTokens.app, bot_token: slackTokens.bot, base_url: slack.url },
  lark: { kind: "feishu_app", app_id: "cli_a", app_secret: platformSecrets.feishu, base_url: platform.url },
  corp: {
    kind: "wecom_app",
    corp_id: "corp",
    agent_id: "5",
    app_secret: platformSecrets.wecom,
    base_url: platform.url,
    callback: { enabled: true, token: "t", encoding_aes_key: "a".repeat(43) }
  }
})
const publish = (channel: object, findings: ReadonlyArray<Finding>, author?: string) => {
  const tree = { ...documentFor(host, only({ direct_message: true, ...channel })), im: { connections: connections() } }
  const { head } = host.pull
  const own = author === undefined ? {} : { author: { username: author } }
  return publisher(
    host,
    tree,
    {},
    folder
  )(findings, {
    change: { ...change, provider: "gitea", baseRef: "main", head, ...own }
  })
}

const toSlack = (more: object = {}) => ({
  kind: "slack_app",
  connection: "slack",
  conversation: "C7",
  user_mappings: { dana: "UDANA" },
  ...more
})
const toLark = { kind: "feishu_app", connection: "lark", receive_id: "oc_1", user_mappings: { dana: "ou_dana" } }
const toCorp = (members: ReadonlyArray<object>) => {
  const scope = { kind: "wecom_corp", id: "corp" }
  const staff = { platform: "wecom", identity_scope: scope, members }
  writeFileSync(join(folder, "members.json"), JSON.stringify({ version: 1, directories: { staff } }))
  const directory = { source: "file", path: "members.json", directory_id: "staff", identity_scope: scope }
  const target = { kind: "recipients", users: ["lead"] }
  return { kind: "wecom_app", connection: "corp", target, member_directory: directory }
}
const member = (key: string, more: object = {}) => ({ key, mention: { type: "wecom_userid", id: key }, ...more })

describe("a direct message", () => {
  it("goes to the author in Slack, ends with the command that stops it, and stays out of the thread of the change", async () => {
    expect(await publish(toSlack(), [finding(1)])).toMatchObject([
      { operation: { _tag: "Chat" }, status: "sent" },
      { operation: { _tag: "DirectMessage" }, status: "sent", hostId: "100.2" }
    ])
    expect(slack.messages.map(({ channel, thread }) => [channel, thread])).toEqual([
      ["C7", undefined],
      ["DUDANA", undefined]
    ])
    expect(slack.calls).toEqual(["chat.postMessage", "conversations.open", "chat.postMessage"])
    const [group, direct] = slack.messages.map(({ texts }) => texts.join(""))
    expect(direct).toContain("Message 1")
    expect(direct).toContain("Reply `stop`")
    expect(group).not.toContain("Reply `stop`")
  })

  it("goes to the author in Feishu and WeCom", async () => {
    await publish(toLark, [finding(1)])
    const account = { vcs_accounts: [{ provider: "gitea", source_trigger: "host", username: "Dana" }] }
    await publish(toCorp([member("DanaL", account)]), [finding(1)])
    expect(platform.messages.map(({ to }) => to)).toEqual(["oc_1", "ou_dana", "lead", "DanaL"])
  })

  it("is not sent about a review without problems, nor without direct_message", async () => {
    await publish(toSlack({ no_problems: { action: "publish" } }), [])
    await publish(toSlack({ direct_message: false }), [finding(1)])
    expect(slack.messages.map(({ channel }) => channel)).toEqual(["C7", "C7"])
  })

  it("needs the account that pushed: names and addresses of commits, names of members and several members are no reason", async () => {
    const { email = "no@mail.test", name = "no name" } = await run(host.client.commitAuthor(host.repo, host.pull.head))
    const notSent = [{}, { operation: { _tag: "DirectMessage" }, status: "nothing_to_do" }]
    const reason = { _tag: "AuthorNotMapped", channel: "own" }
    const mappings = { [email]: "UBOSS", [name]: "UBOSS" }
    const rows = await publish(toSlack({ user_mappings: mappings }), [finding(1)], "mallory")
    expect(rows).toMatchObject(notSent)
    expect(rows.at(-1)).toMatchObject({ nothingToDo: reason })
    const account = { vcs_accounts: [{ provider: "gitea", username: "mallory" }] }
    for (const members of [
      [member("mallory", { emails: [email], display_name: "mallory", aliases: [name] })],
      [member("boss", { vcs_accounts: [{ provider: "github", username: "mallory" }] })],
      [member("boss", { vcs_accounts: [{ provider: "gitea", source_trigger: "other", username: "mallory" }] })],
      [member("one", account), member("two", account)]
    ])
      expect(await publish(toCorp(members), [finding(1)], "mallory")).toMatchObject(notSent)
    expect(slack.messages.map(({ channel }) => channel)).toEqual(["C7"])
    expect(new Set(platform.messages.map(({ to }) => to))).toEqual(new Set(["lead"]))
  })
})
