/** Channels of chat applications: recipients, credentials, keys, limits, and each field that they use. */
import { Duration, Effect } from "effect"
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest"
import { OperationId, TargetKey } from "../../src/domain/Keys.ts"
import { newId } from "../../src/domain/Ids.ts"
import type { Publication } from "../../src/domain/Publication.ts"
import { channelTable } from "../../src/outputs/channels/Channels.ts"
import type { ChannelContext } from "../../src/outputs/channels/Channel.ts"
import { mentionSlot } from "../../src/outputs/text/Mention.ts"
import { forgeTable } from "../../src/forge/hosts/ForgeTable.ts"
import { WriteGap } from "../../src/forge/Pacing.ts"
import { WritePermits } from "../../src/forge/WritePermits.ts"
import { repoName, startHost } from "../forge/Clients.ts"
import type { Host } from "../forge/Clients.ts"
import { FakeChatPlatform, platformSecrets } from "../harness/FakeChatPlatform.ts"
import { owned } from "../harness/Owners.ts"
import { testSnapshot } from "../harness/TestSnapshot.ts"
import { finding, input } from "./Fixtures.ts"
import { documentFor, only, publisher } from "./FromDocument.ts"
import { makeChannelContext } from "./Publishing.ts"

const env = { FEISHU: platformSecrets.feishu, WECOM: platformSecrets.wecom }
const table = channelTable((kind) => forgeTable[kind].bodyLimit)

