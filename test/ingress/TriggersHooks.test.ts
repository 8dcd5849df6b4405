/** The hook scripts with a real shell and a listening service: they report, and never block a submit. */
import { execFile } from "node:child_process"
import { chmod, copyFile, mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { existsSync } from "node:fs"
import { createServer as createHttpServer } from "node:http"
import { createServer } from "node:net"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect } from "effect"
import { afterEach, assert, beforeEach, describe, it } from "vitest"
import { waitUntil } from "../harness/Wait.ts"
import type { Ingress } from "./Ingress.ts"
import { env, startIngress } from "./Ingress.ts"

const hooks = join(import.meta.dirname, "../../scripts/hooks")

const document = {
  server: { auth: { api_key_env: "GLOBAL_KEY" } },
  triggers: [
    { name: "depot", kind: "perforce", depot_path: "//depot/..." },
    { name: "tree", kind: "subversion", repository_url: "https://svn.test/repo" }
  ]
}

let directory: string
let ingress: Ingress
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "aicr-hooks-"))
  ingress = await startIngress({ document })
})
afterEach(async () => {
  await ingress.stop()
  await rm(directory, { recursive: true, force: true })
})

const run = (script: string, args: ReadonlyArray<string>, settings: Record<string, string> = {}, shell = "/bin/sh") => {
  return new Promise<{ readonly code: number; readonly out: string }>((done) => {
    execFile(
      shell,
      [script, ...args],
      {
        env: {
          PATH: process.env["PATH"],
          AICR_LOG: join(directory, "log"),
          AICR_RETRY_AFTER: "0",
          TMPDIR: directory,
          ...settings
        }
      },
      (error, out, err) => done({ code: error === null ? 0 : Number(error.code ?? 1), out: out + err })
    )
  })
}
const configured = () => ({ AICR_URL: ingress.url, AICR_API_KEY: env.GLOBAL_KEY })
const events = () => Effect.runPromise(ingress.receipts.list({ limit: 10 }))
const log = () => readFile(join(directory, "log"), "utf8").catch(() => "")
const logged = (text: string) =>
  waitUntil(async () => (await log()).includes(text), { describe: () => `the log says ${text}` })

const p4 = join(hooks, "p4-trigger.sh")
const svn = join(hooks, "svn-trigger.sh")

