/**
 * A finding that only maintainers get, through the real process: its words are in the message to their channel, and in nothing that the host,
 * the dashboard, programs, agents, the commands, viewers or strangers get, also after a maintainer dismissed it by its digest, which the review of
 * the next commit keeps, however often the process is killed. A channel that refuses it is tested with the publisher.
 */
import { join } from "node:path"
import { afterAll, beforeAll, expect, it } from "vitest"
import { AdminSession, adminEnv } from "../harness/AdminSession.ts"
import { startChatPlatform } from "../harness/ChatPlatform.ts"
import type { ChatPlatform } from "../harness/ChatPlatform.ts"
import { review, verdictsOn } from "../harness/FakeModel.ts"
import { honest, Installation, listStates, markedLine, toFilePath } from "../harness/Installation.ts"
import { callMcp } from "../harness/McpCalls.ts"
import { makeStatementKey, signing, storedStatements } from "../harness/StatementKeys.ts"
import { waitUntil } from "../harness/Wait.ts"
import { runAicr } from "../harness/RunAicr.ts"

/** Words of the finding, and of what the model writes about the change. */
const words = ["zebra-title", "zebra-message", "zebra-fix", "zebra-summary", "zebra-confirmed"]
const [title = "", message = "", suggestion = "", summary = "", confirmed = ""] = words

let at: Installation
let maintainers: ChatPlatform
const requests: Array<string> = []
beforeAll(async () => {
  maintainers = await startChatPlatform()
  at = await Installation.make({
    queue: "sqlite",
    review: {
      private: { channel: "maintainers" },
      status_fail_on: "critical",
      verification: "auto",
      log_thinking: false
    },
    channels: [{ name: "maintainers", kind: "feishu_bot", webhook_url: maintainers.url }],
    server: { ...signing, base_url: "https://aicr.test", links: { key: "k".repeat(32), in_summaries: true } },
    env: { ...adminEnv, TEST_STATEMENT_KEY: makeStatementKey().pem }
  })
  at.host.onRequest = (request) => {
    requests.push(JSON.stringify(request))
    return undefined
  }
  at.model.script((request) => {
    const verified = verdictsOn(JSON.stringify(request.body), { verdict: "confirm", reason: confirmed })
    if (verified !== undefined) return verified
    const own = honest(request)
    const [name = "first"] = /marker-([a-z]+)-end/.exec(JSON.stringify(request.body))?.slice(1) ?? []
    const secret = { file: toFilePath(name), line: markedLine, severity: "critical", category: "security" }
    const quote = `export const marked = "marker-${name}-end"`
    return "calls" in own ? review([{ ...secret, title, message, suggestion, quote }], summary) : own
  })
  await at.aicr.start()
})
afterAll(async () => {
  await at[Symbol.asyncDispose]()
  await maintainers.stop()
})

