/** Fields of chat bots and of news of issues: each changes what arrives in the group. */
import { Redacted } from "effect"
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest"
import { computeFeishuSignature } from "../../src/outputs/chat/BotHook.ts"
import { repoName, startHost } from "../forge/Clients.ts"
import type { Host } from "../forge/Clients.ts"
import { startChatPlatform } from "../harness/ChatPlatform.ts"
import type { ChatPlatform } from "../harness/ChatPlatform.ts"
import { field, isText } from "../harness/Fields.ts"
import { change, finding } from "./Fixtures.ts"
import { documentFor, only, publisher } from "./FromDocument.ts"

describe("chat groups", () => {
  let host: Host
  let group: ChatPlatform
  beforeAll(async () => {
    ;[host, group] = await Promise.all([startHost("gitea"), startChatPlatform()])
  })
  afterEach(() => {
    group.got.splice(0)
    host.forge.issues(repoName).issues.splice(0)
  })
  afterAll(async () => {
    await Promise.all([host.forge.stop(), group.stop()])
  })

  const publish = (outputs: object, trigger: object = {}) =>
    publisher(host, documentFor(host, { ...outputs }, { ...trigger }), { HOOK: group.url, SIGN: "demo" })
  const messages = (): ReadonlyArray<unknown> => group.got.map((text): unknown => JSON.parse(text))
  const isSigned = (message: unknown): boolean => {
    const seconds = Number(field(message, "timestamp", isText))
    return field(message, "sign", isText) === computeFeishuSignature(Redacted.make("demo"), seconds)
  }

  const notified = (hook: object) => only({ kind: "gitea_problem_issue", assign_committer: false, notify_feishu: hook })
  it.each([
    ["webhook_url of a bot", (url: string) => only({ kind: "feishu_bot", webhook_url: url }), false],
    ["webhook_url_env of a bot", () => only({ kind: "feishu_bot", webhook_url_env: "HOOK" }), false],
    ["secret of a bot", () => only({ kind: "feishu_bot", webhook_url_env: "HOOK", secret: "demo" }), true],
    ["secret_env of a bot", () => only({ kind: "feishu_bot", webhook_url_env: "HOOK", secret_env: "SIGN" }), true],
    ["webhook_url of notify_feishu", (url: string) => notified({ webhook_url: url }), false],
    ["webhook_url_env of notify_feishu", () => notified({ webhook_url_env: "HOOK" }), false],
    ["secret of notify_feishu", () => notified({ webhook_url_env: "HOOK", secret: "demo" }), true],
    ["secret_env of notify_feishu", () => notified({ webhook_url_env: "HOOK", secret_env: "SIGN" }), true]
  ] as const)("%s", async (_, outputs, signed) => {
    await publish(outputs(group.url))([finding(1)])
    expect(messages().map(isSigned)).toEqual([signed])
  })

  it("mentioned_mobile_list calls telephone numbers", async () => {
    const numbers = ["13800000000"]
    await publish(only({ kind: "wecom_bot", webhook_url_env: "HOOK", mentioned_mobile_list: numbers }))([finding(1)])
    expect(messages().at(-1)).toMatchObject({ text: { mentioned_mobile_list: numbers } })
  })

  it("issue_link_card sets how much the card repeats of recorded issues", async () => {
    const card = async (settings: object) => {
      const channels = [
        { name: "issues", kind: "gitea_problem_issue", assign_committer: false },
        { name: "chat", kind: "feishu_bot", webhook_url_env: "HOOK", ...settings }
      ]
      group.got.splice(0)
      host.forge.issues(repoName).issues.splice(0)
      await publish({ channels, routes: { default: { summary: ["issues", "chat"] } } })([finding(1)])
      expect(group.got).toEqual([expect.stringContaining("1 problem found")])
      return ["Title 1", "Message 1"].map((text) => group.got[0]?.includes(text))
    }
    expect(await card({ issue_link_card: "brief" })).toEqual([false, false])
    expect(await card({ issue_link_card: "titles" })).toEqual([true, false])
    expect(await card({})).toEqual([true, false])
    expect(await card({ issue_link_card: "full" })).toEqual([true, true])
  })

  const depots = [
    ["change_url_template", "perforce"],
    ["revision_url_template", "subversion"]
  ] as const
  const link = "https://depot.test/{{rev}}"
  it.each(
    depots.flatMap(
      ([name, provider]) =>
        [
          [name, "the channel", provider, { [name]: link }, {}],
          [name, "the trigger", provider, {}, { [name]: link }]
        ] as const
    )
  )("%s of %s links what is reviewed on %s", async (_, __, provider, ofChannel, ofTrigger) => {
    const tree = documentFor(host, only({ kind: "feishu_bot", webhook_url_env: "HOOK", ...ofChannel }))
    const triggers = [{ name: "depot", kind: provider, ...ofTrigger }]
    const workspaces = { instances: { shop: { source_repo: { trigger: "depot", repo: "//depot/shop" } } } }
    const reviewed = {
      provider,
      trigger: "depot",
      workspace: "shop",
      repo: { fullName: "//depot/shop" },
      target: { kind: "push", branch: "//depot/shop/..." }
    } as const
    await publisher(
      host,
      { ...tree, triggers, workspaces },
      { HOOK: group.url }
    )([finding(1)], {
      change: { ...reviewed, title: change.title },
      head: "4711"
    })
    expect(group.got).toEqual([expect.stringContaining("https://depot.test/4711")])
  })
})
