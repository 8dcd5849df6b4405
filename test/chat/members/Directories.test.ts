/** Directories of the platforms: pages, departments below, ages, and failures. */
import { Clock, Effect, Fiber, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest"
import { Directories } from "../../../src/chat/members/Directories.ts"
import type { DirectoryApp } from "../../../src/chat/members/Directories.ts"
import type { MemberScope } from "../../../src/chat/members/Scope.ts"
import { FakeChatPlatform, platformSecrets } from "../../harness/FakeChatPlatform.ts"
import { FakeSlack, slackTokens } from "../../harness/FakeSlack.ts"
import { waitUntil } from "../../harness/Wait.ts"

describe("directories of chat platforms", () => {
  let platform: FakeChatPlatform
  let feishu: DirectoryApp
  let wecom: DirectoryApp
  let apps = 0
  beforeAll(async () => {
    platform = await FakeChatPlatform.start()
  })
  afterAll(() => platform[Symbol.asyncDispose]())
  beforeEach(() => {
    // Another identity, so that nothing is kept from the test before.
    const own = String(++apps)
    feishu = { platform: "feishu", baseUrl: platform.url, appId: own, secret: Redacted.make(platformSecrets.feishu) }
    const secret = Redacted.make(platformSecrets.wecom)
    wecom = { platform: "wecom", baseUrl: platform.url, corpId: own, agentId: "5", secret }
    platform.decide = () => undefined
    const { directory } = platform
    directory.departments = { "od-1": "0", "od-2": "od-1", "od-3": "od-2", "2": "1", "3": "2", "4": "9" }
    directory.people = [
      { id: "ou_1", department: "od-1", title: "Engineer" },
      { id: "ou_2", department: "od-2", title: "Lead" },
      { id: "ou_3", department: "od-3", title: "Engineer" },
      { id: "ou_gone", department: "od-1", title: "Engineer", isGone: true },
      { id: "u1", department: "1", title: "Dev", attributes: { team: "core" } },
      { id: "u2", department: "2", title: "Ops" },
      { id: "u3", department: "3", title: "Dev" },
      { id: "u4", department: "4", title: "Dev", attributes: { team: "web" } }
    ]
    directory.chats = { oc_1: ["ou_1", "bot1", "bot2", "bot3", "ou_2", "ou_9"] }
    directory.tags = { "7": { people: ["u4"], departments: [2] } }
  })

  const list = (app: DirectoryApp, scope: MemberScope, maxAge = 60_000, now = 1000) =>
    Effect.gen(function* () {
      return [...(yield* (yield* Directories).listScope(app, scope, maxAge))].toSorted()
    }).pipe(Effect.provideService(Clock.Clock, clockAt(now)), Effect.runPromise)
  const clock = Effect.runSync(Clock.Clock)
  const clockAt = (now: number): Clock.Clock =>
    Object.create(clock, { currentTimeMillis: { value: Effect.succeed(now) } })
  const listed = () => platform.calls.filter(({ path }) => /members|find_by|user\/list/.test(path)).length

  it("list members of a channel of Slack over pages, and of a user group", async () => {
    await using workspace = await FakeSlack.start()
    workspace.members = { C1: ["U1", "U2", "U3", "U4", "U5"], S1: ["U7"] }
    const slack = { platform: "slack", baseUrl: workspace.url, token: Redacted.make(slackTokens.bot) } as const
    expect(await list(slack, { kind: "slack_channel", id: "C1" })).toEqual(["U1", "U2", "U3", "U4", "U5"])
    expect(await list(slack, { kind: "slack_usergroup", id: "S1" })).toEqual(["U7"])
    await expect(list(slack, { kind: "wecom_tag", id: "7" })).rejects.toThrow("Slack")
  })

  it("list members of a chat over pages, some of which hold only bots", async () => {
    expect(await list(feishu, { kind: "feishu_chat", id: "oc_1" })).toEqual(["ou_1", "ou_2", "ou_9"])
  })

  it.each([
    [{ kind: "feishu_department", id: "od-1", recursive: true }, ["ou_1", "ou_2", "ou_3"]],
    [{ kind: "feishu_department", id: "od-1", recursive: false }, ["ou_1"]],
    [{ kind: "feishu_job_title", id: "Engineer" }, ["ou_1", "ou_3"]],
    [{ kind: "wecom_department", id: "1", recursive: true }, ["u1", "u2", "u3"]],
    [{ kind: "wecom_department", id: "1", recursive: false }, ["u1"]],
    [{ kind: "wecom_tag", id: "7" }, ["u2", "u3", "u4"]],
    [{ kind: "wecom_position", id: "Dev" }, ["u3", "u4"]],
    [{ kind: "wecom_extattr", name: "team", value: "web" }, ["u4"]],
    [{ kind: "wecom_extattr", name: "web", value: "team" }, []]
  ] as const)("list %j", async (scope, people) => {
    expect(await list(scope.kind.startsWith("feishu") ? feishu : wecom, scope)).toEqual(people)
  })

  it("end after 30 seconds without a response, and then no one is in their scope", async () => {
    platform.decide = ({ path }) => (path.endsWith("/members") ? { kind: "stall" } : undefined)
    const before = listed()
    const program = Effect.gen(function* () {
      const { listScope } = yield* Directories
      const listing = yield* Effect.forkChild(
        Effect.flip(listScope(feishu, { kind: "feishu_chat", id: "oc_1" }, 60_000))
      )
      yield* Effect.promise(() => waitUntil(() => listed() > before, { describe: () => "a listing" }))
      yield* TestClock.adjust("29 seconds")
      const isPending = listing.pollUnsafe() === undefined
      yield* TestClock.adjust("2 seconds")
      return { isPending, error: yield* Fiber.join(listing) }
    })
    const { error, isPending } = await Effect.runPromise(Effect.provide(program, TestClock.layer()))
    platform.endStalled()
    expect(isPending).toBe(true)
    expect(error.reason).toBe("unavailable")
    expect(error.message).toContain("not complete after 30 seconds")
  })

  it("are listed again after their age, once for all who wait, and directly after a change", async () => {
    const scope = { kind: "feishu_chat", id: "oc_1" } as const
    const before = listed()
    await Promise.all([list(feishu, scope), list(feishu, scope), list(feishu, scope)])
    const pages = listed() - before
    expect(pages).toBe(3)
    platform.directory.chats = { oc_1: ["ou_5"] }
    expect(await list(feishu, scope, 60_000, 60_999)).toEqual(["ou_1", "ou_2", "ou_9"])
    expect(await list(feishu, scope, 60_000, 61_000)).toEqual(["ou_5"])
    platform.directory.chats = { oc_1: ["ou_6"] }
    Effect.runSync(Effect.map(Directories, ({ forget }) => forget(feishu)))
    expect(await list(feishu, scope, 60_000, 61_000)).toEqual(["ou_6"])
    platform.directory.chats = { oc_1: ["ou_7"] }
    expect(await list(feishu, scope, 0, 61_000)).toEqual(["ou_7"])
  })

  it("of another application with the same ids are others", async () => {
    const scope = { kind: "feishu_chat", id: "oc_1" } as const
    expect((await list(feishu, scope)).length).toBe(3)
    platform.directory.chats = { oc_1: ["ou_5"] }
    const secret = Redacted.make(platformSecrets.feishu)
    expect(await list({ platform: "feishu", baseUrl: platform.url, appId: "other", secret }, scope)).toEqual(["ou_5"])
  })

  it("that fail are read again only later, and nothing older takes their place", async () => {
    const scope = { kind: "feishu_chat", id: "oc_1" } as const
    await list(feishu, scope)
    platform.decide = ({ path }) =>
      path.endsWith("/members")
        ? { kind: "answer", status: 400, body: { code: 99_991_672, msg: "no scope" } }
        : undefined
    await expect(list(feishu, scope, 60_000, 100_000)).rejects.toThrow("99991672")
    const before = listed()
    platform.decide = () => undefined
    await expect(list(feishu, scope, 60_000, 129_999)).rejects.toThrow("99991672")
    // Nor for those who accept older listings.
    await expect(list(feishu, scope, 1_000_000, 129_999)).rejects.toThrow("99991672")
    expect(listed()).toBe(before)
    expect((await list(feishu, scope, 60_000, 130_000)).length).toBe(3)
  })

  it("that repeat a page are refused", async () => {
    platform.decide = ({ path }) =>
      path.endsWith("/members")
        ? { kind: "answer", status: 200, body: { code: 0, data: { items: [], has_more: true, page_token: "same" } } }
        : undefined
    await expect(list(feishu, { kind: "feishu_chat", id: "oc_1" })).rejects.toThrow("repeats a page")
  })
})
