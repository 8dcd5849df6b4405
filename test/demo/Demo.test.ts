/** `aicr demo` as a user starts it: the real process, nothing in its environment, the pull request read at the demo host. */
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { execFileSync, spawn } from "node:child_process"
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Reason } from "../../src/domain/Reason.ts"
import { demoChangeFolder } from "../../demo/DemoChange.ts"
import { Severity } from "../../src/domain/Kinds.ts"
import { faults as modelFaults, review, startFakeModel } from "../harness/FakeModel.ts"
import { waitUntil } from "../harness/Wait.ts"

const root = join(import.meta.dirname, "../..")

const Result = Schema.Struct({
  model: Schema.String,
  accepted: Schema.Boolean,
  run: Schema.Struct({ status: Schema.String, reason: Schema.optional(Reason) }),
  comments: Schema.Array(
    Schema.Struct({ path: Schema.String, line: Schema.Int, severity: Severity, body: Schema.String })
  ),
  summary: Schema.String,
  elapsed_ms: Schema.Int
})
const decodeResult = Schema.decodeUnknownSync(Schema.fromJsonString(Result))

const Faults = Schema.Struct({ faults: Schema.Array(Schema.Struct({ path: Schema.String, line: Schema.Int })) })
const { faults } = Schema.decodeUnknownSync(Schema.fromJsonString(Faults))(
  readFileSync(join(demoChangeFolder, "faults.json"), "utf8")
)

interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
  /** Lists the remaining entries of the folder for temporary files. */
  readonly left: ReadonlyArray<string>
}

/** Starts `aicr demo` with a folder of its own for temporary files. */
const start = (args: ReadonlyArray<string>, env: Record<string, string> = {}) => {
  const folder = mkdtempSync(join(tmpdir(), "aicr-test-demo-"))
  const child = spawn(
    join(root, "node_modules/.bin/node"),
    ["--disable-warning=ExperimentalWarning", "src/main.mjs", "demo", ...args],
    { cwd: root, env: { PATH: process.env["PATH"], TMPDIR: folder, ...env } }
  )
  const said = { stdout: "", stderr: "" }
  child.stdout.on("data", (text) => (said.stdout += String(text)))
  child.stderr.on("data", (text) => (said.stderr += String(text)))
  const ended = new Promise<Ended>((resolve) => {
    child.once("close", (code) => {
      const left = readdirSync(folder)
      rmSync(folder, { recursive: true })
      resolve({ code, ...said, left })
    })
  })
  return {
    said,
    ended,
    signal: (name: NodeJS.Signals) => child.kill(name),
    folder,
    /** Ends the process of a test that failed. */
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL")
      await ended
    }
  }
}

const places = (comments: ReadonlyArray<{ readonly path: string; readonly line: number }>) =>
  comments.map(({ path, line }) => `${path}:${line}`).toSorted()

