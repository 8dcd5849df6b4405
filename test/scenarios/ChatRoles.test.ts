/**
 * Nodes of a cluster with one role each: commands from chat wait for a node with the role `chat`, and what is missing is reported where an
 * operator looks.
 */
import { execFile } from "node:child_process"
import { join } from "node:path"
import { afterAll, beforeAll, expect, it } from "vitest"
import { adminEnv, AdminSession } from "../harness/AdminSession.ts"
import { chatDocument, chatEnv, deliverFeishu, feishuMessage } from "../harness/ChatPeople.ts"
import { ClusterInstallation } from "../harness/ClusterInstallation.ts"
import { FakeChatPlatform, platformSecrets } from "../harness/FakeChatPlatform.ts"
import { waitUntil } from "../harness/Wait.ts"

const root = join(import.meta.dirname, "../..")
let platform: FakeChatPlatform
let at: ClusterInstallation

beforeAll(async () => {
  platform = await FakeChatPlatform.start()
  at = await ClusterInstallation.make({
    repositories: 1,
    im: chatDocument(platform.url, { app: { workspace: "team-r0" } }),
    env: { ...adminEnv, ...chatEnv, FEISHU_SECRET: platformSecrets.feishu, WECOM_SECRET: platformSecrets.wecom }
  })
  await Promise.all([at.start("front", "ingress,dashboard"), at.start("middle", "actors,publisher")])
}, 120_000)
afterAll(async () => {
  await at?.[Symbol.asyncDispose]()
  await platform?.[Symbol.asyncDispose]()
}, 60_000)

const nodesCommand = () =>
  new Promise<string>((resolve) => {
    execFile(
      join(root, "node_modules/.bin/node"),
      ["--disable-warning=ExperimentalWarning", join(root, "src/main.mjs"), "nodes"],
      { env: { PATH: process.env["PATH"] ?? "", ...at.env("operator", "ingress") } },
      (_error, _out, err) => resolve(err)
    )
  })

const readiness = async (node: string): Promise<{ readonly warnings?: ReadonlyArray<object> }> =>
  Object(await (await fetch(`${at.node(node).url}/readyz`)).json())

const unserved = (...roles: ReadonlyArray<string>) => roles.map((role) => ({ _tag: "RoleUnserved", role }))

/** Waits until these roles have no node; the configurations of these nodes have different ports. */
const expectUnserved = (node: string, ...roles: ReadonlyArray<string>) =>
  waitUntil(
    async () => {
      const warnings = (await readiness(node)).warnings ?? []
      return JSON.stringify(warnings.filter((one) => "role" in one)) === JSON.stringify(unserved(...roles))
    },
    { timeout: 30_000, describe: () => `no node with ${roles.join(", ")}\n${at.logs(20)}` }
  )

it("a role that no node has is a warning, and commands wait for it", { timeout: 120_000 }, async () => {
  await expectUnserved("front", "executor", "chat")
  const sent = await deliverFeishu(`${at.node("front").url}/callbacks/im/lark`, feishuMessage("m1", "aicr projects"))
  expect(sent.status).toBe(200)
  expect(await nodesCommand()).toContain(
    "warning: no node has the role chat: commands in chat are not taken, and long connections are not opened"
  )
  await waitUntil(() => /"role":"chat".*no node has this role/.test(at.node("front").log), {
    timeout: 60_000,
    describe: () => at.logs(20)
  })
  expect(platform.repliesTo("m1")).toEqual([])

  await Promise.all([at.start("talk", "chat"), at.start("board", "dashboard")])
  await waitUntil(() => platform.repliesTo("m1")[0]?.texts.at(-1)?.includes("app"), {
    timeout: 60_000,
    describe: () => `a reply\n${at.logs(40)}`
  })
  await expectUnserved("board", "executor")
  const admin = await AdminSession.open(at.node("board").url)
  expect((await admin.get("/nodes")).body).toMatchObject({
    items: [{ name: "board" }, { name: "front" }, { name: "middle" }, { name: "talk" }],
    warnings: [...unserved("executor"), { _tag: "ConfigurationsDiffer" }]
  })
  // A node without the role does not take deliveries.
  expect((await fetch(`${at.node("talk").url}/callbacks/im/lark`, { method: "POST" })).status).toBe(404)
})

it("one node may have both roles", { timeout: 60_000 }, async () => {
  await Promise.all(["talk", "board"].map((name) => at.node(name).stop()))
  await at.start("both", "chat,dashboard")
  await deliverFeishu(`${at.node("front").url}/callbacks/im/lark`, feishuMessage("m2", "aicr projects"))
  await waitUntil(() => platform.repliesTo("m2")[0]?.texts.at(-1)?.includes("app"), {
    timeout: 30_000,
    describe: () => `a reply\n${at.logs(40)}`
  })
  const admin = await AdminSession.open(at.node("both").url)
  expect((await admin.get("/nodes")).status).toBe(200)
})
