/**
 * An installation with everything that the dashboard shows, all of it caused from outside: deliveries that are reviewed, fail, run, wait, and are
 * ignored for named reasons, with hostile text in every field that an outsider controls.
 */
import { randomUUID } from "node:crypto"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { parse, stringify } from "yaml"
import { adminEnv, AdminSession } from "../harness/AdminSession.ts"
import { startChatPlatform } from "../harness/ChatPlatform.ts"
import { chatDocument, chatEnv, deliverFeishu, feishuMessage } from "../harness/ChatPeople.ts"
import { sealingKey } from "../harness/ConfigSource.ts"
import { FakeChatPlatform, platformSecrets } from "../harness/FakeChatPlatform.ts"
import { review } from "../harness/FakeModel.ts"
import type { Recorded } from "../harness/FakeModel.ts"
import type { Reply } from "../harness/FakeModelReply.ts"
import { Installation, markedLine, namesIn, toFilePath } from "../harness/Installation.ts"
import { waitUntil } from "../harness/Wait.ts"

/** Text that runs a script where it is inserted as markup, as an address or into a template, and a name that looks like another one. */
export const hostile = [
  `<img src=x onerror="globalThis.attacked=1">`,
  `"><script>globalThis.attacked=1</script>`,
  `</title><svg onload="globalThis.attacked=1">`,
  `javascript:globalThis.attacked=1`,
  `{{constructor.constructor('globalThis.attacked=1')()}}`,
  `[x](javascript:globalThis.attacked=1)`,
  `turned\u202etxt.exe`
] as const

const anyHostile = hostile.join(" ")

/** A review whose every text is hostile, a model that fails, and one that never ends. */
const reply = (request: Recorded): Reply => {
  const names = namesIn(request)
  if (names.includes("failing")) return { status: 500, body: anyHostile }
  if (names.includes("running")) return { stall: "silent" }
  return review(
    names.map((name) => ({
      file: toFilePath(name),
      line: markedLine,
      severity: name === "first" ? "critical" : "medium",
      category: "bug",
      title: `Problem of ${name} ${hostile[0]}`,
      message: `This line is wrong in ${name}.\n\n${anyHostile}`,
      quote: `export const marked = "marker-${name}-end"`,
      suggestion: `export const marked = "${hostile[1]}"`
    })),
    `Summary of ${names.join(", ")}. ${anyHostile}`
  )
}

/** Address of the service for other machines, which links in comments and statuses begin with. */
export const publicAddress = "http://aicr.test"

const enableDatabase = (at: Installation): void => {
  const file = join(at.directory, "config.yaml")
  const document = parse(readFileSync(file, "utf8"))
  document.config_sources = { database: { enabled: true } }
  document.server = { ...document.server, base_url: publicAddress, links: { key: "k".repeat(32) } }
  writeFileSync(file, stringify(document))
}

export interface DashboardWorld extends AsyncDisposable {
  readonly at: Installation
  readonly admin: AdminSession
  readonly url: string
  /** Writes to the bot in a chat, and returns its reply. */
  readonly chat: (text: string) => Promise<string>
}

const notify = async (
  at: Installation,
  name: string,
  pull: Partial<Parameters<Installation["forge"]["createPull"]>[1]> = {}
) => {
  await at.push(name, 1)
  const created = await at.forge.createPull("team/one", { headBranch: name, title: `Add ${name}`, ...pull })
  await at.forge.notify(created, "opened", pull.author)
  return created
}

/** Deliveries that lead to no review. */
const ignored = async (at: Installation): Promise<void> => {
  await notify(at, "draft", { draft: true, title: `Draft ${anyHostile}`, author: "dana" })
  await notify(at, "labelled", { labels: ["aicr:ignore"] })
  await at.forge.createRepository("team/other")
  await at.forge.push("team/other", { branch: "main", message: "Start", files: { "README.md": "# Start\n" } })
  await at.forge.push("team/other", {
    branch: "more",
    from: "main",
    message: "More",
    files: { "README.md": "# More\n" }
  })
  const other = await at.forge.createPull("team/other", { headBranch: "more", title: hostile[0] })
  await at.forge.notify(other, "opened", hostile[2])
  const sender = at.forge.user("dana")
  await at.forge.send(at.forge.delivery({ kind: "pull", pull: other, action: "opened", sender }, { secret: "wrong" }))
}

