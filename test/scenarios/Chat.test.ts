/** People command the service from chat: the real process, a git host, a model, and the APIs of the platforms. */
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { giteaDialect } from "../../demo/DemoForgeGitea.ts"
import {
  challengeWecom,
  chatDocument,
  chatEnv,
  deliverBySchedule,
  deliverFeishu,
  deliverWecomApp,
  deliverWecomBot,
  feishuButton,
  feishuMessage,
  pressWecomApp
} from "../harness/ChatPeople.ts"
import { FakeChatPlatform, platformSecrets } from "../harness/FakeChatPlatform.ts"
import { getThread, withThreads } from "../harness/FakeThreads.ts"
import { honest, Installation, namesIn } from "../harness/Installation.ts"
import { waitUntil } from "../harness/Wait.ts"

/** Number of commands in the scenario of a kill. */
const commands = Number(process.env["AICR_TEST_CHAT"] ?? 40)

describe("chat", { timeout: 180_000 }, () => {
  let platform: FakeChatPlatform
  let installation: Installation

  beforeAll(async () => {
    platform = await FakeChatPlatform.start()
    const im = chatDocument(platform.url, { app: { workspace: "team-one" } })
    const people = ["ou_ada", "ou_bob", "ou_cleo", "ou_dana"].map((id) => ({ type: "feishu_open_id", id }))
    const scope = { kind: "feishu_app", id: "cli_a" }
    const corpScope = { kind: "wecom_corp", id: "corp" }
    const appchat = { kind: "appchat", chat_id: "results" }
    const mentions = (from: object) => ({ mention_author: true, member_directory: from })
    const directory = { source: "file", path: "members.json", directory_id: "staff", identity_scope: scope }
    const corpDirectory = { ...directory, directory_id: "corp", identity_scope: corpScope }
    installation = await Installation.make({
      queue: "sqlite",
      repositories: ["team/one", "team/rooms"],
      dialect: withThreads("gitea", giteaDialect),
      im: {
        ...im,
        command_bindings: { ...im.command_bindings, lark: { ...im.command_bindings.lark, actors: people } }
      },
      channels: [
        { name: "room", kind: "feishu_app", connection: "lark", receive_id: "oc_results", ...mentions(directory) },
        { name: "corp", kind: "wecom_app", connection: "corp", target: appchat, ...mentions(corpDirectory) }
      ],
      // Messages to a group chat of WeCom are eight seconds apart: only the test of mentions sends any.
      rules: [{ match: { trigger: "host-1" }, line_comments: ["review"], summary: ["review", "room", "corp"] }],
      env: { ...chatEnv, FEISHU_SECRET: platformSecrets.feishu, WECOM_SECRET: platformSecrets.wecom }
    })
    const member = (key: string, username: string) => ({
      key,
      vcs_accounts: [{ provider: "gitea", username }],
      mention: { type: "feishu_open_id", id: `ou_${key}` }
    })
    const members = [member("ada", "ada-l"), member("cleo", "cleo"), member("dana", "dana")]
    writeFileSync(
      join(installation.directory, "members.json"),
      JSON.stringify({
        version: 1,
        directories: {
          staff: { platform: "feishu", identity_scope: scope, members },
          corp: {
            platform: "wecom",
            identity_scope: corpScope,
            members: [
              { ...member("dana", "dana"), mention: { type: "wecom_userid", id: "DanaW" } },
              { ...member("ada", "ada-l"), mention: { type: "wecom_userid", id: "ada" } }
            ]
          }
        }
      })
    )
    installation.forge.setPermission("team/one", "ada-l", "write")
    installation.forge.setPermission("team/one", "dana", "write")
    await installation.aicr.start()
  }, 120_000)

  afterAll(async () => {
    await installation?.[Symbol.asyncDispose]()
    await platform?.[Symbol.asyncDispose]()
  })

  const callback = (connection: string) => `${installation.aicr.url}/callbacks/im/${connection}`
  const lark = (id: string, text: string, options?: Parameters<typeof feishuMessage>[2]) =>
    deliverFeishu(callback("lark"), feishuMessage(id, text, options))
  const reply = (to: string) =>
    waitUntil(() => platform.repliesTo(to).at(-1)?.texts.at(-1), {
      describe: () => `a reply to ${to}; log:\n${installation.aicr.log.slice(-6000)}`
    })

  it("runs a command once, however often the platform delivers it", async () => {
    const responses = await Promise.all(Array.from({ length: 5 }, () => lark("m-help", "help")))
    expect(responses.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200])
    expect(await reply("m-help")).toContain("aicr review <alias> <rev>")
    await lark("m-projects", "projects")
    expect(await reply("m-projects")).toContain("app")
    expect(platform.repliesTo("m-help").length).toBe(1)
  })

  it("sends an unauthorised person only their own ids", async () => {
    await lark("m-eve", "projects", { from: "ou_eve" })
    const text = await reply("m-eve")
    expect(text).toContain("ou_eve")
    expect(text).not.toContain("app")
  })

  it("reviews a pull request, edits its message, and repeats it with a button once", async () => {
    const pull = await installation.open("chat-one")
    await lark("m-review", `review app ${pull.number}`)
    await waitUntil(() => platform.repliesTo("m-review").at(0)?.buttons.length === 3, {
      timeout: 60_000,
      describe: () =>
        `the result of m-review: ${JSON.stringify(platform.messages)}; log:\n${installation.aicr.log.slice(-8000)}`
    })
    const [message, ...others] = platform.repliesTo("m-review")
    expect(others).toEqual([])
    expect(message?.texts.at(-1)).toContain("src/chat-one.ts:2")
    expect(message?.texts.length).toBeGreaterThan(1)
    // Its lines of log have one story: from the request to its end.
    const find = (text: string) =>
      waitUntil(
        () =>
          installation.aicr.log
            .split("\n")
            .filter((line) => line.includes(`"msg":"${text}"`))
            .map((line): Record<string, unknown> => Object(JSON.parse(line)))
            .find((line) => text !== "chat request ended" || line["command"] === "review"),
        { describe: () => text }
      )
    const decided = await find("delivery decided")
    expect(decided).toMatchObject({ event: "chat", decision: "queued", number: pull.number, repository: "team/one" })
    const { chat_request_id, event_id, trace } = decided
    expect(await find("chat request ended")).toMatchObject({ chat_request_id, event_id: [event_id], trace })
    for (const text of ["run started", "run ended"]) {
      expect(await find(text)).toMatchObject({ event_id: [event_id], trace })
    }
    await lark("m-status", "prdetail app 1")
    expect(await reply("m-status")).toContain("Problem of chat-one")
    const calls = installation.countModelCalls("chat-one")
    const again = message?.buttons[0]?.id ?? ""
    await deliverFeishu(callback("lark"), feishuButton("e-1", again))
    await deliverFeishu(callback("lark"), feishuButton("e-1", again))
    expect(await reply("om_card")).toMatch(/queued|running|ended/i)
    await deliverFeishu(callback("lark"), feishuButton("e-2", again))
    await waitUntil(() => platform.repliesTo("om_card").some(({ texts }) => texts.at(-1)?.includes("used already")), {
      describe: () => `a used button is refused: ${JSON.stringify(platform.repliesTo("om_card"))}`
    })
    expect(installation.countModelCalls("chat-one")).toBeGreaterThanOrEqual(calls)
  })

  it("a button stays usable when a person without rights presses it, who learns only their own ids", async () => {
    const press = (event: string, id: string, from?: string) =>
      deliverFeishu(callback("lark"), feishuButton(event, id, from))
    const replies = () => platform.repliesTo("om_card").map(({ texts }) => texts.at(-1) ?? "")
    const said = (text: string) =>
      waitUntil(() => replies().find((one) => one.includes(text)), {
        timeout: 60_000,
        describe: () => `${text} in ${JSON.stringify(replies())}; log:\n${installation.aicr.log.slice(-6000)}`
      })
    const pull = await installation.open("chat-buttons")
    let held = true
    installation.model.script(async (request) => {
      if (namesIn(request).includes("chat-buttons"))
        await waitUntil(() => !held, { timeout: 60_000, describe: () => "the review is released" })
      return honest(request)
    })
    await lark("m-cancel", `review app ${pull.number}`)
    const progress = await waitUntil(
      () => platform.repliesTo("m-cancel").find(({ texts }) => texts.at(-1)?.includes("is running")),
      { timeout: 60_000, describe: () => `m-cancel runs: ${JSON.stringify(platform.repliesTo("m-cancel"))}` }
    )
    const cancel = progress.buttons.find(({ label }) => label === "Cancel")?.id ?? ""
    await press("e-eve-1", cancel, "ou_eve")
    const refusal = await said("not authorised")
    expect(refusal).toContain("ou_eve")
    expect(refusal).not.toMatch(/team.one|chat-buttons|used already/)
    await press("e-ada-1", cancel)
    expect(await said("will end")).toContain(`team/one #${pull.number}`)
    await waitUntil(() => progress.texts.at(-1)?.includes("has ended without a result"), {
      timeout: 60_000,
      describe: () => `the review is cancelled: ${JSON.stringify(progress)}`
    })
    // The id is used now, and a person without rights still learns nothing of it.
    await press("e-ada-2", cancel)
    await said("used already")
    await press("e-eve-2", cancel, "ou_eve2")
    expect(await said("ou_eve2")).not.toContain("used already")
    held = false
    installation.model.script(honest)
  })

  it("dismisses a finding at the host with a button, where the person may write to the repository", async () => {
    const replies = () => platform.repliesTo("om_card").map(({ texts }) => texts.at(-1) ?? "")
    const said = (text: string) =>
      waitUntil(() => replies().find((one) => one.includes(text)), {
        timeout: 60_000,
        describe: () => `${text} in ${JSON.stringify(replies())}; log:\n${installation.aicr.log.slice(-6000)}`
      })
    const pull = await installation.open("chat-dismiss")
    await lark("m-dismiss", `review app ${pull.number}`)
    const card = await waitUntil(
      () =>
        platform.repliesTo("m-dismiss").find(({ buttons }) => buttons.some(({ label }) => label.startsWith("Dismiss"))),
      { timeout: 60_000, describe: () => `a button: ${JSON.stringify(platform.repliesTo("m-dismiss"))}` }
    )
    const [{ id = "", label } = {}] = card.buttons.filter((button) => button.label.startsWith("Dismiss"))
    expect(label).toBe("Dismiss: Problem of chat-dismiss")
    await installation.reviewed(pull)
    const [comment] = pull.reviews.flatMap(({ comments }) => comments)
    if (comment === undefined) throw new Error("no comment at a line")
    const press = (event: string, from: string) => deliverFeishu(callback("lark"), feishuButton(event, id, from))
    // Neither takes the button from the person after them: Bob has no account, Cleo may only read, Dana wrote the change.
    await press("e-dismiss-bob", "ou_bob")
    await said("account at the git host is not known")
    await press("e-dismiss-cleo", "ou_cleo")
    await said("may not write to the repository")
    await press("e-dismiss-dana", "ou_dana")
    await said("author of a change cannot dismiss")
    expect(getThread(comment).body).toBeUndefined()
    await press("e-dismiss-ada", "ou_ada")
    await said("It is not raised again")
    expect(getThread(comment).body).toContain("Dismissed by ada-l")
    const before = installation.countModelCalls("chat-dismiss")
    await lark("m-dismiss-2", `review app ${pull.number}`)
    await waitUntil(() => platform.repliesTo("m-dismiss-2").at(0)?.texts.at(-1)?.includes("has ended"), {
      timeout: 60_000,
      describe: () => `the second review: ${JSON.stringify(platform.repliesTo("m-dismiss-2"))}`
    })
    await installation.reviewed(pull)
    expect(installation.countModelCalls("chat-dismiss")).toBeGreaterThanOrEqual(before)
    expect(pull.reviews.flatMap(({ comments }) => comments).length).toBe(1)
    expect(pull.comments.at(-1)?.body).toContain("1 dismissed")
  })

  it("cards of a WeCom application cancel a review, show its details and dismiss a finding, each button once", async () => {
    const url = callback("corp")
    const log = () => `${JSON.stringify(platform.repliesTo("ada"))}; log:\n${installation.aicr.log.slice(-6000)}`
    const seen = new Set<string>()
    /** Waits for the next card with this button; returns the id of the button. */
    const button = (name: string) =>
      waitUntil(
        () => {
          const found = platform
            .repliesTo("ada")
            .flatMap(({ buttons }) => buttons)
            .find(({ id, label }) => label.startsWith(name) && !seen.has(id))
          if (found !== undefined) seen.add(found.id)
          return found?.id
        },
        { timeout: 60_000, describe: () => `a button ${name} in ${log()}` }
      )
    const said = (text: string) =>
      waitUntil(() => platform.repliesTo("ada").find(({ texts }) => texts.at(-1)?.includes(text)), {
        timeout: 60_000,
        describe: () => `${text} in ${log()}`
      })
    const pull = await installation.open("wecom-card")
    let held = true
    installation.model.script(async (request) => {
      await waitUntil(() => !held, { timeout: 60_000, describe: () => "the review is released" })
      return honest(request)
    })
    await deliverWecomApp(url, "9200", `review app ${pull.number}`)
    const cancel = await button("Cancel")
    await pressWecomApp(url, cancel, { at: 11 })
    await said("will end")
    await said("has ended without a result")
    held = false
    installation.model.script(honest)
    // Two buttons of one card within one second are two presses.
    await pressWecomApp(url, await button("Run again"), { at: 12 })
    const [details, dismiss] = [await button("Details"), await button("Dismiss 1")]
    await installation.reviewed(pull)
    await Promise.all([details, dismiss, details].map((key) => pressWecomApp(url, key, { at: 13 })))
    await said("It is not raised again")
    await said("Problem of wecom-card")
    const [comment] = pull.reviews.flatMap(({ comments }) => comments)
    expect(comment === undefined ? undefined : getThread(comment).body).toContain("Dismissed by ada-l")
    await pressWecomApp(url, dismiss, { at: 14 })
    await said("used already")
  })

  it("applications of both platforms mention the member who wrote the change", async () => {
    const pull = await installation.open("chat-rooms", "team/rooms")
    await installation.forge.notify(pull, "opened")
    const find = (to: string) =>
      waitUntil(
        () =>
          platform
            .repliesTo(to)
            .find(({ texts }) => texts.at(-1)?.includes("chat-rooms"))
            ?.texts.at(-1),
        {
          timeout: 60_000,
          describe: () =>
            `a summary in ${to}: ${JSON.stringify(platform.repliesTo(to))}; ${installation.aicr.log.slice(-4000)}`
        }
      )
    expect(await find("oc_results")).toContain("<at id=ou_dana></at>")
    expect(await find("results")).toContain("<@DanaW>")
  })

  it("serves an application and a bot of WeCom", async () => {
    expect(await challengeWecom(callback("corp"), "1616140317555161061")).toEqual({
      status: 200,
      body: "1616140317555161061"
    })
    platform.expireTokens()
    const before = platform.repliesTo("ada").length
    expect(await deliverWecomApp(callback("corp"), "9001", "projects")).toEqual({ status: 200, body: "" })
    await waitUntil(() => platform.repliesTo("ada").length > before, {
      describe: () => installation.aicr.log.slice(-6000)
    })
    expect(await reply("ada")).toContain("app")
    expect((await deliverWecomBot(callback("bot"), "b1", "chat-id", { platform: platform.url })).status).toBe(200)
    expect(await reply("b1")).toContain("group g1")
  })

  it("refuses what the platform did not send", async () => {
    expect((await fetch(callback("nobody"), { method: "POST", body: "{}" })).status).toBe(404)
    expect((await fetch(callback("off"), { method: "POST", body: "{}" })).status).toBe(503)
    expect((await fetch(callback("lark"), { method: "PUT", body: "{}" })).status).toBe(405)
    expect((await fetch(callback("lark"), { method: "POST", body: "{}" })).status).toBe(401)
    expect((await fetch(callback("corp"), { method: "POST", body: "<xml/>" })).status).toBe(401)
    const statusOf = async (bytes: number) =>
      (await fetch(callback("lark"), { method: "POST", body: "x".repeat(bytes) })).status
    expect([await statusOf(256 * 1024), await statusOf(256 * 1024 + 1)]).toEqual([401, 413])
  })

  it("executes once what the platforms deliver again by their schedules", async () => {
    // Feishu also delivers again what was accepted, each time as another event.
    for (let time = 0; time < 5; time++) await lark("m-again", "projects")
    await reply("m-again")
    await Promise.all([1, 2, 3].map(() => deliverWecomApp(callback("corp"), "9100", "chat-id")))
    await installation.aicr.kill()
    // The process is down for the first three redeliveries of Feishu, and back before the last one, six hours later.
    const late = deliverBySchedule("feishu", 2000, () => lark("m-late", "projects"))
    const lost = await deliverBySchedule("wecom", 1, () => deliverWecomApp(callback("corp"), "9101", "projects"))
    expect(lost).toEqual([0, 0, 0, 0])
    await installation.aicr.start()
    const statuses = await late
    expect([statuses[0], statuses.at(-1)]).toEqual([0, 200])
    expect(statuses.length).toBeGreaterThan(3)
    expect(await reply("m-late")).toContain("app")
    await lark("m-fence", "help")
    await reply("m-fence")
    for (const id of ["m-again", "m-late"]) expect(platform.repliesTo(id).length).toBe(1)
    const ids = platform.repliesTo("ada").filter(({ texts }) => texts.at(-1)?.includes("direct ada"))
    expect(ids.length).toBe(1)
  })

  it(
    "loses no command and repeats no reply when the process is killed",
    { timeout: 180_000 + commands * 60 },
    async () => {
      const ids = Array.from({ length: commands }, (_, at) => `k-${at}`)
      // The platform delivers again what was not accepted, and some of what was, in any order.
      const deliver = async (id: string) => {
        const from = `ou_${Number(id.slice(2)) % Math.ceil(commands / 10)}`
        for (;;) {
          // Each person in a conversation of their own: a crowd in one gets fewer replies.
          const response = await lark(id, "chat-id", { from, chat: `oc_of_${from}` }).catch(() => undefined)
          if (response?.status === 200) return
          await new Promise((resume) => setTimeout(resume, 20))
        }
      }
      const waiting = [...ids, ...ids.slice(0, commands / 2).toReversed()]
      const sender = async () => {
        for (let id = waiting.shift(); id !== undefined; id = waiting.shift()) await deliver(id)
      }
      const first = Promise.all(Array.from({ length: 256 }, sender))
      await waitUntil(() => platform.messages.some(({ to }) => to.startsWith("k-")), {
        describe: () => "a first reply"
      })
      await installation.aicr.kill()
      await installation.aicr.start()
      await first
      const repliedTo = () => platform.messages.map(({ to }) => to).filter((to) => to.startsWith("k-"))
      // Unauthorised people get two messages a minute; the others are closed without one.
      const expected = 2 * Math.ceil(commands / 10)
      await waitUntil(() => new Set(repliedTo()).size >= expected, {
        timeout: 60_000 + commands * 30,
        describe: () => `${repliedTo().length} of ${expected} replies; log:\n${installation.aicr.log.slice(-6000)}`
      })
      const replied = repliedTo()
      expect(replied.length).toBe(new Set(replied).size)
    }
  )
})
