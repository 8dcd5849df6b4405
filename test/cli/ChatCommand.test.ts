/** The command `aicr chat check` against fake platforms and the real process of the service. */
import { readFile, writeFile } from "node:fs/promises"
import { createServer, request } from "node:http"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { parse, stringify } from "yaml"
import { chatDocument, chatEnv, longDocument } from "../harness/ChatPeople.ts"
import { FakeChatPlatform, platformSecrets } from "../harness/FakeChatPlatform.ts"
import { FakeSlack, slackTokens } from "../harness/FakeSlack.ts"
import { Installation } from "../harness/Installation.ts"
import { runAicr } from "../harness/RunAicr.ts"

describe("aicr chat check", { timeout: 120_000 }, () => {
  let platform: FakeChatPlatform
  let slack: FakeSlack
  let installation: Installation
  const env = {
    ...chatEnv,
    FEISHU_SECRET: platformSecrets.feishu,
    WECOM_SECRET: platformSecrets.wecom,
    BOT_SECRET: platformSecrets.wecomBot,
    SLACK_APP: slackTokens.app,
    SLACK_BOT: slackTokens.bot
  }

  beforeAll(async () => {
    platform = await FakeChatPlatform.start()
    slack = await FakeSlack.start()
    const tokens = { app_token_env: "SLACK_APP", bot_token_env: "SLACK_BOT" }
    const callbacks = chatDocument(platform.url, {})
    const long = longDocument(platform.url, {})
    const connections = {
      ...callbacks.connections,
      "long-lark": long.connections.lark,
      "long-bot": long.connections.bot,
      slack: { kind: "slack_app", base_url: slack.url, ...tokens },
      silent: { ...callbacks.connections.corp, callback: { enabled: false } }
    }
    installation = await Installation.make({ queue: "sqlite", im: { connections }, env })
    await installation.aicr.start()
    // The address under which the platforms reach the service.
    const document = parse(await readFile(join(installation.directory, "config.yaml"), "utf8"))
    const server = { ...document.server, base_url: installation.aicr.url }
    await writeFile(join(installation.directory, "check.yaml"), stringify({ ...document, server }))
  }, 120_000)
  afterAll(async () => {
    await installation?.[Symbol.asyncDispose]()
    await platform?.[Symbol.asyncDispose]()
    await slack?.[Symbol.asyncDispose]()
  })

  const check = (...args: ReadonlyArray<string>) => checkWith({}, ...args)
  const checkWith = async (more: Readonly<Record<string, string>>, ...args: ReadonlyArray<string>) => {
    const file = join(installation.directory, more["CHECK_FILE"] ?? "check.yaml")
    const all = ["chat", "check", ...args, "--json", "--config", file]
    const { code, err, out } = await runAicr(all, { env: { ...env, ...more } })
    const { checks = [] } = Object(JSON.parse(out.trim() === "" ? "{}" : out))
    const points: ReadonlyArray<string> = checks.map(({ point, state }: Record<string, string>) => `${point} ${state}`)
    return { code, points, out: `${out}${err}` }
  }

  it.each([
    ["lark", ["--to", "oc_1"], ["connection ok", "token ok", "permissions ok", "receiving ok", "message ok"]],
    ["corp", ["--to", "ada"], ["connection ok", "token ok", "permissions ok", "receiving ok", "message ok"]],
    ["bot", [], ["connection ok", "receiving ok"]],
    ["long-lark", [], ["connection ok", "token ok", "permissions ok", "receiving ok", "message skipped"]],
    ["long-bot", [], ["connection ok", "receiving skipped"]],
    ["slack", ["--to", "UADA"], ["connection ok", "token ok", "permissions ok", "receiving skipped", "message ok"]],
    ["silent", [], ["connection ok", "token ok", "permissions ok", "receiving skipped", "message skipped"]]
  ] as const)("reports what works: %s", async (connection, args, expected) => {
    const { code, out, points } = await check(connection, ...args)
    expect({ code, points, out }).toMatchObject({ code: 0, points: expected })
  })

  it("sends the test message to the recipient", async () => {
    const sent = platform.calls.filter(({ body }) => JSON.stringify(body).includes("aicr: test message"))
    expect(sent.map(({ body }) => body["receive_id"] ?? body["touser"])).toEqual(["oc_1", "ada"])
  })

  it("counts the test message among the persons that the application reaches in a day", async () => {
    const database = new DatabaseSync(join(installation.directory, "aicr.db"), { timeout: 10_000 })
    try {
      expect(database.prepare("SELECT persons FROM chat_sends").all()).toEqual([{ persons: 1 }])
      // 200 for each of the 100 accounts that a corporation without a configured limit has.
      database.exec("UPDATE chat_sends SET persons = 20000")
      const { code, out, points } = await check("corp", "--to", "ada")
      expect([code, points.at(-1)]).toEqual([2, "message failed"])
      expect(out).toContain("reached 20000 persons today")
      database.exec("UPDATE chat_sends SET persons = 0")
    } finally {
      database.close()
    }
  })

  it.each([
    ["off", "enabled is false"],
    ["nothing", "im.connections has no nothing"]
  ])("names what is wrong: %s", async (connection, text) => {
    const { code, out } = await check(connection)
    expect([code, out.includes(text)]).toEqual([2, true])
  })

  it.each([
    ["lark", { CHAT_TOKEN: "another-t0ken" }],
    ["lark", { CHAT_ENCRYPT_KEY: "another-encrypt-key" }],
    ["corp", { CHAT_TOKEN: "another-t0ken" }]
  ])("names credentials of the callback that are not those of the service: %s %j", async (connection, other) => {
    const { code, out, points } = await checkWith(other, connection)
    expect([code, points[3]]).toEqual([2, "receiving failed"])
    expect(out).toContain("its credentials of the callback differ")
  })

  it("calls the callback through the proxy of the environment", async () => {
    const targets = new Array<string>()
    const service = new URL(installation.aicr.url)
    const proxy = createServer((incoming, response) => {
      const { host, pathname } = new URL(incoming.url ?? "")
      targets.push(`${host}${pathname}`)
      const { headers, method = "GET" } = incoming
      const forwarded = request(new URL(pathname, service), { method, headers }, (answer) => answer.pipe(response))
      incoming.pipe(forwarded)
    })
    await new Promise<void>((listening) => proxy.listen(0, "127.0.0.1", listening))
    const document = parse(await readFile(join(installation.directory, "check.yaml"), "utf8"))
    const server = { ...document.server, base_url: "http://aicr.example.test" }
    await writeFile(join(installation.directory, "proxied.yaml"), stringify({ ...document, server }))
    const address = proxy.address()
    const port = typeof address === "object" && address !== null ? address.port : 0
    const proxied = { CHECK_FILE: "proxied.yaml", http_proxy: `http://127.0.0.1:${port}`, no_proxy: "" }
    const { out, points } = await checkWith(proxied, "lark")
    expect({ points, out }).toMatchObject({
      points: ["connection ok", "token ok", "permissions ok", "receiving ok", "message skipped"]
    })
    expect(targets).toEqual(["aicr.example.test/callbacks/im/lark"])
    proxy.close()
    proxy.closeAllConnections()
  })

  it("names a missing scope of a Slack app, which direct messages need", async () => {
    slack.scopes = slack.scopes.filter((scope) => scope !== "im:write")
    expect((await check("slack")).points).toContain("permissions ok")
    const { code, out, points } = await check("slack", "--to", "UADA")
    expect([code, points[2]]).toEqual([2, "permissions failed"])
    expect(out).toContain("missing: im:write (direct messages); add them and install the app again")
  })

  it("names missing permissions, a wrong secret, and an address that does not respond", async () => {
    platform.scopes = ["im:message:send_as_bot"]
    platform.visible = 0
    expect((await check("lark")).out).toContain("im:message.group_at_msg:readonly (mentions in groups)")
    expect((await check("corp")).out).toContain("nothing is in the visible range")
    platform.expireTokens()
    platform.decide = ({ path }) =>
      path.endsWith("/internal") ? { kind: "answer", status: 200, body: { code: 10_014, msg: "invalid" } } : undefined
    const refused = await check("lark")
    expect(refused.points).toEqual(["connection ok", "token failed", "receiving ok"])
    expect(refused.out).not.toContain(platformSecrets.feishu)
    platform.decide = () => undefined
    await installation.aicr.stop()
    expect((await check("corp")).out).toContain("did not respond")
  })
})