/** A push to the main branch, which waits in a batch for its time. */
const pushToMain = async (at: Installation): Promise<void> => {
  const repository = at.forge.repository("team/one")
  const push = (text: string) =>
    at.forge.push("team/one", { branch: "main", message: `Push ${hostile[0]}`, files: { "NOTES.md": text } })
  const [before, after] = [await push("One\n"), await push("Two\n")]
  const sender = at.forge.user("dana")
  await at.forge.send(at.forge.delivery({ kind: "push", repository, branch: "main", before, after, sender }))
}

/** Requests from chat: names and words of people, of which the service keeps ids and arguments. */
const chat = async (at: Installation): Promise<void> => {
  const url = `${at.aicr.url}/callbacks/im/lark`
  const messages = [
    feishuMessage("m-1", `detail ${hostile[0]}`, { from: `ou_${hostile[2]}` }),
    feishuMessage("m-2", "help", { chat: `oc_${hostile[1]}` }),
    feishuMessage("m-3", `review app#1 ${hostile[4]}`)
  ]
  for (const message of messages) await deliverFeishu(url, message)
}

export const startDashboardWorld = async (): Promise<DashboardWorld> => {
  const platform = await FakeChatPlatform.start()
  const group = await startChatPlatform()
  // The reason why a notice was not sent is a text of the platform.
  group.decide = () => ({ kind: "answer", answer: { status: 200, body: { code: 9499, msg: anyHostile } } })
  const at = await Installation.make({
    channels: [{ name: "ops", kind: "feishu_bot", webhook_url_env: "HOOK" }],
    noticeRoutes: [{ channels: ["ops"] }],
    im: chatDocument(platform.url, { app: { workspace: "team-one" } }),
    queue: "sqlite",
    review: { auto_commit: { delay_seconds: 86_400 } },
    attempts: 1,
    perWorkspaceConcurrency: 2,
    budget: { per_repo_daily_usd: 5 },
    env: {
      ...adminEnv,
      ...chatEnv,
      HOOK: group.url,
      SVC_NODE_NAME: `node ${hostile[0]}`,
      SVC_CONFIG_SECRETS_KEY: sealingKey,
      FEISHU_SECRET: platformSecrets.feishu,
      WECOM_SECRET: platformSecrets.wecom
    }
  })
  enableDatabase(at)
  at.model.script(reply)
  await at.aicr.start()
  await pushToMain(at)
  await chat(at)
  const first = await notify(at, "first", { title: `Add first ${anyHostile}`, description: anyHostile })
  await at.reviewed(first)
  await at.push("first", 2)
  await at.forge.notify(first, "synchronized")
  await at.reviewed(first)
  await notify(at, "failing", { title: `Fails ${hostile[1]}` })
  await ignored(at)
  const admin = await AdminSession.open(at.aicr.url)
  const ended = async (status: string) => (await admin.items(`/runs?status=${status}`)).length
  await waitUntil(async () => (await ended("failed")) > 0 && (await ended("succeeded")) >= 2, {
    describe: () => at.aicr.log
  })
  // Stays in the list of running reviews, with others that wait behind it.
  await notify(at, "running", { title: `Runs ${hostile[4]}` })
  await waitUntil(async () => (await ended("analyzing")) > 0, { describe: () => at.aicr.log })
  return {
    at,
    admin,
    chat: async (text) => {
      const id = `m-${randomUUID()}`
      await deliverFeishu(`${at.aicr.url}/callbacks/im/lark`, feishuMessage(id, text))
      return waitUntil(() => platform.repliesTo(id)[0]?.texts.at(-1), { describe: () => at.aicr.log })
    },
    url: `${at.aicr.url}/dashboard`,
    [Symbol.asyncDispose]: async () => {
      await at[Symbol.asyncDispose]()
      await platform[Symbol.asyncDispose]()
      await group.stop()
    }
  }
}
