/**
 * Two nodes and one owner of each long connection: when its node is killed, the other one takes over within ten seconds. Notices to operators
 * have one sender in the same way.
 */
import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import { afterAll, beforeAll, expect, it } from "vitest"
import { feishuButton, feishuMessage, longDocument } from "../harness/ChatPeople.ts"
import { startChatPlatform } from "../harness/ChatPlatform.ts"
import type { ChatPlatform } from "../harness/ChatPlatform.ts"
import { ClusterInstallation } from "../harness/ClusterInstallation.ts"
import { FakeChatPlatform, platformSecrets } from "../harness/FakeChatPlatform.ts"
import { faults } from "../harness/FakeModel.ts"
import { honest } from "../harness/Installation.ts"
import { waitUntil } from "../harness/Wait.ts"

let platform: FakeChatPlatform
let group: ChatPlatform
let at: ClusterInstallation
const names = ["chat-1", "chat-2"]

beforeAll(async () => {
  platform = await FakeChatPlatform.start()
  group = await startChatPlatform()
  at = await ClusterInstallation.make({
    repositories: 1,
    im: longDocument(platform.url, { app: { workspace: "team-r0" } }),
    notices: {
      channels: [{ name: "ops", kind: "feishu_bot", webhook_url_env: "HOOK" }],
      noticeRoutes: [{ channels: ["ops"] }]
    },
    env: { FEISHU_SECRET: platformSecrets.feishu, BOT_SECRET: platformSecrets.wecomBot, HOOK: group.url }
  })
  await Promise.all(names.map((name) => at.start(name, "ingress,actors,publisher,chat")))
}, 120_000)
afterAll(async () => {
  await at?.[Symbol.asyncDispose]()
  await platform?.[Symbol.asyncDispose]()
  await group?.stop()
}, 60_000)

/** Returns the names of nodes whose connection of this id is open. */
const owners = async (connection: string): Promise<ReadonlyArray<string>> => {
  const texts = await Promise.all(
    names.map(async (name) => {
      const text = await fetch(`${at.node(name).url}/metrics`).then(
        (response) => response.text(),
        () => ""
      )
      return text.includes(`aicr_chat_connection_ready{connection="${connection}"} 1`) ? [name] : []
    })
  )
  return texts.flat()
}

it(
  "a button that is pressed at another node cancels a review that an executor runs",
  { timeout: 120_000 },
  async () => {
    await at.start("executor", "executor")
    const release = Promise.withResolvers<void>()
    at.model.script(async (request) => {
      await release.promise
      return honest(request)
    })
    const pull = await at.open("held", "team/r0")
    const deliver = (event: string) =>
      waitUntil(async () => (await platform.feishuSocket.deliver(event)) === 200, {
        timeout: 60_000,
        describe: () => `an owner\n${at.logs(30)}`
      })
    await deliver(feishuMessage("m-held", `review app ${pull.number}`))
    const card = () => platform.repliesTo("m-held")[0]
    await waitUntil(() => card()?.texts.at(-1)?.includes("is running"), {
      timeout: 60_000,
      describe: () => `the review runs: ${JSON.stringify(card())}\n${at.logs(40)}`
    })
    await waitUntil(() => at.node("executor").log.includes('"msg":"run started"'), { describe: () => at.logs(40) })
    const cancel = card()?.buttons.find(({ label }) => label === "Cancel")?.id ?? ""
    await deliver(feishuButton("e-held", cancel))
    await waitUntil(() => platform.repliesTo("om_card").some(({ texts }) => texts.at(-1)?.includes("will end")), {
      describe: () => `a reply\n${at.logs(40)}`
    })
    await waitUntil(() => card()?.texts.at(-1)?.includes("has ended without a result"), {
      timeout: 60_000,
      describe: () => `the end: ${JSON.stringify(card())}\n${at.logs(40)}`
    })
    release.resolve()
    at.model.script(honest)
    expect(pull.reviews).toEqual([])
  }
)

it(
  "one node owns a connection, and another one takes over when it is killed or frozen",
  { timeout: 120_000 },
  async () => {
    const { wecomSocket } = platform
    await waitUntil(async () => wecomSocket.isSubscribed("bot") && (await owners("bot")).length === 1, {
      timeout: 60_000,
      describe: () => `one owner\n${at.logs(30)}`
    })
    // The connection may have moved once while the second node joined.
    const joined = wecomSocket.subscriptions
    const reply = async (id: string) => {
      await waitUntil(() => wecomSocket.deliver("bot", { id, text: "projects" }), {
        describe: () => `a bot\n${at.logs(30)}`
      })
      await waitUntil(() => wecomSocket.replies.some(({ to }) => to === id), {
        describe: () => `a reply\n${at.logs(30)}`
      })
    }
    await reply("b1")

    const [first = ""] = await owners("bot")
    const killedAt = performance.now()
    await at.node(first).kill()
    await waitUntil(() => wecomSocket.subscriptions > joined && wecomSocket.isSubscribed("bot"), {
      describe: () => `another owner\n${at.logs(40)}`
    })
    const took = performance.now() - killedAt
    process.stderr.write(`the connection moved in ${Math.round(took)} ms\n`)
    expect(took).toBeLessThan(10_000)
    await reply("b2")
    expect(await platform.feishuSocket.deliver(feishuMessage("m1", "projects"))).toBe(200)
    await waitUntil(() => platform.repliesTo("m1").length === 1, { describe: () => `a reply\n${at.logs(30)}` })

    // The node that returns may get the connection back. Its owner freezes until the other node has taken over; when it continues, one node
    // owns the connection.
    await at.node(first).start()
    const second = await waitUntil(async () => (await owners("bot")).at(0), {
      describe: () => `an owner\n${at.logs(30)}`
    })
    const before = wecomSocket.subscriptions
    at.node(second).freeze()
    await waitUntil(() => wecomSocket.subscriptions > before, { describe: () => `another owner\n${at.logs(40)}` })
    at.node(second).thaw()
    await reply("b3")
    await waitUntil(async () => (await owners("bot")).length === 1, { describe: () => `one owner\n${at.logs(40)}` })
    await reply("b4")
    expect(wecomSocket.replies.filter(({ to }) => to === "b3").length).toBe(1)
  }
)

it(
  "two nodes send one notice for what both of them see, also when the sender is killed",
  { timeout: 120_000 },
  async () => {
    const count = (text: string) => group.got.filter((message) => message.includes(text)).length
    const arrived = (text: string, total: number) =>
      waitUntil(() => count(text) >= total, { timeout: 60_000, describe: () => `${total} ${text}\n${at.logs(40)}` })
    await Promise.all(names.map((name) => writeFile(join(at.directory, `${name}.yaml`), "triggers: [")))
    await arrived("Configuration refused", 1)
    await waitUntil(() => names.every((name) => at.node(name).log.includes("configuration refused")), {
      describe: () => at.logs(40)
    })
    at.model.script(() => faults.unauthorized())
    await at.deliver(await at.open("failed-one", "team/r0"))
    await arrived("Review failed", 1)
    const isSender = (name: string) => /notice sent.*review_failed/.test(at.node(name).log)
    const [sender = "", other = ""] = names.toSorted((one) => (isSender(one) ? -1 : 1))
    await at.node(sender).kill()
    await at.deliver(await at.open("failed-two", "team/r0"), "opened", other)
    await arrived("Review failed", 2)
    expect([count("Configuration refused"), count("Review failed"), group.got.length]).toEqual([1, 2, 3])
  }
)