/** Writes of commands at which the process is killed: before the decision, between it and the status, and at the status, which is then as given. */
const strikes = [
  { path: /\/issues\/comments\/\d+\/reactions$/, state: "success" },
  { path: /\/issues\/comments\/\d+$/, state: "failure" },
  { path: /\/statuses\//, state: "success" }
] as const

const aicr = async (...args: ReadonlyArray<string>): Promise<string> => {
  const { err, out } = await runAicr(args, {
    env: { TEST_KEY: "key-of-the-model", TEST_TOKEN_0: "t", TEST_SECRET: "s" }
  })
  return out + err
}

const ended = async (name: string) => {
  const pull = await at.open(name)
  await at.forge.notify(pull, "opened")
  await waitUntil(() => listStates(pull).at(-1) === "failure" && at.unfinished().length === 0, {
    timeout: 120_000,
    describe: () => `${listStates(pull).join()} ${at.unfinished().join()} ${at.aicr.log.slice(-6000)}`
  })
  return pull
}

/** Follows the events of the dashboard. Returns the text that arrived so far. */
const follow = async ({ token }: AdminSession, path: string): Promise<() => string> => {
  const response = await fetch(`${at.aicr.url}/api/admin${path}`, { headers: { authorization: `Bearer ${token}` } })
  expect(response.status).toBe(200)
  let text = ""
  const read = async () => {
    for await (const chunk of response.body ?? []) text += Buffer.from(chunk).toString()
  }
  // The connection ends with the service.
  void read().catch(() => {})
  return () => text
}

type Found = readonly [place: string, text: string]

/** Returns all pages of a list, one item each. */
const pages = async (session: AdminSession, path: string): Promise<ReadonlyArray<Found>> => {
  const found: Array<Found> = []
  let cursor = ""
  do {
    const { body, status } = await session.get(`${path}limit=1${cursor}`)
    expect([path, status]).toEqual([path, 200])
    found.push([`${path}limit=1${cursor}`, JSON.stringify(body)])
    cursor = typeof body["next_cursor"] === "string" ? `&cursor=${encodeURIComponent(body["next_cursor"])}` : ""
  } while (cursor !== "")
  return found
}

/** Returns the responses to requests with the rights of a session. `statuses`: those that it may get. */
const responses = (session: AdminSession, paths: ReadonlyArray<string>, statuses: ReadonlyArray<number>) =>
  Promise.all(
    paths.map(async (path): Promise<Found> => {
      const { body, status } = await session.get(path)
      expect([path, statuses.includes(status) ? "permitted" : status]).toEqual([path, "permitted"])
      return [path, JSON.stringify(body)]
    })
  )

const listPaths = (ids: ReadonlyArray<string>, deliveries: ReadonlyArray<string>): ReadonlyArray<string> => [
  "/runs",
  "/changes",
  "/stats",
  "/stats/projects",
  "/stats/outcomes",
  "/stats/findings?by=category",
  "/acceptance?workspace=team-one&name=host-0:team/one",
  "/rules",
  "/projects",
  "/audit",
  "/queue",
  "/story?repo=team/one&number=1",
  "/events",
  "/stats/timeline",
  "/stats/providers",
  "/stats/findings?by=severity",
  "/chat/notices",
  "/chat/requests",
  "/nodes",
  "/budgets",
  "/stats/periods?by=instance",
  "/views",
  ...deliveries.flatMap((id) => [`/events/${id}`, `/events/${id}/story`, `/events/${id}/payload`]),
  ...ids.flatMap((id) => [`/runs/${id}`, `/runs/${id}/log`, `/runs/${id}/calls`])
]

/** Returns what a viewer and a stranger get. Searches for its words find nothing. */
const seenByOthers = async (admin: AdminSession, paths: ReadonlyArray<string>): Promise<ReadonlyArray<Found>> => {
  const made = await admin.post("/tokens", { name: "viewer", scopes: [], role: "viewer" })
  const viewer = AdminSession.withToken(at.aicr.url, String(made.body["token"]))
  for (const list of ["/runs", "/changes", "/events", "/queue"]) {
    const search = async (word: string) => (await viewer.get(`${list}?q=${word}`)).body
    const none = await search("zebra-nowhere")
    expect([list, none]).toMatchObject([list, { items: [] }])
    for (const word of words) expect([list, word, await search(word)]).toEqual([list, word, none])
  }
  const typed = { page: "/runs", name: title, query: `q=${title}` }
  expect((await viewer.post("/views", typed)).status).toBe(403)
  expect((await AdminSession.withToken(at.aicr.url, "none").post("/views", typed)).status).toBe(401)
  const open = ["/", "/shared/x/y", "/readyz", "/api/openapi.json", "/api/verdicts/key", "/api/verdicts/statement"]
  return [
    ...(await responses(viewer, paths, [200, 403])),
    ...(await pages(viewer, "/runs?")),
    ...(await pages(viewer, "/stats/outcomes?")),
    ...(await pages(viewer, "/events?")),
    ...(await Promise.all(
      [...open, ...paths.map((path) => `/api/admin${path}`)].map(
        async (path) => [path, await (await fetch(at.aicr.url + path)).text()] as const
      )
    ))
  ]
}

/** Returns what people and programs get about all reviews. */
const outputs = async (admin: AdminSession): Promise<ReadonlyArray<Found>> => {
  const runs = await admin.items("/runs")
  const ids = runs.map(({ id }) => String(id))
  const deliveries = (await admin.items("/events")).map(({ id }) => String(id))
  const paths = listPaths(ids, deliveries)
  const replies = await responses(admin, paths, [200, 404, 409])
  const made = await admin.post("/tokens", { name: "agent", scopes: ["read"], repositories: ["host-0:team/one"] })
  const named = { repository: "team/one", number: 1 }
  const tools = await Promise.all(
    ["status", "list_findings"].map(
      async (tool) => [tool, (await callMcp(at.aicr.url, made.body["token"], tool, named)).text] as const
    )
  )
  return [
    ...replies,
    ...(await seenByOthers(admin, paths)),
    ...tools,
    ["requests to the host", requests.join("\n")],
    [
      "statements",
      JSON.stringify(
        [...storedStatements(join(at.directory, "objects")).values()].map((one) =>
          Buffer.from(JSON.parse(one).payload, "base64").toString()
        )
      )
    ],
    ["log", at.aicr.log],
    ["metrics", await (await fetch(`${at.aicr.url}/metrics`)).text()],
    ["replay", await aicr("replay", String(ids[0]), "--json", "--config", join(at.directory, "config.yaml"))],
    ["why", await aicr("why", "team/one#1", "--config", join(at.directory, "config.yaml"))]
  ]
}

it("has its words in the message to maintainers, and nowhere else", { timeout: 480_000 }, async () => {
  let admin = await AdminSession.open(at.aicr.url)
  const live = [await follow(admin, "/live"), await follow(admin, "/runs/live")]
  const pull = await ended("first")
  await waitUntil(() => live.every((text) => text().includes("analysed")), {
    describe: () => live.map((f) => f()).join()
  })
  expect(maintainers.got).toHaveLength(1)
  for (const word of [title, message]) expect(maintainers.got[0]).toContain(word)
  expect(pull.comments[0]?.body).toContain("1 problem was delivered to the maintainers only")
  expect(pull.reviews.flatMap(({ comments }) => comments)).toEqual([])
  const [run] = await admin.items("/runs")
  const [, fingerprint] = /[0-9a-f]{32}:([0-9a-f]+)/.exec(String(maintainers.got[0])) ?? []
  expect(fingerprint).toBeDefined()
  const around = await admin.get(`/runs/${run?.["id"]}/findings/${fingerprint}/diff`)
  expect(around.body).toEqual({ diff: "" })
  expect(await admin.items(`/runs?q=${title}`)).toEqual([])
  expect(run).toMatchObject({ status: "succeeded", findings: 1, private: 1 })
  const [statement] = storedStatements(join(at.directory, "objects")).values()
  const { predicate } = JSON.parse(Buffer.from(JSON.parse(statement ?? "").payload, "base64").toString())
  expect(predicate).toMatchObject({ outcome: "failure", findings: [], private: [{ sha256: expect.any(String) }] })

  // A link needs no login and shows what the comments show; every invalid link gets the same response.
  const shared = await admin.post(`/runs/${run?.["id"]}/link`, {})
  const path = String(shared.body["url"]).replace("https://aicr.test", at.aicr.url)
  const page = await fetch(path)
  expect(page.status).toBe(200)
  expect(page.headers.get("referrer-policy")).toBe("no-referrer")
  const html = await page.text()
  expect(html).toContain("1 problem was delivered to the maintainers only")
  for (const word of words) expect(html).not.toContain(word)
  expect(pull.comments[0]?.body).toContain(`https://aicr.test/shared/${run?.["id"]}/`)
  const absent = await Promise.all(
    [`${path}x`, path.replace(/[0-9a-f](?=\/\d+\/)/, "0"), `${at.aicr.url}/shared/`].map(async (url) => {
      const response = await fetch(url)
      return [response.status, await response.text()]
    })
  )
  expect(new Set(absent.map(String))).toHaveLength(1)
  expect(absent[0]?.[0]).toBe(404)

  // A stranger's command changes nothing; a maintainer dismisses it by the digest of the message, and the next review keeps that.
  const named = / dismiss ([0-9a-f]{12})/.exec(String(maintainers.got[0]))?.[1] ?? ""
  expect(predicate.private[0].sha256.slice(0, 12)).toBe(named)
  at.forge.setPermission("team/one", "ada", "write")
  const command = async (login: string, body: string) => {
    const { id } = at.forge.comment(pull, body, login)
    const delivery = at.forge.delivery({ kind: "comment", pull, body, sender: at.forge.user(login), id })
    // The process may be killed before its response arrives; the receipt is stored by then.
    await at.forge.send(delivery).catch(() => undefined)
  }
  await command("mallory", `/aicr dismiss ${named} intended`)
  for (const [index, { path: written, state }] of strikes.entries()) {
    const struck = Promise.withResolvers<void>()
    let isStruck = false
    at.host.onRequest = (request) => {
      requests.push(JSON.stringify(request))
      if (isStruck || request.method === "GET" || !written.test(request.path)) return undefined
      isStruck = true
      void at.aicr.kill().then(() => struck.resolve())
      return { kind: "lost" }
    }
    await command("ada", `/aicr ${state === "success" ? "dismiss" : "reopen"} ${named} intended`)
    await struck.promise
    await at.aicr.start()
    await waitUntil(() => listStates(pull).at(-1) === state && at.unfinished().length === 0, {
      timeout: 120_000,
      describe: () => `${written} ${listStates(pull)} ${at.aicr.log.slice(-6000)}`
    })
    expect(at.aicr.log.split("decision about a finding recorded").length - 1).toBe(index + 1)
  }
  expect(pull.comments.filter(({ user }) => user.login === "aicr")).toHaveLength(1)
  expect(pull.comments[0]?.body).toContain("was dismissed by a maintainer")
  const later = { branch: pull.headBranch, message: "later", files: { "later.ts": "export const later = 1\n" } }
  await at.forge.push("team/one", later)
  await at.forge.notify(pull, "synchronized")
  await waitUntil(() => listStates(pull).at(-1) === "success" && at.unfinished().length === 0, {
    timeout: 120_000,
    describe: () => at.aicr.log.slice(-6000)
  })
  admin = await AdminSession.open(at.aicr.url)
  const commands = (await admin.items("/events")).filter(({ event }) => String(event).endsWith("_comment"))
  expect(commands.map(({ outcome }) => outcome)).toEqual([...strikes.map(() => "executed"), "skipped"])
  const [newest] = await admin.items("/runs")
  const shown = (await admin.get(`/runs/${newest?.["id"]}`)).body
  expect(shown).toMatchObject({
    head: pull.head,
    findings: [],
    private: 1,
    private_findings: [{ digest: expect.stringMatching(`^${named}`), outcome: { status: "dismissed" } }]
  })
  const { body: story } = await admin.get("/story?repo=team/one&number=1")
  expect(story).toMatchObject({ findings: [{ outcome: "dismissed", title: "", path: "" }] })
  expect(maintainers.got).toHaveLength(1)
  expect((await fetch(path)).status).toBe(200)
  const found = [...(await outputs(admin)), ["events", live.map((text) => text()).join("\n")] as const]
  expect(found.find(([place]) => place === "replay")?.[1]).toContain('"statement"')
  // The process that was started last has these counts.
  const metrics = found.find(([place]) => place === "metrics")?.[1]
  expect(metrics).toMatch(/^aicr_agent_calls_total\{(?=.*"list_findings")(?=.*"done").*\} 1$/m)
  expect(metrics).toMatch(/^aicr_shared_reviews_total\{.*"shown".*\} 1$/m)
  for (const [place, text] of found)
    for (const word of words) expect([place, text.includes(word)]).toEqual([place, false])
  // A saved view has what its owner typed, without a count of what it finds.
  const typed = { page: "/runs", name: title, query: `q=${title}` }
  const saved = { id: expect.any(String), saved_at: expect.any(String), ...typed }
  expect((await admin.post("/views", typed)).body).toEqual(saved)
})