describe("channels of chat applications", () => {
  let host: Host
  let platform: FakeChatPlatform
  beforeAll(async () => {
    ;[host, platform] = await Promise.all([startHost("gitea"), FakeChatPlatform.start()])
  })
  afterEach(() => {
    platform.messages.splice(0)
    platform.forgetKeys()
    platform.calls.splice(0)
    platform.decide = () => undefined
    host.forge.issues(repoName).issues.splice(0)
  })
  afterAll(async () => {
    await Promise.all([host.forge.stop(), platform[Symbol.asyncDispose]()])
  })

  const connections = () => ({
    lark: { kind: "feishu_app", app_id: "cli_a", app_secret_env: "FEISHU", base_url: platform.url },
    corp: { kind: "wecom_app", corp_id: "corp", agent_id: "5", app_secret_env: "WECOM", base_url: platform.url }
  })
  const publish = (outputs: object) =>
    publisher(host, { ...documentFor(host, { ...outputs }), im: { connections: connections() } }, env)
  const lark = (more: object = {}) =>
    only({
      kind: "feishu_app",
      app_id: "cli_a",
      app_secret_env: "FEISHU",
      base_url: platform.url,
      receive_id: "oc_1",
      ...more
    })
  const corp = (target: object, more: object = {}) => only({ kind: "wecom_app", connection: "corp", target, ...more })
  const sends = () => platform.calls.filter(({ path }) => /messages|send$/.test(path))

  it.each([
    ["app_id, app_secret and receive_id", () => ({ app_secret_env: undefined, app_secret: platformSecrets.feishu })],
    ["app_secret_env and base_url", () => ({})],
    ["connection", () => ({ app_id: undefined, app_secret_env: undefined, base_url: undefined, connection: "lark" })]
  ])("%s of feishu_app", async (_, settings) => {
    const [channel] = Object.values(Object(lark(settings())).channels)
    const given = Object.fromEntries(Object.entries(Object(channel)).filter(([, value]) => value !== undefined))
    await publish({ ...lark(), channels: [given] })([finding(1)])
    expect(platform.messages).toMatchObject([{ to: "oc_1", texts: [expect.stringContaining("Message 1")] }])
    const token = platform.calls.find(({ path }) => path.endsWith("/internal"))
    expect(token === undefined || token.body["app_id"] === "cli_a").toBe(true)
  })

  it("app_id is that of the token", async () => {
    await publish(lark({ app_id: "cli_other" }))([finding(1)])
    expect(platform.calls.find(({ path }) => path.endsWith("/internal"))?.body["app_id"]).toBe("cli_other")
  })

  it("receive_id_type names the kind of receive_id", async () => {
    platform.decide = ({ path }) =>
      path.endsWith("/messages") ? { kind: "answer", status: 200, body: { code: 0, data: {} } } : undefined
    await publish(lark({ receive_id: "ada@example.com", receive_id_type: "email" }))([finding(1)])
    expect(platform.queries.at(-1)).toBe("receive_id_type=email")
  })

  it.each([
    ["users", { users: ["ada", "ben"] }, { touser: "ada|ben", toparty: "", totag: "" }],
    ["parties", { parties: ["7"] }, { touser: "", toparty: "7", totag: "" }],
    ["tags", { tags: ["x", "y"] }, { touser: "", toparty: "", totag: "x|y" }]
  ])("target.%s and connection of wecom_app", async (_, target, fields) => {
    await publish(corp({ kind: "recipients", ...target }))([finding(1)])
    expect(sends().map(({ body, path }) => [path, body])).toMatchObject([
      ["/cgi-bin/message/send", { ...fields, agentid: 5, msgtype: "markdown", enable_duplicate_check: 1 }]
    ])
  })

  it("target.kind and target.chat_id of wecom_app", async () => {
    await publish(corp({ kind: "appchat", chat_id: "chat-1" }))([finding(1)])
    expect(sends().map(({ path }) => path)).toEqual(["/cgi-bin/appchat/send"])
    expect(platform.messages).toMatchObject([{ to: "chat-1", texts: [expect.stringContaining("Message 1")] }])
  })

  it("splits what is too long, for each platform", async () => {
    const many = Array.from({ length: 60 }, (_, i) => finding(i + 1, { message: `"数字"\\ ${"字".repeat(90)}` }))
    await publish(corp({ kind: "recipients", users: ["ada"] }))(many)
    await publish(lark())(many)
    const refused = platform.messages.flatMap(({ texts }) => texts).filter((text) => text === "")
    expect([platform.messages.length > 5, refused]).toEqual([true, []])
    expect(sends().length).toBe(platform.messages.length)
  })

  it("issue_link_card of feishu_app sets how much the card repeats of recorded issues", async () => {
    const [chat] = Object(lark({ issue_link_card: "brief" })).channels
    const channels = [{ name: "issues", kind: "gitea_problem_issue", assign_committer: false }, chat]
    await publish({ channels, routes: { default: { summary: ["issues", "own"] } } })([finding(1)])
    expect(platform.messages).toMatchObject([{ texts: [expect.stringContaining("1 problem found")] }])
    expect(platform.messages[0]?.texts[0]).not.toContain("Title 1")
  })

  it("follows the policy for clean reviews, and mentions the author", async () => {
    await publish(lark({ no_problems: { action: "suppress" } }))([])
    expect(platform.messages).toEqual([])
    await publish(lark({ no_problems: { action: "publish" }, mention_author: true }))([])
    await publish(corp({ kind: "appchat", chat_id: "c" }, { mention_author: true }))([finding(1)])
    expect(platform.messages.map(({ texts }) => /@dana/.test(texts[0] ?? ""))).toEqual([true, true])
  })

  const rowFor = (kind: "feishu_app" | "wecom_app", channel: object, body: string, id = newId()) => ({
    setup: {
      forge: host.forge,
      kind: table[kind],
      channel: Object({ name: "own", kind, marker_prefix: "", ...channel }),
      credentials: { app_secret: kind === "feishu_app" ? platformSecrets.feishu : platformSecrets.wecom }
    },
    row: {
      id,
      operationId: OperationId.make("0123456789abcdef0123456789abcdef"),
      runId: "r",
      targetKey: TargetKey.make("t"),
      channel: "own",
      status: "pending",
      position: 0,
      attempts: 0,
      operation: { _tag: "Chat", head: "h", title: "Title", body, first: true }
    } satisfies Publication
  })

  const withConnections = (context: ChannelContext): ChannelContext => {
    const snapshot = testSnapshot({ im: { connections: connections() } })
    return { ...context, workspace: { ...context.workspace, snapshot: () => snapshot } }
  }

  it("sends a message again with its key only while the platform recognises it", async () => {
    const settings = { app_id: "cli_a", receive_id: "oc_1", base_url: platform.url }
    const { row, setup } = rowFor("feishu_app", settings, "hello")
    const context = makeChannelContext(setup, input([]), host.client)
    const send = () => Effect.runPromise(owned(Effect.result(setup.kind.send(context, row, undefined))))
    let lost = 1
    platform.decide = ({ path }) => (path.endsWith("/messages") && lost-- > 0 ? { kind: "lost" } : undefined)
    expect(await send()).toMatchObject({ _tag: "Failure", failure: { reason: "unknown_outcome" } })
    const find = (id: string) => Effect.runPromise(owned(Effect.orDie(setup.kind.find(context, { ...row, id }))))
    expect(await find(row.id)).toBeUndefined()
    expect((await send())._tag).toBe("Success")
    expect(platform.messages.length).toBe(1)
    const old = "01900000-0000-7000-8000-000000000000"
    expect((await find(old))?.hostId).toBe(`unconfirmed:${row.operationId}`)
  })

  const recipients = (...users: ReadonlyArray<string>) => ({ kind: "recipients", users })
  it.each([
    ["feishu_app", 1000, { receive_id: "oc_1" }, { receive_id: "oc_2" }],
    ["wecom_app", 3600, { target: recipients("grace") }, { target: recipients("bob") }],
    ["wecom_app", 8640, { target: { kind: "appchat", chat_id: "a" } }, { target: { kind: "appchat", chat_id: "b" } }]
  ] as const)("messages of %s to one recipient are %i ms apart on all nodes: %j", async (kind, gap, one, other) => {
    const acquired = new Array<string>()
    const permits = WritePermits.of({
      acquire: (key, millis) =>
        Effect.sync(() => {
          acquired.push(`${key} ${millis}`)
          return { started: Effect.void, release: Effect.void }
        }),
      pause: () => Effect.void
    })
    for (const settings of [one, one, other]) {
      const own = kind === "feishu_app" ? { app_id: "cli_a", base_url: platform.url } : { connection: "corp" }
      const { row, setup } = rowFor(kind, { ...own, ...settings }, `hello ${acquired.length}`)
      const sent = setup.kind
        .send(withConnections(makeChannelContext(setup, input([]), host.client)), row, undefined)
        .pipe(
          Effect.provideService(WritePermits, permits),
          // Nothing is waited for here: each is the first message of its process.
          Effect.provideService(WriteGap, Duration.seconds(1))
        )
      await Effect.runPromise(owned(Effect.orDie(sent)))
    }
    const [first = "", second, third = ""] = acquired
    expect([first.endsWith(` ${gap}`), second === first, third.endsWith(` ${gap}`), third === first]).toEqual([
      true,
      true,
      true,
      false
    ])
    // The key has a hexadecimal digest, which has neither "_" nor "g".
    expect(first).not.toMatch(/oc_1|grace/)
  })

  it("never sends a message of WeCom again that may have reached the platform, if it mentions the author or is to a group", async () => {
    const find = (target: object, body: string) => {
      const { row, setup } = rowFor("wecom_app", { connection: "corp", target }, body)
      const context = withConnections(makeChannelContext(setup, input([]), host.client))
      return Effect.runPromise(owned(Effect.orDie(setup.kind.find(context, row))))
    }
    const people = { kind: "recipients", users: ["ada"] }
    const unconfirmed = { hostId: expect.stringContaining("unconfirmed:") }
    expect(await find(people, "hello")).toBeUndefined()
    expect(await find(people, `hello ${mentionSlot}`)).toMatchObject(unconfirmed)
    expect(await find({ kind: "appchat", chat_id: "c" }, "hello")).toMatchObject(unconfirmed)
  })

  it.each([
    ["a limit inside status 400", 400, { code: 99_991_400 }, { "x-ogw-ratelimit-reset": "7" }, "rate_limited"],
    ["a limit of the conversation", 400, { code: 230_020 }, {}, "rate_limited"],
    ["a bot that is not in the conversation", 400, { code: 230_002 }, {}, "forbidden"],
    ["a message that is too long", 400, { code: 230_025 }, {}, "invalid"]
  ])("classifies %s", async (_, status, body, headers, reason) => {
    const settings = { app_id: "cli_a", receive_id: `oc_${reason}_${status}`, base_url: platform.url }
    const { row, setup } = rowFor("feishu_app", settings, "hello")
    const context = makeChannelContext(setup, input([]), host.client)
    platform.decide = ({ path }) =>
      path.endsWith("/messages") ? { kind: "answer", status, body: { ...body, msg: "refused" }, headers } : undefined
    const sent = await Effect.runPromise(owned(Effect.result(setup.kind.send(context, row, undefined))))
    expect(sent).toMatchObject({ _tag: "Failure", failure: { reason } })
    expect(JSON.stringify(sent)).not.toContain(platformSecrets.feishu)
  })

  it("name what is missing", async () => {
    const { row, setup } = rowFor("feishu_app", { app_id: "cli_a", receive_id: "oc" }, "hello")
    const context = makeChannelContext({ ...setup, credentials: {} }, input([]), host.client)
    const error = await Effect.runPromise(owned(Effect.flip(setup.kind.send(context, row, undefined))))
    expect(error.message).toBe("channel own: has no application secret; set app_secret_env to its variable")
  })
})
