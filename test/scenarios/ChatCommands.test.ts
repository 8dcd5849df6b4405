/** Every command from chat that reads or cancels, the limits of reviews, and rights that end: the real process and fake platforms. */
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { parse, stringify } from "yaml"
import { chatDocument, chatEnv, deliverFeishu, feishuDirectoryChange, feishuMessage } from "../harness/ChatPeople.ts"
import { FakeChatPlatform, platformSecrets } from "../harness/FakeChatPlatform.ts"
import { honest, Installation, namesIn } from "../harness/Installation.ts"
import { SetClock } from "../harness/SetClock.ts"
import { waitUntil } from "../harness/Wait.ts"

const crowds = ["oc_limit", "oc_crowd_1", "oc_crowd_2", "oc_crowd_3", "oc_crowd_4", "oc_last"]

describe("commands from chat", { timeout: 240_000 }, () => {
  let platform: FakeChatPlatform
  let installation: Installation
  const gate = Promise.withResolvers<void>()
  let sent = 0

  beforeAll(async () => {
    platform = await FakeChatPlatform.start()
    const im = chatDocument(platform.url, { app: { workspace: "team-one" } })
    const lark = im.command_bindings.lark
    // A person has thirty commands a minute; further ones get no reply.
    const second = { ...lark, actors: [{ type: "feishu_open_id", id: "ou_bob" }] }
    const guest = {
      ...lark,
      actors: [
        { type: "feishu_open_id", id: "ou_guest", expires_at: "2999-01-01T00:00:00Z" },
        { type: "feishu_open_id", id: "ou_past", expires_at: "2020-01-01T00:00:00+08:00" },
        { type: "feishu_open_id", id: "ou_leaver" }
      ],
      commands: ["help", "projects"]
    }
    const anyone = {
      ...lark,
      actors: [{ kind: "any" }],
      conversations: crowds.map((id) => ({ kind: "group", id })),
      commands: ["review"]
    }
    const staff = {
      ...lark,
      actors: [
        { kind: "feishu_chat", chat_id: "oc_staff" },
        { kind: "feishu_job_title", id: "Lead" }
      ],
      conversations: [{ kind: "group", id: "oc_scopes" }],
      commands: ["projects"]
    }
    installation = await Installation.make({
      queue: "sqlite",
      concurrency: 1,
      // A held review is the only one that runs.
      maxWaitingForModel: 0,
      channels: [{ name: "pushes", kind: "feishu_bot", webhook_url: `${platform.url}/bot` }],
      rules: [{ match: { target_kind: "push" }, summary: ["pushes"] }],
      review: { auto_commit: { delay_seconds: 3600, include_branches: ["pushed"] } },
      im: { ...im, command_bindings: { ...im.command_bindings, second, guest, anyone, staff } },
      env: { ...chatEnv, FEISHU_SECRET: platformSecrets.feishu, WECOM_SECRET: platformSecrets.wecom }
    })
    installation.model.script(async (request) => {
      if (namesIn(request).some((name) => name.startsWith("held"))) await gate.promise
      return honest(request)
    })
    await installation.aicr.start()
  }, 120_000)

  afterAll(async () => {
    gate.resolve()
    await installation?.[Symbol.asyncDispose]()
    await platform?.[Symbol.asyncDispose]()
  })

  const deliver = async (text: string, options: Parameters<typeof feishuMessage>[2] = {}) => {
    const id = `m-${++sent}`
    const { status } = await deliverFeishu(
      `${installation.aicr.url}/callbacks/im/lark`,
      feishuMessage(id, text, options)
    )
    expect(status).toBe(200)
    return id
  }
  const query = (statement: string) => {
    const database = new DatabaseSync(join(installation.directory, "aicr.db"), { timeout: 10_000 })
    try {
      return database.prepare(statement).all()
    } finally {
      database.close()
    }
  }
  const replyTo = (id: string) =>
    waitUntil(() => platform.repliesTo(id)[0]?.texts.at(-1), {
      timeout: 60_000,
      describe: () => `a reply to ${id}; log:\n${installation.aicr.log.slice(-6000)}`
    })
  /** Returns the reply, whose names and ids people can copy. */
  const command = async (text: string, options: Parameters<typeof feishuMessage>[2] = {}) => {
    const reply = await replyTo(await deliver(text, options))
    expect(reply).not.toContain("\u200b")
    return reply
  }
  const until = (id: string, text: string) =>
    waitUntil(() => platform.repliesTo(id)[0]?.texts.at(-1)?.includes(text), {
      timeout: 90_000,
      describe: () =>
        `${id} to say ${text}: ${JSON.stringify(platform.repliesTo(id))}\n${installation.aicr.log.slice(-6000)}`
    })
  /** Id of the request, which its progress message names. */
  const requestOf = (id: string): string => /Id: (\S+)/.exec(platform.repliesTo(id)[0]?.texts[0] ?? "")?.[1] ?? "none"

  it("an actor with expires_at has rights until then", async () => {
    expect(await command("projects", { from: "ou_guest" })).toContain("app")
    expect(await command("projects", { from: "ou_past" })).toContain("not authorised")
  })

  it("help lists what the person may use", async () => {
    const help = await command("help", { from: "ou_guest" })
    expect(help.match(/aicr \S+(?=`| )/g)?.map((usage) => usage.replace("`", ""))).toEqual([
      "aicr help",
      "aicr projects",
      "aicr stop",
      "aicr start"
    ])
  })

  it("a person without rights gets two messages a minute", async () => {
    const ids = await Promise.all(Array.from({ length: 6 }, () => deliver("projects", { from: "ou_stranger" })))
    const open = `SELECT id FROM chat_requests WHERE sender = 'ou_stranger' AND status NOT IN ('succeeded', 'rejected')`
    await waitUntil(() => query(open).length === 0, { describe: () => installation.aicr.log.slice(-6000) })
    expect(ids.flatMap((id) => platform.repliesTo(id)).length).toBe(2)
  })

  it("a person of a scope has rights while the directory lists them, and no one while it cannot be read", async () => {
    const inScope = { chat: "oc_scopes" }
    platform.decide = ({ path }) =>
      path.endsWith("/members")
        ? { kind: "answer", status: 400, body: { code: 99_991_672, msg: "no scope" } }
        : undefined
    platform.directory.chats = { oc_staff: ["ou_s1", "ou_s2"] }
    platform.directory.people = [{ id: "ou_lead", title: "Lead" }]
    expect(await command("projects", { ...inScope, from: "ou_s1" })).toContain("not authorised")
    expect(await command("projects", { ...inScope, from: "ou_lead" })).toContain("app")
    platform.decide = () => undefined
    const changed = (id: string) =>
      deliverFeishu(`${installation.aicr.url}/callbacks/im/lark`, feishuDirectoryChange(id, "oc_staff"))
    await changed("e-staff-1")
    expect(await command("projects", { ...inScope, from: "ou_s2" })).toContain("app")
    platform.directory.chats = { oc_staff: ["ou_s1"] }
    await changed("e-staff-2")
    expect(await command("projects", { ...inScope, from: "ou_s2" })).toContain("not authorised")
  })

  it("a directory that does not respond delays only the people whose rights depend on it", async () => {
    platform.decide = ({ path }) => (path.endsWith("/members") ? { kind: "stall" } : undefined)
    await deliverFeishu(`${installation.aicr.url}/callbacks/im/lark`, feishuDirectoryChange("e-staff-3", "oc_staff"))
    const stalled = await deliver("projects", { chat: "oc_scopes", from: "ou_s1" })
    await waitUntil(() => platform.calls.some(({ path }) => path.endsWith("/members")), { describe: () => "a listing" })
    const startedAt = Date.now()
    expect(await command("projects", { from: "ou_guest" })).toContain("app")
    expect(await command("projects", { from: "ou_guest" })).toContain("app")
    expect(Date.now() - startedAt).toBeLessThan(15_000)
    expect(platform.repliesTo(stalled)).toEqual([])
    // More messages than take steps at the same time wait for it. One that arrives after them does not, and all of them end.
    const crowd = await Promise.all(
      Array.from({ length: 100 }, (_, at) => deliver("projects", { chat: "oc_scopes", from: `ou_crowd_${at}` }))
    )
    expect(await command("projects", { from: "ou_guest" })).toContain("app")
    expect(platform.repliesTo(stalled)).toEqual([])
    // Without this the listing would end after 30 seconds, which its own test shows.
    platform.decide = ({ path }) =>
      path.endsWith("/members")
        ? { kind: "answer", status: 400, body: { code: 99_991_672, msg: "no scope" } }
        : undefined
    platform.endStalled()
    expect(await replyTo(stalled)).toContain("not authorised")
    const open = "SELECT id FROM chat_requests WHERE status NOT IN ('succeeded', 'rejected')"
    await waitUntil(() => query(open).length === 0, {
      timeout: 60_000,
      describe: () => installation.aicr.log.slice(-6000)
    })
    // A crowd does not make the service send more than the platform allows.
    const replies = crowd.flatMap((id) => platform.repliesTo(id)).map(({ texts }) => texts.at(-1))
    expect(replies.length).toBeLessThanOrEqual(20)
    for (const reply of replies) expect(reply).toContain("not authorised")
    expect(platform.calls.filter(({ path }) => path.endsWith("/members")).length).toBeLessThan(10)
    platform.decide = () => undefined
  })

  it("list reviews of pull requests, branches and commits, with their problems", async () => {
    const pull = await installation.open("first")
    const ofPull = await deliver(`review app ${pull.number}`)
    await until(ofPull, "has ended")
    const ofBranch = await deliver("review app first")
    await until(ofBranch, "has ended")
    expect(await command("prs app")).toMatch(/team\/one #1/)
    expect(await command("prs app")).not.toMatch(/one first/)
    expect(await command("prs app main")).toMatch(/team\/one #1/)
    expect(await command("prs app release")).toContain("nothing to show")
    expect(await command("commits app")).toMatch(/team\/one first/)
    expect(await command("commits app")).not.toContain("#1")
    expect(await command("commits app first")).toMatch(/team\/one first/)
    expect(await command("commits app main")).toContain("nothing to show")
    for (const list of ["reviews", "reviews app"]) expect(await command(list)).toMatch(/one first[^]*#1/)
    expect(await command("detail app first")).toContain("Problem of first")
    // The commit that a list names is one that can be typed.
    const [, commit = "none"] = /team\/one first` `([0-9a-f]{12})`/.exec(await command("commits app")) ?? []
    expect(await command(`detail app ${commit}`)).toContain("Problem of first")
    expect(await command("detail app main")).toContain("No review of it")
    expect(await command("detail other first")).toContain("No repository with this name")
    expect(await command(`status ${requestOf(ofPull)}`)).toMatch(/review app 1.*succeeded/)
    expect(await command(`status ${requestOf(ofPull)}`, { from: "ou_ada", chat: "oc_p2p_ada" })).toContain(
      "Nothing with this id"
    )
    expect(await command("status 0190aaaa-0000-7000-8000-000000000000")).toContain("Nothing with this id")
  })

  it("show what runs and what waits, and cancel it", async () => {
    const [running, waiting] = [await installation.open("held-one"), await installation.open("waiting")]
    await until(await deliver(`review app ${running.number}`), "is running")
    const second = await deliver(`review app ${waiting.number}`)
    await until(second, "queued")
    expect(await command("running")).toContain(`#${running.number}`)
    expect(await command("queue")).toContain(`#${waiting.number}`)
    expect(await command("queue")).not.toContain(`#${running.number}`)
    expect(await command("projects", { from: "ou_guest" })).toContain("app")
    expect(await command(`cancel app ${waiting.number}`, { from: "ou_guest" })).toContain("may not use `cancel`")
    expect(await command(`cancel app ${waiting.number}`)).toMatch(/1 waiting review of .*cancelled/)
    expect(await command(`cancel app ${waiting.number}`)).toContain("nothing was cancelled")
    expect(await command("cancel app 999")).toContain("nothing was cancelled")
    expect(await command(`cancel app held-one`)).toMatch(/nothing was cancelled/)
    await until(second, "has ended without a result")
    expect(await command("queue")).toContain("nothing to show")
    expect(installation.countModelCalls("waiting")).toBe(0)
  })

  it("cancel the review of a push, which no person requested", async () => {
    const { forge } = installation
    const repository = forge.state.repositories.get("team/one")
    if (repository === undefined) throw new Error("no repository")
    const [before, after] = [await installation.push("pushed", 1), await installation.push("pushed", 2)]
    const sender = forge.user("dana")
    const { body } = await forge.send(
      forge.delivery({ kind: "push", repository, branch: "pushed", before, after, sender })
    )
    expect(body).toMatchObject({ accepted: true })
    const from = { from: "ou_bob" }
    expect(await command("queue", from)).toContain("team/one pushed")
    expect(await command("cancel app pushed", from)).toMatch(/1 waiting review of `team\/one pushed` cancelled/)
    expect(await command("cancel app pushed", from)).toContain("nothing was cancelled")
    expect(await command("queue", from)).not.toContain("pushed")
  })

  it("refuse the sixth review of a person, the twenty-first of a conversation and the hundred and first that waits", async () => {
    const review = (at: number, person: string, chat: string) =>
      deliver(`review app branch-${at}`, { from: person, chat })
    const isQueued = (text: string) => text.includes("queued")
    // All of one person at the same time: no more than five of them pass.
    const first = await Promise.all(Array.from({ length: 8 }, (_, at) => review(at, "ou_p0", "oc_limit")))
    const texts = await Promise.all(first.map(replyTo))
    expect(texts.filter(isQueued).length).toBe(5)
    expect(texts.filter((text) => text.includes("Too many reviews")).length).toBe(3)
    const crowd = (chat: string, from: number) =>
      [1, 2, 3, 4].flatMap((person) =>
        Array.from({ length: 5 }, (_, at) => review(from + person * 5 + at, `ou_${chat}_${person}`, chat))
      )
    const other = await Promise.all((await Promise.all(crowd("oc_limit", 100))).map(replyTo))
    expect(other.filter(isQueued).length).toBe(15)
    expect(other.filter((text) => text.includes("Too many reviews")).length).toBe(5)
    for (const [at, chat] of crowds.slice(1, 5).entries()) {
      const all = await Promise.all((await Promise.all(crowd(chat, 200 + at * 100))).map(replyTo))
      expect(all.filter(isQueued).length).toBe(20)
    }
    expect(await command("review app one-more", { from: "ou_last", chat: "oc_last" })).toContain(
      "Too many requested reviews of this workspace wait"
    )
  })

  it("a person who is removed from a binding loses access with the next message", async () => {
    expect(await command("projects", { from: "ou_leaver" })).toContain("app")
    const file = join(installation.directory, "config.yaml")
    const document = parse(readFileSync(file, "utf8"))
    document.im.command_bindings.guest.actors = [{ type: "feishu_open_id", id: "ou_other" }]
    writeFileSync(file, stringify(document))
    await waitUntil(() => installation.aicr.log.includes("configuration in force"), {
      describe: () => installation.aicr.log.slice(-3000)
    })
    const text = await command("projects", { from: "ou_leaver" })
    expect(text).toContain("not authorised")
    expect(text).toContain("ou_leaver")
    expect(text).not.toMatch(/app\b/)
  })
})

describe("a review from chat that waits longer than queued_timeout_hours", () => {
  it("ends with one message that names the reason", { timeout: 120_000 }, async () => {
    await using platform = await FakeChatPlatform.start()
    using clock = new SetClock()
    await using installation = await Installation.make({
      queue: "sqlite",
      concurrency: 1,
      maxWaitingForModel: 0,
      review: { auto_commit: { queued_timeout_hours: 1 } },
      // The clock is moved by an hour.
      catchUpSeconds: 0,
      im: chatDocument(platform.url, { app: { workspace: "team-one" } }),
      env: { ...chatEnv, FEISHU_SECRET: platformSecrets.feishu, WECOM_SECRET: platformSecrets.wecom, ...clock.env }
    })
    const gate = Promise.withResolvers<void>()
    installation.model.script(async (request) => {
      await gate.promise
      return honest(request)
    })
    await installation.aicr.start()
    const texts = (id: string) => platform.repliesTo(id)[0]?.texts ?? []
    const request = async (id: string, text: string, expected: string) => {
      await deliverFeishu(`${installation.aicr.url}/callbacks/im/lark`, feishuMessage(id, text))
      await until(id, expected)
    }
    const until = (id: string, expected: string) =>
      waitUntil(() => texts(id).at(-1)?.includes(expected), {
        timeout: 60_000,
        describe: () => `${id} to say ${expected}: ${texts(id).join("\n")}\n${installation.aicr.log.slice(-4000)}`
      })
    const [held, waiting] = [await installation.open("held"), await installation.open("waiting")]
    await request("m-held", `review app ${held.number}`, "is running")
    await request("m-waiting", `review app ${waiting.number}`, "is queued")
    clock.set(3700)
    await until("m-waiting", "queued_timeout")
    expect(platform.repliesTo("m-waiting").length).toBe(1)
    gate.resolve()
    await until("m-held", "has ended")
    expect(installation.countModelCalls("waiting")).toBe(0)
  })
})
