/** Commands that talk to a service, a host or a model end as soon as they have printed their result. */
import { spawn } from "node:child_process"
import { readFile, writeFile } from "node:fs/promises"
import { join, resolve } from "node:path"
import { pathToFileURL } from "node:url"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { parse, stringify } from "yaml"
import { chatDocument, chatEnv, longDocument } from "../harness/ChatPeople.ts"
import { ClusterInstallation } from "../harness/ClusterInstallation.ts"
import { FakeChatPlatform, platformSecrets } from "../harness/FakeChatPlatform.ts"
import { Installation, makeToken, secret } from "../harness/Installation.ts"
import { makeRepository, temporaryFolder } from "../vcs/Repository.ts"

const root = resolve(import.meta.dirname, "../..")
/** Clients keep idle connections for four seconds and longer. */
const maxMillis = 3000

interface Ended {
  readonly code: number | null
  readonly out: string
  readonly err: string
  /** Milliseconds from the last output to the end. */
  readonly after: number
}

const run = (args: ReadonlyArray<string>, env: Readonly<Record<string, string>>, cwd = root): Promise<Ended> =>
  new Promise((done) => {
    const options = { cwd, env: { PATH: process.env["PATH"], HOME: temporaryFolder(), ...env } }
    const child = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", ...args], options)
    const printed = { out: "", err: "", at: performance.now() }
    for (const name of ["out", "err"] as const)
      child[`std${name}`].on("data", (text) => {
        printed[name] += String(text)
        printed.at = performance.now()
      })
    child.once("close", (code) => {
      done({ code, out: printed.out, err: printed.err, after: performance.now() - printed.at })
    })
  })

describe("a command ends after its output", { timeout: 120_000 }, () => {
  let platform: FakeChatPlatform
  let installation: Installation
  let config = ""
  const env: Record<string, string> = {
    ...chatEnv,
    FEISHU_SECRET: platformSecrets.feishu,
    WECOM_SECRET: platformSecrets.wecom,
    BOT_SECRET: platformSecrets.wecomBot,
    SVC_ADMIN_USERNAME: "admin",
    SVC_ADMIN_PASSWORD: "pa55word-of-admin",
    TEST_TOKEN_0: makeToken(0),
    TEST_SECRET: secret,
    TEST_KEY: "key"
  }

  beforeAll(async () => {
    platform = await FakeChatPlatform.start()
    const callbacks = chatDocument(platform.url, {})
    const long = longDocument(platform.url, {})
    const connections = { ...callbacks.connections, "long-lark": long.connections.lark }
    installation = await Installation.make({ queue: "sqlite", im: { connections }, env })
    await installation.aicr.start()
    const document = parse(await readFile(join(installation.directory, "config.yaml"), "utf8"))
    config = join(installation.directory, "check.yaml")
    await writeFile(config, stringify({ ...document, server: { ...document.server, base_url: installation.aicr.url } }))
    const pull = await installation.open("first")
    await installation.forge.notify(pull, "opened")
    await installation.reviewed(pull)
  }, 120_000)
  afterAll(async () => {
    await installation?.[Symbol.asyncDispose]()
    await platform?.[Symbol.asyncDispose]()
  })

  it.each<readonly [command: string, text: string, code: number]>([
    ["chat check lark --to oc_1", "message", 0],
    ["chat check corp --to ada", "message", 0],
    ["chat check long-lark", "long connection", 0],
    // The host of the tests lists no issues.
    ["doctor", "responds", 2],
    ["why team/one#1", "run", 0],
    ["events", "queued", 0],
    ["queue list", "No entries", 0],
    ["queue pause --workspace team-one", "", 0],
    ["queue resume --workspace team-one", "", 0],
    ["stats", "team/one", 0],
    ["dashboard", "#login=", 0],
    ["db status", "0001_schema", 0],
    ["replay", "succeeded", 0],
    ["agent list", "codex", 0]
  ])("aicr %s", async (command, text, expected) => {
    const args = [join(root, "src/main.mjs"), ...command.split(" "), "--config", config]
    const { after, code, err, out } = await run(args, env)
    expect([code, `${out}${err}`]).toEqual([expected, expect.stringContaining(text)])
    expect(after).toBeLessThan(maxMillis)
  })

  it("aicr review", async () => {
    const repository = makeRepository()
    repository.write("README.md", "# Start\n")
    repository.commit()
    repository.write("src/own.ts", 'export const marked = "marker-own-end"\n')
    const args = [join(root, "src/main.mjs"), "review", "--uncommitted"]
    const model = { OPENAI_API_KEY: "key", OPENAI_BASE_URL: `${installation.model.url}/v1` }
    const { after, code, out } = await run(args, model, repository.path)
    expect([code, out]).toEqual([0, expect.stringContaining("Problem of own")])
    expect(after).toBeLessThan(maxMillis)
  })
})

describe("next to a cluster", { timeout: 180_000 }, () => {
  let at: ClusterInstallation
  beforeAll(async () => {
    at = await ClusterInstallation.make({ repositories: 1, queue: "nats" })
    await at.start("one", "all")
  }, 180_000)
  afterAll(() => at?.[Symbol.asyncDispose]())

  it.each([
    ["nodes", "one"],
    ["events --config", ""],
    ["queue list --config", ""],
    ["stats --config", ""],
    ["memory show --config", ""],
    ["db status --config", "0001_schema"]
  ])("aicr %s", async (command, text) => {
    const file = join(at.directory, "one.yaml")
    const args = [...command.split(" "), ...(command.endsWith("--config") ? [file] : [])]
    const ended = await run([join(root, "src/main.mjs"), ...args], {
      ...at.env("operator", "all"),
      SVC_LOG_LEVEL: "error"
    })
    expect([ended.code, `${ended.out}${ended.err}`]).toEqual([0, expect.stringContaining(text)])
    expect(ended.after).toBeLessThan(maxMillis)
  })
})

it("a version of Node that is too old is refused with the one that is needed", async () => {
  const older = 'Object.defineProperty(process, "versions", { value: { ...process.versions, node: "20.20.2" } })'
  const args = ["--import", `data:text/javascript,${encodeURIComponent(older)}`, join(root, "src/main.mjs"), "serve"]
  const { code, err, out } = await run(args, {})
  const said = `aicr: this is Node 20.20.2, and 22.19 or newer is needed. \`npm ci\` installs one beside the program: start it by ${root}/bin/aicr, or by \`npm start\` in ${root}\n`
  expect([code, out, err]).toEqual([3, "", said])
})

it("a timer or a connection that is left over does not keep the process alive, and long output is complete", async () => {
  const file = join(temporaryFolder(), "command.mjs")
  await writeFile(
    file,
    `import { Exit } from "effect"
import { createServer } from "node:net"
import { endProcess } from ${JSON.stringify(pathToFileURL(join(root, "src/cli/Exit.ts")).href)}
createServer().listen(0)
setInterval(() => {}, 1000)
process.stdout.write("x".repeat(4_000_000))
endProcess(Exit.void)
`.replace('"effect"', JSON.stringify(pathToFileURL(join(root, "node_modules/effect/dist/index.js")).href))
  )
  const { after, code, out } = await run([file], {})
  expect([code, out.length]).toEqual([0, 4_000_000])
  expect(after).toBeLessThan(maxMillis)
}, 30_000)
