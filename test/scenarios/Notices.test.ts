/**
 * Notices to operators: the real process, and the platform of a chat bot. Each kind arrives once for its fact, also when the process is
 * killed.
 */
import { execFile } from "node:child_process"
import { readFileSync, writeFileSync } from "node:fs"
import { readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { promisify } from "node:util"
import { DatabaseSync } from "node:sqlite"
import { describe, expect, it } from "vitest"
import { parse, stringify } from "yaml"
import { faults } from "../harness/FakeModel.ts"
import { chatDocument, chatEnv } from "../harness/ChatPeople.ts"
import { FakeChatPlatform, platformSecrets } from "../harness/FakeChatPlatform.ts"
import { startChatPlatform } from "../harness/ChatPlatform.ts"
import type { ChatPlatform } from "../harness/ChatPlatform.ts"
import { ClusterInstallation } from "../harness/ClusterInstallation.ts"
import { honest, Installation, makeToken, secret } from "../harness/Installation.ts"
import type { InstallationOptions } from "../harness/Installation.ts"
import { SetClock } from "../harness/SetClock.ts"
import { waitUntil } from "../harness/Wait.ts"

const notices = {
  channels: [{ name: "ops", kind: "feishu_bot", webhook_url_env: "HOOK" }],
  noticeRoutes: [{ channels: ["ops"] }]
}

class World implements AsyncDisposable {
  readonly at: Installation
  readonly group: ChatPlatform

  private constructor(at: Installation, group: ChatPlatform) {
    this.at = at
    this.group = group
  }

  /** `prepare`: changes the configuration before the start. */
  static async make(options: Partial<InstallationOptions> = {}, prepare = (_file: string): void => {}): Promise<World> {
    const group = await startChatPlatform()
    const env = { HOOK: group.url, ...options.env }
    const at = await Installation.make({ queue: "sqlite", attempts: 2, ...notices, ...options, env })
    prepare(join(at.directory, "config.yaml"))
    await at.aicr.start()
    return new World(at, group)
  }

  /** Messages with this text, without the invisible characters that make texts inert. */
  with(text: string): ReadonlyArray<string> {
    return this.group.got.map((message) => message.replaceAll("\u200b", "")).filter((message) => message.includes(text))
  }

  async arrived(text: string, count = 1): Promise<ReadonlyArray<string>> {
    await waitUntil(() => this.with(text).length >= count, {
      timeout: 60_000,
      describe: () => `${count} notices with ${text}: ${this.group.got.join("\n")}\n${this.at.aicr.log.slice(-6000)}`
    })
    return this.with(text)
  }

  query(statement: string): ReadonlyArray<Readonly<Record<string, unknown>>> {
    const database = new DatabaseSync(join(this.at.directory, "aicr.db"), { timeout: 10_000 })
    try {
      return database.prepare(statement).all()
    } finally {
      database.close()
    }
  }

  /** Waits until every notice has its final status, and returns these. */
  async ended(): Promise<ReadonlyArray<unknown>> {
    const open = "SELECT id FROM notices WHERE status IN ('pending', 'sending')"
    await waitUntil(() => this.query(open).length === 0, { describe: () => this.at.aicr.log.slice(-6000) })
    return this.query("SELECT status FROM notices ORDER BY id").map(({ status }) => status)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.at[Symbol.asyncDispose]()
    await this.group.stop()
  }
}

describe("notices", { timeout: 240_000 }, () => {
  it("a failed review is announced once for its delivery, with its reason and without secrets", async () => {
    await using world = await World.make()
    const { at } = world
    at.model.script(() => faults.unauthorized())
    for (const name of ["first", "second"]) await at.forge.notify(await at.open(name), "opened")
    const found = await world.arrived("Review failed", 2)
    const events = world.query("SELECT id FROM events WHERE outcome = 'failed' ORDER BY id").map(({ id }) => String(id))
    expect(events.map((id) => found.filter((message) => message.includes(id)).length)).toEqual([1, 1])
    for (const part of ["team/one", "dana", "Reason: ", "Run: "]) expect(found[0]).toContain(part)
    expect(found.join("\n")).not.toMatch(/sk-wrong|key-of-the-model|hook\/key/)
    // Reviews that succeed are no news.
    at.model.script(honest)
    const pull = await at.open("third")
    await at.forge.notify(pull, "opened")
    await at.reviewed(pull)
    expect(await world.ended()).toEqual(["sent", "sent"])
    expect(world.group.got).toHaveLength(2)
  })

  it("applications of Feishu and WeCom get the notices too, and the metrics count them by channel", async () => {
    await using platform = await FakeChatPlatform.start()
    const { connections } = chatDocument(platform.url, {})
    const channels = [
      { name: "lark", kind: "feishu_app", connection: "lark", receive_id: "oc_ops" },
      { name: "corp", kind: "wecom_app", connection: "corp", target: { kind: "recipients", users: ["ada", "bob"] } },
      { name: "ours", kind: "wecom_app", connection: "corp", target: { kind: "appchat", chat_id: "ops" } }
    ]
    await using world = await World.make({
      im: { connections: { lark: connections.lark, corp: connections.corp } },
      channels,
      noticeRoutes: [{ kinds: ["review_failed"], channels: ["lark", "corp", "ours"] }],
      env: { ...chatEnv, FEISHU_SECRET: platformSecrets.feishu, WECOM_SECRET: platformSecrets.wecom }
    })
    const { at } = world
    // The first responses are lost: both platforms recognise the repeated message, but not that of a group chat.
    const lost = new Set<string>()
    platform.decide = ({ path }) => {
      if (!path.endsWith("/send") && !path.endsWith("/messages")) return undefined
      const isFirst = !lost.has(path)
      lost.add(path)
      return isFirst ? { kind: "lost" } : undefined
    }
    at.model.script(() => faults.unauthorized())
    await at.forge.notify(await at.open("change"), "opened")
    await waitUntil(() => world.query("SELECT id FROM notices").length === 3, {
      describe: () => at.aicr.log.slice(-6000)
    })
    expect((await world.ended()).toSorted()).toEqual(["sent", "sent", "unconfirmed"])
    // The lost message and its repetition count for the two persons.
    expect(world.query("SELECT persons FROM chat_sends")).toEqual([{ persons: 4 }])
    const messages = platform.messages.map(({ to, texts }) => [to, texts.join("").includes("team/one")])
    expect(messages.toSorted()).toEqual([
      ["ada|bob", true],
      ["oc_ops", true],
      ["ops", true]
    ])
    const metrics = await (await fetch(`${at.aicr.url}/metrics`)).text()
    for (const [channel, outcome] of [
      ["lark", "sent"],
      ["corp", "sent"],
      ["ours", "unconfirmed"]
    ])
      expect(metrics).toMatch(
        new RegExp(
          `aicr_notices_total\\{(?=.*channel="${channel}")(?=.*outcome="${outcome}").*kind="review_failed".* 1\n`
        )
      )
  })

  it("thresholds of a budget are announced once a day, and at 100 % the next review is refused", async () => {
    await using world = await World.make({ budget: { per_repo_daily_usd: 1 } })
    const day = new Date().toISOString().slice(0, 10)
    const spend = (nanos: number) =>
      world.query(`INSERT INTO ledger_accounts (id, committed, updated_at) VALUES ('day:${day}:host-0:team/one', ${nanos}, ${Date.now()})
        ON CONFLICT (id) DO UPDATE SET committed = ${nanos}, updated_at = ${Date.now()} RETURNING id`)
    spend(600_000_000)
    expect((await world.arrived("50 %"))[0]).toContain("0.60 of 1.00 USD")
    spend(950_000_000)
    await world.arrived("90 %")
    spend(1_000_000_000)
    expect((await world.arrived("100 %"))[0]).toContain("refused until the day ends")
    const pull = await world.at.open("refused")
    await world.at.forge.notify(pull, "opened")
    const [summary] = await waitUntil(
      () => {
        const ours = pull.comments.filter(({ user }) => user.login === "aicr")
        return ours.length > 0 ? ours : undefined
      },
      { describe: () => world.at.aicr.log.slice(-6000) }
    )
    expect(summary?.body).toContain("the budget for model calls is exhausted")
    expect(world.at.model.requests).toHaveLength(0)
    await world.at.aicr.kill()
    await world.at.aicr.start()
    spend(1_100_000_000)
    // The next scan of budgets has ended when a notice of another kind, which is found more rarely, has arrived.
    await writeFile(join(world.at.directory, "config.yaml"), "triggers: [")
    await world.arrived("Configuration refused")
    expect(world.with("Budget · ")).toHaveLength(3)
    expect(world.with("75 %")).toEqual([])
  })

  it("a refused configuration is announced once for each content of the file", async () => {
    await using world = await World.make()
    const file = join(world.at.directory, "config.yaml")
    const valid = await readFile(file, "utf8")
    const refusals = () => world.at.aicr.log.split("configuration refused").length - 1
    const write = async (text: string) => {
      const before = refusals()
      await writeFile(file, text)
      await waitUntil(() => refusals() > before, { describe: () => world.at.aicr.log.slice(-3000) })
    }
    const broken = `${valid}\nunknown_key: "s3cret-value"\n`
    await write(broken)
    const [first] = await world.arrived("Configuration refused")
    expect(first).toMatch(/the first at line \d+/)
    expect(first).not.toMatch(/s3cret|unknown_key/)
    await write(`${broken}# other\n`)
    await world.arrived("Configuration refused", 2)
    await writeFile(file, valid)
    await write(broken)
    await write("triggers: [")
    await world.arrived("Configuration refused", 3)
    expect(await world.ended()).toEqual(["sent", "sent", "sent"])
  })

  it("a refused revision of the database is announced once", async () => {
    const key = (digit: string) => ({ SVC_CONFIG_SECRETS_KEY: digit.repeat(64) })
    await using world = await World.make({ env: key("1") }, (file) => {
      const document = parse(readFileSync(file, "utf8"))
      const runtime = { refresh_interval_seconds: 1 }
      document.config_sources = { database: { enabled: true, backend: "storage" }, runtime }
      writeFileSync(file, stringify(document))
    })
    const { directory } = world.at
    const second = { kind: "gitea", base_url: "https://second.example", webhook_secret: "hook-s3cret" }
    const edit = join(directory, "database.yaml")
    await writeFile(edit, stringify({ entities: { triggers: { second } } }))
    // A node that has another key publishes what this one cannot read.
    await promisify(execFile)(
      process.execPath,
      [
        "--disable-warning=ExperimentalWarning",
        "src/main.ts",
        "config",
        "push",
        edit,
        "--config",
        join(directory, "config.yaml")
      ],
      {
        env: {
          PATH: process.env["PATH"],
          TEST_TOKEN_0: makeToken(0),
          TEST_SECRET: secret,
          TEST_KEY: "k",
          HOOK: world.group.url,
          ...key("2")
        }
      }
    )
    const [message] = await world.arrived("Configuration refused")
    expect(message).toContain("revision 1 of the database")
    expect(message).not.toContain("hook-s3cret")
    // The next notice is stored after it.
    await writeFile(join(directory, "config.yaml"), "triggers: [")
    await world.arrived("Configuration refused", 2)
    expect(world.with("revision 1")).toHaveLength(1)
  })

  it("a webhook that is silent for a day is announced once, and again after it has spoken", async () => {
    using clock = new SetClock()
    await using world = await World.make({ env: clock.env, repositories: ["team/one", "team/quiet"] })
    const { at } = world
    const speak = async (name: string) => {
      const pull = await at.open(name)
      expect((await at.forge.notify(pull, "opened")).status).toBe(202)
      await at.reviewed(pull)
    }
    await speak("first")
    const hour = 3600
    clock.set(23 * hour)
    await speak("second")
    clock.set(46 * hour)
    await new Promise((resume) => setTimeout(resume, 1))
    expect(world.with("No webhooks")).toEqual([])
    clock.set(48 * hour)
    const [message] = await world.arrived("No webhooks")
    expect(message).toContain("host-0")
    await speak("third")
    clock.set(73 * hour)
    await world.arrived("No webhooks", 2)
    // A trigger that never had a delivery is no news.
    expect(world.with("host-1")).toEqual([])
    expect(world.with("No webhooks")).toHaveLength(2)
  })

  it("work that waited too long is announced with its repository and author", async () => {
    using clock = new SetClock()
    const auto = { delay_seconds: 86_400, include_branches: ["pushed"], queued_timeout_hours: 1 }
    await using world = await World.make({ env: clock.env, review: { auto_commit: auto } })
    const { forge } = world.at
    await world.at.push("pushed", 1)
    const repository = forge.state.repositories.get("team/one")
    if (repository === undefined) throw new Error("no repository")
    const { body, status } = await forge.send(
      forge.delivery({
        kind: "push",
        repository,
        branch: "pushed",
        before: "0".repeat(40),
        after: await world.at.push("pushed", 2),
        sender: forge.user("dana")
      })
    )
    expect([status, Object(body).accepted]).toEqual([202, true])
    clock.set(2 * 3600)
    const [message] = await world.arrived("Not reviewed")
    for (const part of ["team/one", "dana", "pushed", "queued_timeout", "longer than 1 hour"])
      expect(message).toContain(part)
    expect(await world.ended()).toEqual(["sent"])
  })
})

describe("the process is killed", { timeout: 240_000 }, () => {
  it("between the record of a notice and its message: the message arrives once", async () => {
    await using world = await World.make()
    const { at, group } = world
    group.decide = () => ({ kind: "answer", answer: { status: 503, body: {} } })
    at.model.script(() => faults.unauthorized())
    await at.forge.notify(await at.open("change"), "opened")
    const waiting = "SELECT id FROM notices WHERE status = 'pending' AND attempts > 0"
    await waitUntil(() => world.query(waiting).length === 1, { describe: () => at.aicr.log.slice(-6000) })
    await at.aicr.kill()
    group.decide = () => undefined
    await at.aicr.start()
    await world.arrived("Review failed")
    expect(await world.ended()).toHaveLength(1)
    expect(group.got).toHaveLength(1)
  })

  it("after a message has arrived, before its response: it is not sent again, and recorded as unconfirmed", async () => {
    await using world = await World.make()
    const { at, group } = world
    const killed = Promise.withResolvers<void>()
    group.decide = () => {
      killed.resolve(at.aicr.kill().then(() => undefined))
      return { kind: "hung" }
    }
    at.model.script(() => faults.unauthorized())
    await at.forge.notify(await at.open("change"), "opened")
    await killed.promise
    group.decide = () => undefined
    await at.aicr.start()
    await waitUntil(() => world.query("SELECT id FROM notices WHERE status = 'unconfirmed'").length === 1, {
      describe: () => at.aicr.log.slice(-6000)
    })
    expect(group.got).toHaveLength(1)
  })
})

it(
  "two nodes send one notice for what both of them see, also when the sender freezes or is killed",
  { timeout: 300_000 },
  async () => {
    const group = await startChatPlatform()
    try {
      await using at = await ClusterInstallation.make({ repositories: 1, notices, env: { HOOK: group.url } })
      const names = ["one", "two"] as const
      await Promise.all(names.map((name) => at.start(name, "all")))
      const count = (text: string) => group.got.filter((message) => message.includes(text)).length
      const arrived = (text: string, total: number) =>
        waitUntil(() => count(text) >= total, { timeout: 90_000, describe: () => `${text}\n${at.logs(40)}` })
      const refuse = async (text: string) => {
        await Promise.all(names.map((name) => writeFile(join(at.directory, `${name}.yaml`), text)))
      }
      await refuse("triggers: [")
      await arrived("Configuration refused", 1)
      await waitUntil(() => names.every((name) => at.node(name).log.includes("configuration refused")), {
        describe: () => at.logs(40)
      })
      at.model.script(() => faults.unauthorized())
      await at.deliver(await at.open("first", "team/r0"))
      await arrived("Review failed", 1)
      const [sender, other] = /notice sent.*review_failed/.test(at.node("one").log) ? names : names.toReversed()
      if (sender === undefined || other === undefined) throw new Error("no sender")

      // The sender freezes while it waits for the response to the second notice. The other node sends the third.
      const frozen = Promise.withResolvers<void>()
      group.decide = () => {
        at.node(sender).freeze()
        group.decide = () => undefined
        frozen.resolve()
        return { kind: "hung" }
      }
      await at.deliver(await at.open("second", "team/r0"), "opened", other)
      await frozen.promise
      await at.deliver(await at.open("third", "team/r0"), "opened", other)
      await arrived("Review failed", 3)
      at.node(sender).thaw()

      await at.node(other).kill()
      await at.deliver(await at.open("fourth", "team/r0"), "opened", sender)
      await arrived("Review failed", 4)
      expect([count("Configuration refused"), count("Review failed"), group.got.length]).toEqual([1, 4, 5])
    } finally {
      await group.stop()
    }
  }
)
