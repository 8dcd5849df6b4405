/** The demo forge behaves like a real host: git, signed deliveries that our own webhook halves take, readable pages. */
import { execFile } from "node:child_process"
import { createServer } from "node:http"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import type { DemoEvent } from "../../demo/DemoForgeDialect.ts"
import { lineAt, parseDiff } from "../../demo/DemoForgeDiff.ts"
import { renderMarkdown } from "../../demo/DemoForgeMarkdown.ts"
import type { DemoPull } from "../../demo/DemoForgeState.ts"
import { forgeTable } from "../../src/forge/hosts/ForgeTable.ts"
import { startFakeForge } from "../harness/FakeForge.ts"
import type { FakeForge } from "../harness/FakeForge.ts"
import { isSignedBy } from "../harness/Verify.ts"

const run = promisify(execFile)
const name = "team/shop"

describe("demo forge", () => {
  let forge: FakeForge
  let pull: DemoPull
  let directory = ""
  const git = (...args: ReadonlyArray<string>) =>
    run("git", ["-c", "user.name=dana", "-c", "user.email=dana@example.org", ...args], {
      env: { PATH: process.env["PATH"], GIT_CONFIG_GLOBAL: "/dev/null", GIT_TERMINAL_PROMPT: "0", HOME: directory }
    })

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), "aicr-demo-forge-"))
    forge = await startFakeForge("gitea")
    await forge.createRepository(name)
    await forge.push(name, {
      branch: "main",
      message: "start",
      files: { "a.txt": "one\ntwo\n", "old name.txt": "x\n".repeat(9) }
    })
    await forge.push(name, {
      branch: "feature",
      from: "main",
      message: "change",
      files: { "a.txt": "one\n<two>\n", "old name.txt": null, 'nové "q".txt': "x\n".repeat(9) }
    })
    pull = await forge.createPull(name, { title: "A <b>title</b>", headBranch: "feature", description: "Says *why*." })
  })
  afterAll(async () => {
    await forge.stop()
    await rm(directory, { recursive: true, force: true })
  })

  it.each([
    ["token", (token: string) => `Authorization: token ${token}`],
    ["Bearer", (token: string) => `Authorization: Bearer ${token}`],
    [
      "Basic, token as password",
      (token: string) => `Authorization: Basic ${Buffer.from(`x:${token}`).toString("base64")}`
    ],
    ["Basic, token as user", (token: string) => `Authorization: Basic ${Buffer.from(`${token}:`).toString("base64")}`]
  ])("serves git with %s", async (_, header) => {
    const { stdout } = await git(
      "-c",
      `http.extraHeader=${header(forge.token)}`,
      "ls-remote",
      `${forge.url}/${name}.git`
    )
    expect(stdout).toContain(`${pull.head}\trefs/pull/1/head`)
  })

  it("refuses git without a token", async () => {
    await expect(git("ls-remote", `${forge.url}/${name}.git`)).rejects.toThrow(
      /Authentication failed|could not read Username/
    )
  })

  it("takes a push and moves the pull request with it", async () => {
    const clone = join(directory, "clone")
    const auth = `http.extraHeader=Authorization: token ${forge.token}`
    await git("-c", auth, "clone", "--quiet", "--branch", "feature", `${forge.url}/${name}.git`, clone)
    await writeFile(join(clone, "b.txt"), "new\n")
    await git("-C", clone, "add", ".")
    await git("-C", clone, "commit", "--quiet", "-m", "more")
    await git("-C", clone, "-c", auth, "push", "--quiet", "origin", "feature")
    const { stdout } = await git("-C", clone, "rev-parse", "HEAD")
    expect(pull.head).toBe(stdout.trim())
    // Only the needed commit, by its id, as a checkout fetches it.
    await git("-C", clone, "-c", auth, "fetch", "--quiet", "--depth=1", "origin", pull.base)
  })

  it("shows the pull request with comments at their lines, and nothing of it as markup", async () => {
    const user = forge.user("aicr")
    const comment = { id: 901, path: "a.txt", side: "new", line: 2, startLine: undefined, hunk: "" } as const
    pull.reviews.push({
      id: 900,
      user,
      state: "COMMENT",
      body: "",
      commit: pull.head,
      createdAt: "2026-01-01T10:00:00Z",
      comments: [{ ...comment, body: "Why <script>alert(1)</script> here?\n<!-- aicr:v1 {} -->" }]
    })
    const page = await (await fetch(forge.pageOf(pull))).text()
    expect(page).toContain("A &#60;b&#62;title")
    expect(page.indexOf("&#60;two&#62;")).toBeGreaterThan(0)
    expect(page.indexOf("issuecomment-901")).toBeGreaterThan(page.indexOf("&#60;two&#62;"))
    expect(page).toContain("old name.txt → nové &#34;q&#34;.txt")
    expect(page).not.toContain("<script>alert")
    expect(page).not.toContain("aicr:v1")
    expect(await (await fetch(forge.url)).text()).toContain(`/${name}/pulls/1`)
    expect(await (await fetch(`${forge.url}/${name}/commit/${pull.base}`)).text()).toContain("start")
    for (const path of ["nowhere", `${name}/commit/${"0".repeat(40)}`, `${name}/pulls/9`]) {
      expect((await fetch(`${forge.url}/${path}`)).status).toBe(404)
    }
  })

  it("has another version after a change", async () => {
    const version = async () => (await fetch(`${forge.url}/version`)).json()
    const before = await version()
    expect(await version()).toEqual(before)
    forge.setLabels(pull, ["bug"])
    expect(await version()).not.toEqual(before)
  })

  it("sends what it signs", async () => {
    const received: Array<{
      readonly url: string | undefined
      readonly type: string | undefined
      readonly length: number
    }> = []
    const server = createServer((request, response) => {
      let length = 0
      request.on("data", (chunk: Buffer) => (length += chunk.length))
      request.on("end", () => {
        received.push({ url: request.url, type: request.headers["content-type"], length })
        response.writeHead(202).end('{"accepted":true}')
      })
    })
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    const address = server.address()
    const port = typeof address === "object" && address !== null ? address.port : 0
    forge.setWebhookUrl(`http://127.0.0.1:${port}/webhooks/gitea`)
    expect(await forge.notify(pull, "opened")).toEqual({ status: 202, body: { accepted: true } })
    server.close()
    expect(received).toMatchObject([{ url: "/webhooks/gitea", type: "application/json" }])
    expect(received[0]?.length).toBeGreaterThan(500)
  })
})