describe("hook scripts", () => {
  it("report the trigger of their server", async () => {
    const settings = { ...configured(), AICR_TRIGGER: "depot of ours" }
    await run(p4, ["4711", "ada", "ws", "//depot/..."], settings)
    await run(svn, ["/srv/svn/repo", "12"], settings)
    const found = await waitUntil(async () => ((await events()).length > 1 ? events() : undefined), {
      describe: () => "two events"
    })
    assert.deepStrictEqual(
      found.map(({ routing }) => routing?.trigger),
      ["depot of ours", "depot of ours"]
    )
  })

  it("report a changelist, whatever its words are", async () => {
    const { code, out } = await run(
      p4,
      ["4711", "ada o'neil", 'ws "x" $(touch x)', "//depot/a b&c=d/..."],
      configured()
    )
    assert.deepStrictEqual([code, out], [0, ""])
    const [event] = await waitUntil(async () => ((await events()).length > 0 ? events() : undefined), {
      describe: () => "an event"
    })
    assert.deepStrictEqual(event?.routing, {
      vcs: "perforce",
      revision: "4711",
      user: "ada o'neil",
      client: 'ws "x" $(touch x)',
      path: "//depot/a b&c=d/...",
      files: []
    })
    assert.strictEqual(await log(), "")
  })

  it("report a shelf each time it is shelved, its end, and the number before a submit; other shells do the same", async () => {
    const rest = { user: "ada", client: "ws", path: "//depot/...", files: [] }
    for (const shell of ["/bin/dash", "/bin/bash"].filter((path) => existsSync(path))) {
      const before = (await events()).length
      await run(p4, ["12", "ada", "ws", "//depot/..."], configured(), shell)
      await run(p4, ["12", "ada", "ws", "//depot/..."], configured(), shell)
      await run(p4, ["13", "ada", "ws", "//depot/...", "12"], configured(), shell)
      const deleted = { ...configured(), AICR_DELETED_AFTER: "0" }
      await run(p4, ["14", "ada", "ws", "//depot/...", "deleted"], deleted, shell)
      await waitUntil(async () => (await events()).length === before + 4, {
        describe: () => `four reports by ${shell}`
      })
    }
    const ends = (await events()).flatMap(({ routing }) => (routing?.isShelfDeleted === true ? [routing] : []))
    assert.deepInclude(ends, { vcs: "perforce", revision: "14", isShelfDeleted: true, ...rest })
    const routed = (await events()).map(({ routing }) => [routing?.revision, routing?.base])
    assert.deepInclude(routed, ["13", "12"])
    assert.strictEqual(await log(), "")
  })

  it("report a revision with author and message from svnlook; settings may be next to the script", async () => {
    const script = join(directory, "svn-trigger.sh")
    await copyFile(svn, script)
    const key = join(directory, "key")
    await writeFile(key, `${env.GLOBAL_KEY}\n`)
    await writeFile(join(directory, "svn-trigger.conf"), `AICR_URL=${ingress.url}/\nAICR_API_KEY_FILE=${key}\n`)
    const svnlook = join(directory, "svnlook")
    await writeFile(
      svnlook,
      '#!/bin/sh\ncase $1 in author) echo ada; exit ;; uuid) echo 4c438b9a; exit ;; esac\nprintf "U   trunk/a.c\\nA   trunk/b c.c\\n"\n'
    )
    await chmod(svnlook, 0o755)
    await run(script, ["/srv/svn/repo", "12"], { PATH: `${directory}:${process.env["PATH"]}` })
    const [event] = await waitUntil(async () => ((await events()).length > 0 ? events() : undefined), {
      describe: () => "an event"
    })
    assert.deepStrictEqual(event?.routing, {
      vcs: "subversion",
      repository: "4c438b9a",
      revision: "12",
      user: "ada",
      files: ["trunk/a.c", "trunk/b c.c"]
    })
  })

  it.each<readonly [string, string, ReadonlyArray<string>, () => Record<string, string>, string]>([
    ["a wrong key", p4, ["1"], () => ({ ...configured(), AICR_API_KEY: "wrong" }), "401"],
    [
      "no key",
      svn,
      ["/repo", "1"],
      () => ({ AICR_URL: ingress.url }),
      "not reported: set AICR_API_KEY or AICR_API_KEY_FILE"
    ],
    ["no address", p4, ["1"], () => ({}), "AICR_URL is not set"],
    ["nobody there", svn, ["/repo", "1"], () => ({ ...configured(), AICR_URL: "http://127.0.0.1:1" }), "curl"],
    ["no arguments", p4, [], configured, "called without a changelist"],
    ["no number of a changelist", p4, ["default"], configured, "called without a changelist"],
    ["no number", svn, ["/repo", "HEAD"], configured, "called without a repository and the number of a revision"],
    ["a number in several lines", svn, ["/repo", "1\n2"], configured, "called without a repository and the number"],
    ["a refused report", svn, ["/repo", "9".repeat(30)], configured, "invalid_payload"],
    ["an argument that is too long for curl", p4, ["1", "a".repeat(131_070)], configured, "1 not reported"],
    ["options as arguments", p4, ["-K", "/etc/passwd"], configured, "called without a changelist"],
    ["no curl", p4, ["1"], () => ({ ...configured(), PATH: directory }), "curl is not installed"]
  ])("%s is logged and fails no submit", async (_, script, args, settings, said) => {
    assert.deepInclude(await run(script, args, settings()), { code: 0, out: "" })
    await logged(said)
    assert.notInclude(await log(), env.GLOBAL_KEY)
  })

  it("a service that does not respond blocks no submit, and is given up", async () => {
    const sockets: Array<{ destroy: () => void }> = []
    const silent = createServer((socket) => sockets.push(socket))
    await new Promise<void>((listening) => silent.listen(0, "127.0.0.1", listening))
    const { port } = silent.address() as AddressInfo
    const settings = { ...configured(), AICR_URL: `http://127.0.0.1:${port}`, AICR_TIMEOUT: "6" }
    assert.strictEqual((await run(p4, ["1"], settings)).code, 0)
    // The script ended while its request was still waiting.
    assert.notInclude(await log(), "timed out")
    await logged("timed out")
    for (const socket of sockets) socket.destroy()
    silent.close()
  })

  it("a failed report is repeated once", async () => {
    const seen: Array<string> = []
    const failing = createHttpServer((request, response) => {
      seen.push(request.url ?? "")
      response.writeHead(503).end("busy")
    })
    await new Promise<void>((listening) => failing.listen(0, "127.0.0.1", listening))
    const { port } = failing.address() as AddressInfo
    await run(p4, ["1"], { ...configured(), AICR_URL: `http://127.0.0.1:${port}` })
    await logged("changelist 1 not reported: busy 503")
    assert.deepStrictEqual(seen, ["/triggers/p4", "/triggers/p4"])
    failing.close()
  })

  it("a response is logged in one line, without controls, and its end alone", async () => {
    const failing = createHttpServer((_, response) => {
      response.writeHead(302, { location: "http://127.0.0.1:1/other" })
      response.end(`${"x".repeat(5_000_000)}\r\n\u001b[31mred\nforged line`)
    })
    await new Promise<void>((listening) => failing.listen(0, "127.0.0.1", listening))
    const { port } = failing.address() as AddressInfo
    await run(p4, ["1"], { ...configured(), AICR_URL: `http://127.0.0.1:${port}` })
    await logged("not reported")
    const text = await log()
    assert.strictEqual(text.split("\n").length, 2)
    assert.notMatch(text.trim(), /\p{Cc}/u)
    assert.isBelow(text.length, 700)
    failing.close()
  })

  it.each([
    ["/bin/dash", 'a "quoted" \\key\\'],
    ["/bin/bash", 'a "quoted" \\key\\']
  ])("%s sends any key of one line, from a file of Windows too", async (shell, key) => {
    if (!existsSync(shell)) return
    const keys: Array<unknown> = []
    const accepting = createHttpServer((request, response) => {
      keys.push(request.headers["x-api-key"])
      response.writeHead(202).end()
    })
    await new Promise<void>((listening) => accepting.listen(0, "127.0.0.1", listening))
    const { port } = accepting.address() as AddressInfo
    const file = join(directory, "key")
    await writeFile(file, `${key}\r\nheader = "X-Other: 1"\r\n`)
    const settings = { AICR_URL: `http://127.0.0.1:${port}`, AICR_API_KEY_FILE: file }
    for (const script of [p4, svn]) await run(script, script === p4 ? ["1"] : ["/repo", "1"], settings, shell)
    await waitUntil(() => keys.length === 2, { describe: () => "two reports" })
    assert.deepStrictEqual(keys, [key, key])
    accepting.close()
  })

  it("report a revision of many files with long names of any script", async () => {
    const folder = "ä漢".repeat(40)
    const svnlook = join(directory, "svnlook")
    await writeFile(
      svnlook,
      `#!/bin/sh
case $1 in author) awk 'BEGIN { while (n++ < 200000) printf "x" }'; exit ;; uuid) echo 4c438b9a; exit ;; esac
[ "$LC_ALL" = C.UTF-8 ] || exit 1
awk 'BEGIN { while (n++ < 200000) print "U   trunk/${folder}/" n ".c" }'
`
    )
    await chmod(svnlook, 0o755)
    await run(svn, ["-x/$(touch x)", "12"], { ...configured(), PATH: `${directory}:${process.env["PATH"]}` })
    const [event] = await waitUntil(async () => ((await events()).length > 0 ? events() : undefined), {
      describe: () => "an event"
    })
    const files = event?.routing?.files ?? []
    assert.isAbove(files.length, 100)
    for (const file of files) assert.match(file, /^trunk\/(?:ä漢){40}\/\d+\.c$/)
    assert.strictEqual(event?.routing?.user, "x".repeat(255))
    assert.strictEqual(await log(), "")
  })

  it("settings that are no shell fail no submit", async () => {
    const script = join(directory, "p4-trigger.sh")
    await copyFile(p4, script)
    await writeFile(join(directory, "p4-trigger.conf"), "if then (\n")
    assert.deepInclude(await run(script, ["1"], configured()), { code: 0, out: "" })
  })

  it.each(["/nowhere/log", "/dev/full"])("a log %s that cannot be written fails no submit", async (file) => {
    assert.deepInclude(await run(p4, ["1"], { AICR_LOG: file }), { code: 0, out: "" })
  })
})
