/**
 * Notices to operators: one real process, and the platform of a chat bot. Each kind arrives once for its fact, also when the process is
 * killed. The tests share the process, because each start would take longer than what it shows; thresholds, repeated facts and
 * applications of chat platforms are tested in test/actors.
 */
import { execFile } from "node:child_process"
import { readFileSync, writeFileSync } from "node:fs"
import { readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { promisify } from "node:util"
import { DatabaseSync } from "node:sqlite"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { parse, stringify } from "yaml"
import { faults } from "../harness/FakeModel.ts"
import { startChatPlatform } from "../harness/ChatPlatform.ts"
import type { ChatPlatform } from "../harness/ChatPlatform.ts"
import { honest, Installation, makeToken, secret } from "../harness/Installation.ts"
import { SetClock } from "../harness/SetClock.ts"
import { waitUntil } from "../harness/Wait.ts"

const key = (digit: string) => ({ SVC_CONFIG_SECRETS_KEY: digit.repeat(64) })
const hour = 3600

describe("notices", { timeout: 240_000 }, () => {
  let clock: SetClock
  let group: ChatPlatform
  let at: Installation
  let file: string

  beforeAll(async () => {
    clock = new SetClock()
    group = await startChatPlatform()
    at = await Installation.make({
      queue: "sqlite",
      attempts: 2,
      repositories: ["team/one", "team/quiet"],
      budget: { per_repo_daily_usd: 1 },
      review: { auto_commit: { delay_seconds: 100 * hour, include_branches: ["pushed"], queued_timeout_hours: 1 } },
      channels: [{ name: "ops", kind: "feishu_bot", webhook_url_env: "HOOK" }],
      noticeRoutes: [{ channels: ["ops"] }],
      env: { HOOK: group.url, ...clock.env, ...key("1") }
    })
    file = join(at.directory, "config.yaml")
    const document = parse(readFileSync(file, "utf8"))
    const database = { enabled: true, backend: "storage" }
    document.config_sources = { database, runtime: { refresh_interval_seconds: 1 } }
    writeFileSync(file, stringify(document))
    await at.aicr.start()
  }, 120_000)

  afterAll(async () => {
    await at?.[Symbol.asyncDispose]()
    await group?.stop()
    clock?.[Symbol.dispose]()
  })

  /** Messages with this text, without the invisible characters that make texts inert. */
  const messages = (text: string): ReadonlyArray<string> =>
    group.got.map((message) => message.replaceAll("\u200b", "")).filter((message) => message.includes(text))
  const log = () => at.aicr.log.slice(-6000)
  const arrived = async (text: string, count = 1): Promise<ReadonlyArray<string>> => {
    await waitUntil(() => messages(text).length >= count, {
      timeout: 60_000,
      describe: () => `${count} notices with ${text}: ${group.got.join("\n")}\n${log()}`
    })
    return messages(text)
  }
  const query = (statement: string): ReadonlyArray<Readonly<Record<string, unknown>>> => {
    const database = new DatabaseSync(join(at.directory, "aicr.db"), { timeout: 10_000 })
    try {
      return database.prepare(statement).all()
    } finally {
      database.close()
    }
  }
  const found = (condition: string, count: number) =>
    waitUntil(() => query(`SELECT id FROM notices WHERE ${condition}`).length === count, {
      interval: 50,
      describe: log
    })
  const fail = async (name: string) => {
    at.model.script(() => faults.unauthorized())
    await at.forge.notify(await at.open(name), "opened")
  }

  it("a process that is killed between the record of a notice and its message sends the message once", async () => {
    group.decide = () => ({ kind: "answer", answer: { status: 503, body: {} } })
    await fail("first")
    await found("status = 'pending' AND attempts > 0", 1)
    await at.aicr.kill()
    group.decide = () => undefined
    await at.aicr.start()
    const [message = ""] = await arrived("Review failed")
    const [event] = query("SELECT id FROM events WHERE outcome = 'failed'")
    for (const part of ["team/one", "dana", "Reason: ", "Run: ", String(event?.["id"])]) expect(message).toContain(part)
    expect(message).not.toMatch(/sk-wrong|key-of-the-model|hook\/key/)
    await found("status = 'sent'", 1)
    expect(group.got).toHaveLength(1)
  })

  it("a process that is killed before the response to a message does not send it again: it is unconfirmed", async () => {
    const killed = Promise.withResolvers<void>()
    group.decide = () => {
      killed.resolve(at.aicr.kill().then(() => undefined))
      return { kind: "hung" }
    }
    await fail("second")
    await killed.promise
    group.decide = () => undefined
    await at.aicr.start()
    await found("status = 'unconfirmed'", 1)
    // Reviews that succeed are no news.
    at.model.script(honest)
    const pull = await at.open("third")
    await at.forge.notify(pull, "opened")
    await at.reviewed(pull)
    expect(messages("Review failed")).toHaveLength(2)
    expect(group.got).toHaveLength(2)
  })

  /** Publishes a revision as a node with another key: this one cannot read it. */
  const pushRevision = async () => {
    const second = { kind: "gitea", base_url: "https://second.example", webhook_secret: "hook-s3cret" }
    const edit = join(at.directory, "database.yaml")
    await writeFile(edit, stringify({ entities: { triggers: { second } } }))
    const tokens = { TEST_TOKEN_0: makeToken(0), TEST_TOKEN_1: makeToken(1) }
    const env = {
      PATH: process.env["PATH"],
      ...tokens,
      TEST_SECRET: secret,
      TEST_KEY: "k",
      HOOK: group.url,
      ...key("2")
    }
    const command = ["--disable-warning=ExperimentalWarning", "src/main.mjs", "config", "push", edit, "--config", file]
    await promisify(execFile)(process.execPath, command, { env })
  }

  it("work that waited, a budget, a silent webhook, and refused files and revisions are announced once", async () => {
    const repository = at.forge.state.repositories.get("team/one")
    if (repository === undefined) throw new Error("no repository")
    const before = await at.push("pushed", 1)
    const after = await at.push("pushed", 2)
    const sender = at.forge.user("dana")
    const push = at.forge.delivery({ kind: "push", repository, branch: "pushed", before, after, sender })
    const { body, status } = await at.forge.send(push)
    expect([status, Object(body).accepted]).toEqual([202, true])
    clock.set(25 * hour)
    const now = Date.now() + 25 * hour * 1000
    const day = new Date(now).toISOString().slice(0, 10)
    const spend = (nanos: number) =>
      query(`INSERT INTO ledger_accounts (id, committed, updated_at) VALUES ('day:${day}:host-0:team/one', ${nanos}, ${now})
        ON CONFLICT (id) DO UPDATE SET committed = ${nanos} RETURNING id`)
    spend(600_000_000)
    await pushRevision()
    // The scans of budgets, webhooks and waiting work have intervals of 10 to 20 seconds.
    expect((await arrived("Budget · "))[0]).toContain("0.60 of 1.00 USD")
    spend(1_000_000_000)
    const [revision] = await arrived("Configuration refused")
    expect(revision).toContain("revision 1 of the database")
    expect(revision).not.toContain("hook-s3cret")
    const valid = await readFile(file, "utf8")
    const broken = `${valid}\nunknown_key: "s3cret-value"\n`
    await writeFile(file, broken)
    const [, refused] = await arrived("Configuration refused", 2)
    expect(refused).toMatch(/the first at line \d+/)
    expect(refused).not.toMatch(/s3cret|unknown_key/)

    const [waited] = await arrived("Not reviewed")
    for (const part of ["team/one", "dana", "pushed", "queued_timeout", "longer than 1 hour"])
      expect(waited).toContain(part)
    expect((await arrived("No webhooks"))[0]).toContain("host-0")
    // Each content of the file is news once. The last notice is stored after whatever the same facts would add.
    const refusals = () => at.aicr.log.split("configuration refused").length
    for (const text of [valid, broken]) {
      const earlier = refusals()
      await writeFile(file, text)
      if (text === broken) await waitUntil(() => refusals() > earlier, { describe: log })
    }
    await writeFile(file, "triggers: [")
    expect((await arrived("100 %"))[0]).toContain("refused until the day ends")
    await arrived("Configuration refused", 3)
    await waitUntil(() => query("SELECT id FROM notices WHERE status IN ('pending', 'sending')").length === 0, {
      describe: log
    })
    const kinds = ["Not reviewed", "No webhooks", "revision 1 of the database", "Configuration refused", "Budget · "]
    expect(kinds.map((text) => messages(text).length)).toEqual([1, 1, 1, 3, 2])
    expect(messages("host-1")).toEqual([])
  })
})