describe.each(["gitea", "github", "gitlab"] as const)("deliveries of %s", (kind) => {
  let forge: FakeForge
  let pull: DemoPull
  beforeAll(async () => {
    forge = await startFakeForge(kind)
    forge.setWebhookUrl("http://127.0.0.1:9/hook")
    await forge.createRepository(name)
    await forge.push(name, { branch: "main", message: "start", files: { "a.txt": "one\n" } })
    await forge.push(name, { branch: "feature", from: "main", message: "change", files: { "a.txt": "two\n" } })
    pull = await forge.createPull(name, { title: "T", headBranch: "feature" })
  })
  afterAll(async () => {
    await forge.stop()
  })

  const event = (made: (sender: DemoPull["author"]) => DemoEvent) => {
    const delivery = forge.delivery(made(forge.user("dana")), { id: "d-1" })
    const { webhook } = forgeTable[kind]
    for (const [secret, right] of [
      [forge.secret, true],
      ["other", false]
    ] as const) {
      expect(isSignedBy(webhook, secret, delivery.headers, delivery.body, Date.now())).toBe(right)
    }
    expect(webhook.deliveryId(delivery.headers, delivery.body)).toBe("d-1")
    const parsed = webhook.parse(delivery.headers, delivery.body)
    expect(parsed).toMatchObject({ _tag: "Event" })
    return parsed._tag === "Event" ? parsed.event : undefined
  }

  it("are verified and understood by the webhook half", () => {
    for (const action of ["opened", "synchronized", "reopened"] as const) {
      expect(event((sender) => ({ kind: "pull", pull, action, sender }))).toMatchObject({
        _tag: "PullRequestUpdated",
        repo: { fullName: name, cloneUrl: `${forge.url}/${name}.git` },
        sender: { username: "dana" },
        pull: { number: 1, head: pull.head, headRef: "feature", baseRef: "main", title: "T" }
      })
    }
    expect(event((sender) => ({ kind: "pull", pull, action: "closed", sender }))).toMatchObject({
      _tag: "PullRequestClosed",
      number: 1
    })
    expect(event((sender) => ({ kind: "pull", pull, action: "label_updated", sender }))).toMatchObject({
      _tag: "Ignored"
    })
    expect(event((sender) => ({ kind: "comment", pull, body: "/aicr review", sender }))).toMatchObject({
      _tag: "Commanded",
      command: { name: "review" },
      number: 1
    })
    const before = pull.base
    const after = pull.head
    const { repository } = pull
    expect(event((sender) => ({ kind: "push", repository, branch: "feature", before, after, sender }))).toMatchObject({
      _tag: "Pushed",
      branch: "feature",
      before,
      after
    })
  })
})

describe("the page's parts", () => {
  it("find lines on both sides of a diff, through quoted names", () => {
    const files = parseDiff(
      'diff --git "a/n\\303\\251.txt" "b/n\\303\\251.txt"\n--- "a/n\\303\\251.txt"\n+++ "b/n\\303\\251.txt"\n@@ -3,3 +3,3 @@ f()\n c\n-gone\n+--- here\n d\n\\ No newline at end of file\n'
    )
    expect(files.map((file) => file.path)).toEqual(["né.txt"])
    expect(lineAt(files, "né.txt", "old", 4)?.text).toBe("gone")
    expect(lineAt(files, "né.txt", "new", 4)?.text).toBe("--- here")
    expect(lineAt(files, "né.txt", "new", 5)?.oldLine).toBe(5)
    expect(lineAt(files, "né.txt", "new", 6)).toBeUndefined()
  })

  it.each([
    ["**b** and `<i>`", "<p><strong>b</strong> and <code>&#60;i&#62;</code></p>"],
    ["<img src=x onerror=y>", "<p>&#60;img src=x onerror=y&#62;</p>"],
    ["[x](javascript:alert(1))", "<p>[x](javascript:alert(1))</p>"],
    ["<!-- hidden -->seen", "<p>seen</p>"],
    ["a &lt;b&gt;", "<p>a &lt;b&gt;</p>"],
    [
      "| A | B |\n| --- | --- |\n| 1 | 2 |",
      "<table><thead><tr><th>A</th><th>B</th></tr></thead><tbody><tr><td>1</td><td>2</td></tr></tbody></table>"
    ],
    ["~~a **b**~~ c", "<p><s>a <strong>b</strong></s> c</p>"],
    ["- a\n- b", "<ul><li>a</li><li>b</li></ul>"]
  ])("render %j", (markdown, html) => {
    expect(renderMarkdown(markdown)).toBe(html)
  })
})