describe("aicr demo", () => {
  it("--once --json: one JSON object, every fault with a comment on its line, nothing left behind", async () => {
    const { code, stdout, stderr, left } = await start(["--once", "--json"]).ended
    assert.strictEqual(code, 0, stderr)
    assert.strictEqual(stdout.trimEnd().split("\n").length, 1)
    const result = decodeResult(stdout)
    assert.strictEqual(result.model, "demo/aicr-demo-rules")
    assert.isTrue(result.accepted)
    assert.strictEqual(result.run.status, "succeeded")
    assert.deepStrictEqual(places(result.comments), places(faults))
    assert.include(result.summary, "not a language model")
    assert.isAbove(result.elapsed_ms, 0)
    assert.deepStrictEqual(left, [])
    assert.notInclude(stderr, "WARN")
  })

  it("stays up until Ctrl-C, shows the steps and where to look, leaves no page empty, and removes its folder", async () => {
    await using demo = start([])
    // A process that starts and reviews has the time that the other tests of it have.
    const options = { describe: () => demo.said.stdout + demo.said.stderr, timeout: 100_000 }
    await waitUntil(() => demo.said.stdout.includes("Ctrl-C"), options)
    for (const step of ["webhook", "started", "checked out", "findings", "published", "succeeded"]) {
      assert.match(demo.said.stdout, new RegExp(`^  ${step}`, "m"))
    }
    assert.include(demo.said.stdout, "static rules, not a language model")
    for (const label of ["read it at", "dashboard", "chat"]) {
      const url = new RegExp(`^  ${label} +(http\\S+)`, "m").exec(demo.said.stdout)?.[1]
      assert.strictEqual((await fetch(url ?? "")).status, 200, label)
    }
    const [, dashboard = "", link = ""] = /^  dashboard +(\S+)#login=(\S+)/m.exec(demo.said.stdout) ?? []
    const api = dashboard.replace(/\/dashboard$/, "/api/admin")
    const redeem = () =>
      fetch(`${api}/login/redeem`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ link })
      })
    const opened = await redeem()
    assert.strictEqual(opened.status, 200)
    assert.strictEqual((await redeem()).status, 401, "a link works once")
    const { token } = Object(await opened.json())
    const items = async (path: string): Promise<ReadonlyArray<Readonly<Record<string, unknown>>>> =>
      Object(await (await fetch(`${api}${path}`, { headers: { authorization: `Bearer ${token}` } })).json()).items
    // The demo's own change, one without problems, and the draft, which the chat requested.
    await waitUntil(async () => (await items("/runs?status=succeeded")).length === 3, options)
    assert.strictEqual((await items("/events?reason=draft")).length, 1)
    // The rules have prices, so that costs and a budget are shown.
    for (const run of await items("/runs?status=succeeded")) assert.isAbove(Number(run["cost_usd"]), 0)
    const [budget] = await items("/budgets")
    assert.include(budget, { scope: "repository", limit_usd: 5 })
    assert.isAbove(Number(budget?.["spent_usd"]), 0)
    const [waiting] = await items("/queue")
    assert.deepInclude(waiting, { repo: "demo/parcels", branch: "main", status: "waiting" })
    assert.isAbove(Date.parse(String(waiting?.["until"])), Date.now(), "it waits for its window")
    const edit = await fetch(`${api}/config/status`, { headers: { authorization: `Bearer ${token}` } })
    assert.strictEqual(edit.status, 200)
    const requests = async () => (await items("/chat/requests")).map(({ command, status }) => [command, status])
    await waitUntil(
      async () =>
        (await requests()).filter(([, status]) => status === "succeeded" || status === "rejected").length === 4,
      options
    )
    assert.deepStrictEqual(await requests(), [
      [undefined, "rejected"],
      ["status", "succeeded"],
      ["review", "succeeded"],
      ["projects", "succeeded"]
    ])
    for (const page of [
      "chat/connections",
      "chat/bindings",
      "batches",
      "projects",
      "nodes",
      "config/revisions",
      "config/drafts"
    ])
      assert.isNotEmpty(await items(`/${page}`), page)
    assert.sameMembers(
      (await items("/audit")).map(({ action }) => action),
      ["login.redeem", "sessions.link", "config.publish", "drafts.create"]
    )
    assert.strictEqual(demo.said.stdout.match(/^  started/gm)?.length, 1, "only the demo's own change is shown")
    for (const step of [
      /^ {2}1 push +.*git clone -b \S+ http:\/\/dana:\w+@/m,
      /^ {2}2 comment +\/aicr/m,
      /^ {2}3 reply +/m,
      /^ {2}4 dismiss +/m
    ]) {
      assert.match(demo.said.stdout, step)
    }
    const page = await fetch(/^ {2}read it at +(\S+)/m.exec(demo.said.stdout)?.[1] ?? "")
    const html = await page.text()
    assert.match(html, /<li class="failure">[^\n]*aicr\/review[^\n]*\d critical, /)
    assert.match(html, /<form [^>]*action="[^"]+\/comments">.*<textarea[^>]* name="body"/)
    const folders = readdirSync(demo.folder).map((name) => name.replace(/-\w+$/, ""))
    assert.sameMembers(folders, ["aicr-demo", "aicr-launcher"])
    demo.signal("SIGINT")
    const { code, left } = await demo.ended
    assert.strictEqual(code, 0)
    assert.deepStrictEqual(left, [])
  })

  it("reviews a pushed fix, obeys a comment on the page, and shows what was resolved and dismissed", async () => {
    await using demo = start([])
    const wait = (condition: () => boolean | Promise<boolean>, what: string) =>
      waitUntil(condition, { describe: () => `${what}\n${demo.said.stdout}${demo.said.stderr}`, timeout: 100_000 })
    await wait(() => demo.said.stdout.includes("Ctrl-C"), "the first review")
    /** Checks that links to the host lead to a part of a page that it serves. */
    const checkLinks = async (html: string) => {
      const links = [...html.matchAll(/<a href="([^"]+)"/g)].map(([, href = ""]) => new URL(href, page))
      const own = links.filter(({ host }) => host === new URL(page).host)
      assert.isAbove(own.length, 8)
      for (const { hash, href } of own) {
        const response = await fetch(href)
        assert.strictEqual(response.status, 200, href)
        assert.include(await response.text(), hash === "" ? "" : `id="${hash.slice(1)}"`, href)
      }
    }
    const page = /^  read it at +(\S+)/m.exec(demo.said.stdout)?.[1] ?? ""
    const [, branch = "", url = ""] = /git clone -b (\S+) (\S+)/.exec(demo.said.stdout) ?? []
    const read = async () => (await fetch(page)).text()
    const submit = (form: string, fields: Record<string, string>, headers: Record<string, string> = {}) =>
      fetch(`${page}/${form}`, { method: "POST", body: new URLSearchParams(fields), redirect: "manual", headers })

    await checkLinks(await read())
    assert.strictEqual((await submit("comments", { body: "/aicr help" }, { origin: "https://other.test" })).status, 403)
    assert.strictEqual((await submit("comments", { body: "x".repeat(300_000) })).status, 413)
    assert.strictEqual((await submit("comments", { body: "/aicr help" })).status, 303)
    await wait(async () => (await read()).includes("/aicr cancel"), "the reply to /aicr help")

    const [, id = ""] = /name="comment" value="(\d+)"/.exec(await read()) ?? []
    assert.strictEqual((await submit("replies", { comment: id, body: "Where else?" })).status, 303)
    await wait(
      async () => (await read()).includes("in the lines that I can see"),
      "the reply in the thread, from the code"
    )
    assert.match(await read(), /<span class="bubble">aicr: eyes</)
    assert.strictEqual((await submit("dismissals", { comment: id })).status, 303)
    assert.include(await read(), "Resolved by mika")

    const work = join(demo.folder, "parcels")
    const git = (...args: ReadonlyArray<string>) =>
      execFileSync("git", ["-c", "user.name=Dana", "-c", "user.email=dana@example.com", ...args], {
        env: { PATH: process.env["PATH"], HOME: demo.folder, GIT_TERMINAL_PROMPT: "0" },
        stdio: "pipe"
      })
    git("clone", "--quiet", "--branch", branch, url, work)
    const file = join(work, "web/src/invoice.ts")
    const text = readFileSync(file, "utf8")
    const fixed = text.replace("<= lines.length", "< lines.length")
    assert.notStrictEqual(fixed, text)
    writeFileSync(file, fixed)
    git("-C", work, "commit", "--quiet", "--all", "--message", "Read each line once")
    git("-C", work, "push", "--quiet", "origin", branch)
    await wait(async () => /1 fixed/.test(await read()), "the review of the fix")
    assert.match(await read(), /1 dismissed/)
    assert.match(await read(), /<s>[^\n]+<\/s> · fixed/)
    await checkLinks(await read())
    rmSync(work, { recursive: true })
  }, 240_000)

  it("uses the model that the environment has a key for", async () => {
    const problem = {
      file: "web/src/money.ts",
      line: 5,
      severity: "medium",
      category: "correctness",
      message: "NaN is not refused",
      quote: "export const euros = (cents: number): string => format.format(cents / 100)"
    }
    await using fake = await startFakeModel(review([problem], "Fine, mostly."))
    const env = {
      OPENAI_API_KEY: "sk-test-1234567890abcdef",
      OPENAI_BASE_URL: `${fake.url}/v1`,
      AICR_MODEL: "some-model"
    }
    const { code, stdout, stderr } = await start(["--once", "--json"], env).ended
    assert.strictEqual(code, 0, stderr)
    const result = decodeResult(stdout)
    assert.strictEqual(result.model, "openai/some-model")
    assert.deepStrictEqual(places(result.comments), ["web/src/money.ts:4"])
    assert.include(result.summary, "Fine, mostly.")
    assert.notInclude(result.summary, "static rules")
    assert.notInclude(stdout + stderr, "sk-test-1234567890abcdef")
    assert.strictEqual(fake.requests[0]?.headers["authorization"], "Bearer sk-test-1234567890abcdef")
  })

  it("a review that fails ends with 3, reports the reason and shows no key", async () => {
    await using fake = await startFakeModel(modelFaults.unauthorized("sk-test-1234567890abcdef"))
    const env = { OPENAI_API_KEY: "sk-test-1234567890abcdef", OPENAI_BASE_URL: `${fake.url}/v1` }
    const { code, stdout, stderr, left } = await start(["--once", "--json"], env).ended
    assert.strictEqual(code, 3)
    const result = decodeResult(stdout)
    assert.strictEqual(result.run.status, "failed")
    assert.include(JSON.stringify(result.run.reason), '"_tag":"HttpFailed","status":401')
    assert.deepStrictEqual(result.comments, [])
    assert.notInclude(stdout + stderr, "sk-test-1234567890abcdef")
    assert.deepStrictEqual(left, [])
  })
})
