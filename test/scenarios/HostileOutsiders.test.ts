/**
 * Outsiders, and holders of a small right, at the port of one real process with 92 triggers. What they send costs little, what is signed is
 * reviewed, and no credential leaves for another server than the configured one.
 */
import { createHmac } from "node:crypto"
import { readFile, writeFile } from "node:fs/promises"
import { createServer, request as httpRequest } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { afterAll, beforeAll, expect, it } from "vitest"
import { parse, stringify } from "yaml"
import { adminCredentials, adminEnv, AdminSession } from "../harness/AdminSession.ts"
import { AicrProcess } from "../harness/AicrProcess.ts"
import type { DemoPull } from "../../demo/DemoForgeState.ts"
import { getAccess } from "../harness/FakeAccess.ts"
import { startFakeForge } from "../harness/FakeForge.ts"
import type { FakeForge } from "../harness/FakeForge.ts"
import { review } from "../harness/FakeModel.ts"
import { HealthProbe } from "../harness/HealthProbe.ts"
import { honest, Installation, makeToken, namesIn, secret, toFilePath } from "../harness/Installation.ts"
import { readReasonColumn } from "../harness/StoredReason.ts"
import { waitUntil } from "../harness/Wait.ts"
import { open, post } from "../ingress/Raw.ts"
import { payloads } from "../outputs/HostileText.ts"

const mib = 1_048_576
/** A host in front of the fake one. It records requests, and sends the credential of git back in its errors while `isEchoing`. */
const startEcho = async (target: () => string) => {
  const seen: Array<{ readonly path: string; readonly authorization: string | undefined }> = []
  const state = { isEchoing: false }
  const server = createServer((request, response) => {
    const { authorization } = request.headers
    seen.push({ path: request.url ?? "", authorization })
    if (state.isEchoing && request.url?.includes(".git/") === true)
      return void response.writeHead(500, { "content-type": "text/plain" }).end(`no access with ${authorization}`)
    const { headers, method = "GET", url = "/" } = request
    const forwarded = httpRequest(new URL(url, target()), { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(response)
    })
    forwarded.on("error", () => response.destroy())
    request.pipe(forwarded)
  })
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done))
  const { port } = server.address() as AddressInfo
  return {
    seen,
    state,
    url: `http://127.0.0.1:${port}`,
    stop: () => {
      server.close()
      server.closeAllConnections()
    }
  }
}

/** A chat group that keeps the messages it receives. */
const startGroup = async () => {
  const messages: Array<string> = []
  const server = createServer((request, response) => {
    let body = ""
    request.on("data", (data) => (body += String(data)))
    request.on("end", () => {
      messages.push(body)
      response.setHeader("content-type", "application/json").end(JSON.stringify({ errcode: 0, code: 0 }))
    })
  })
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done))
  const { port: groupPort } = server.address() as AddressInfo
  return { messages, url: `http://127.0.0.1:${groupPort}/hook`, stop: () => server.close() }
}

let at: Installation
let group: Awaited<ReturnType<typeof startGroup>>
let gitlab: FakeForge
let echo: Awaited<ReturnType<typeof startEcho>>
let stranger: Awaited<ReturnType<typeof startEcho>>
let port = 0
const configFile = () => join(at.directory, "config.yaml")
const change = async (edit: (document: ReturnType<typeof parse>) => void) => {
  const document = parse(await readFile(configFile(), "utf8"))
  edit(document)
  await writeFile(configFile(), stringify(document))
}

beforeAll(async () => {
  at = await Installation.make({
    queue: "memory",
    repositories: ["team/one", "team/two", "team/echo"],
    attempts: 1,
    env: { ...adminEnv, TEST_OTHER_SECRET: "other", TEST_GITLAB: "token-of-gitlab" }
  })
  echo = await startEcho(() => at.forge.url)
  stranger = await startEcho(() => at.forge.url)
  group = await startGroup()
  gitlab = await startFakeForge("gitlab", { token: "token-of-gitlab", secret: "other" })
  await change(({ outputs, triggers, workspaces }) => {
    triggers[2].base_url = echo.url
    triggers.push(
      { name: "ci", kind: "manual" },
      {
        name: "lab",
        kind: "gitlab",
        base_url: gitlab.url,
        token_env: "TEST_GITLAB",
        webhook_secret_env: "TEST_OTHER_SECRET"
      },
      ...Array.from({ length: 87 }, (_, n) => ({
        name: `spare-${n}`,
        kind: "gitea",
        base_url: `${at.forge.url}/${n}`,
        webhook_secret_env: n % 2 === 0 ? "TEST_SECRET" : "TEST_OTHER_SECRET"
      }))
    )
    const { instances } = workspaces
    instances["team-one"].auth = { api_key: "key-of-one-workspace" }
    instances["team-two"].auth = { api_key: "key-of-two-workspace" }
    outputs.channels.push(
      { name: "lab", kind: "gitlab_mr_review" },
      { name: "wecom", kind: "wecom_bot", webhook_url: group.url },
      { name: "feishu", kind: "feishu_bot", webhook_url: group.url }
    )
    outputs.routes.rules = [{ match: { target_kind: "manual" }, summary: ["wecom", "feishu"], line_comments: [] }]
    const routes = { default: { line_comments: ["lab"], summary: ["lab"] } }
    instances.lab = { source_repo: { trigger: "lab", repo: "team/lab" }, outputs: { routes } }
  })
  at.aicr.useOwnProcess()
  await at.aicr.start()
  port = Number(new URL(at.aicr.url).port)
  gitlab.setWebhookUrl(`${at.aicr.url}/webhooks/gitlab`)
})
afterAll(async () => {
  await at[Symbol.asyncDispose]()
  await gitlab.stop()
  for (const server of [echo, stranger, group]) server.stop()
})

const unsigned = (bytes: number, type = "application/json") =>
  post("/webhooks/gitea", {
    "content-type": type,
    "x-gitea-event": "pull_request",
    "x-gitea-delivery": "x",
    "x-gitea-signature": "0".repeat(64),
    "content-length": bytes
  })

it("a form of 25 MiB without a valid signature costs hashing only, whatever the number of triggers", async () => {
  const form = Buffer.alloc(25 * mib, "+")
  form.write("payload=")
  const from = process.cpuUsage()
  createHmac("sha256", "a secret").update(form).digest()
  const { system, user } = process.cpuUsage(from)
  const hashMillis = (system + user) / 1000
  const before = await at.aicr.processorMillis()
  await using probe = new HealthProbe(at.aicr.url)
  const requests = 4
  for (let n = 0; n < requests; n++) {
    const connection = open(port, `127.0.7.${n + 1}`)
    connection.socket.write(unsigned(form.length, "application/x-www-form-urlencoded"))
    connection.socket.write(form)
    expect((await connection.answer)?.status).toBe(401)
    connection.socket.destroy()
  }
  // There are two secrets, and each request is received. One hash per trigger would be 90.
  const perRequest = ((await at.aicr.processorMillis()) - before) / requests
  expect(perRequest).toBeLessThan(20 * hashMillis + 400)
  expect(probe.slowest).toBeLessThan(3000)
  expect(await at.aicr.peakMemory()).toBeLessThan(600)
})

it("idle connections of one address and unfinished bodies of several do not keep out a signed delivery", async () => {
  const idle = Array.from({ length: 900 }, () => open(port, "127.0.8.1"))
  const unfinished = Array.from({ length: 12 }, (_, n) => open(port, `127.0.9.${n + 1}`))
  try {
    await waitUntil(async () => (await at.aicr.openSockets()) >= 500, { describe: () => "the connections are open" })
    for (const { socket } of unfinished) {
      socket.write(unsigned(25 * mib))
      socket.write(Buffer.alloc(24 * mib, "x"))
    }
    // Bodies over the budget are refused, those within it are kept.
    await waitUntil(() => unfinished.some(({ received }) => received().includes("503")), {
      timeout: 30_000,
      describe: () => "the budget of bodies is used up"
    })
    expect(await at.aicr.openSockets()).toBeLessThan(700)
    const pull = await at.open("signed")
    const from = performance.now()
    expect((await at.forge.notify(pull, "opened")).status).toBe(202)
    expect(performance.now() - from).toBeLessThan(3000)
    await at.reviewed(pull)
  } finally {
    for (const { socket } of [...idle, ...unfinished]) socket.destroy()
  }
})

it("a key is checked before a body is called for", async () => {
  const headers = { "content-type": "application/json", "content-length": 20, expect: "100-continue" }
  const wrong = open(port)
  wrong.socket.write(post("/triggers/manual", { ...headers, "x-api-key": "wrong" }))
  expect((await wrong.answer)?.status).toBe(401)
  expect(wrong.received()).not.toContain("100 Continue")
  const right = open(port)
  right.socket.write(post("/triggers/manual", { ...headers, "x-api-key": "key-of-one-workspace" }))
  await waitUntil(() => right.received().includes("100 Continue"), { describe: () => right.received() })
  for (const { socket } of [wrong, right]) socket.destroy()
})

/** A delivery of Gitea as the host would sign it, with other content. */
const resigned = (
  delivery: { readonly url: string; readonly headers: object; readonly body: Buffer },
  edit: (payload: ReturnType<typeof parse>) => void
) => {
  const payload = JSON.parse(delivery.body.toString())
  edit(payload)
  const body = JSON.stringify(payload)
  const signature = createHmac("sha256", secret).update(body).digest("hex")
  const headers = Object.fromEntries(
    Object.entries(delivery.headers).map(([name, value]) => {
      if (name === "x-gitea-signature" || name === "x-gogs-signature") return [name, signature]
      if (name === "x-hub-signature-256") return [name, `sha256=${signature}`]
      return [name, String(value)]
    })
  )
  delete headers["x-hub-signature"]
  return fetch(delivery.url, { method: "POST", headers, body })
}
const delivered = (pull: Parameters<Installation["forge"]["notify"]>[0]) =>
  at.forge.delivery({ kind: "pull", pull, action: "opened", sender: at.forge.user("dana") })

it("code is fetched from the configured host, whatever URL is in the payload", async () => {
  const pull = await at.open("elsewhere", "team/echo")
  const response = await resigned(delivered(pull), (payload) => {
    const text = JSON.stringify(payload).replaceAll(at.forge.url, stranger.url)
    Object.assign(payload, JSON.parse(text))
  })
  expect(response.status).toBe(202)
  await at.reviewed(pull)
  expect(stranger.seen).toEqual([])
  expect(echo.seen.some(({ path }) => path.includes("team/echo.git/"))).toBe(true)
})

it("a credential that the host sends back in an error is in no record and no log", async () => {
  echo.state.isEchoing = true
  const pull = await at.open("echoed", "team/echo")
  expect((await at.forge.notify(pull, "opened")).status).toBe(202)
  await waitUntil(
    () =>
      pull.repository.statuses.get(pull.head)?.at(-1)?.state === "failure" || at.aicr.log.includes("no access with"),
    {
      timeout: 60_000,
      describe: () => `the run fails; log:\n${at.aicr.log}`
    }
  )
  echo.state.isEchoing = false
  const sent = echo.seen.findLast(({ path }) => path.includes(".git/"))?.authorization ?? ""
  const token = makeToken(2)
  const spellings = [token, sent.slice("Basic ".length), btoa(token).slice(0, 20)]
  expect(atob(sent.slice("Basic ".length))).toContain(token)
  const database = new DatabaseSync(join(at.directory, "aicr.db"), { readOnly: true })
  const records = JSON.stringify([
    database.prepare("SELECT * FROM runs").all(),
    database.prepare("SELECT * FROM events").all(),
    database.prepare("SELECT * FROM publications").all()
  ])
  database.close()
  expect(records).toContain("no access with")
  for (const spelling of spellings) {
    expect(records).not.toContain(spelling)
    expect(at.aicr.log).not.toContain(spelling)
  }
}, 120_000)

it("the same call of two workspaces with the same key of idempotency is two events", async () => {
  const call = async (workspace: string) => {
    const response = await fetch(`${at.aicr.url}/triggers/manual`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        "x-api-key": `key-of-${workspace}-workspace`,
        "idempotency-key": "same"
      },
      body: JSON.stringify({ repo: `team/${workspace}`, head: "main" })
    })
    return { code: response.status, ...Object(await response.json()) }
  }
  const [one, two, again] = [await call("one"), await call("two"), await call("one")]
  expect([one, two, again]).toMatchObject([
    { code: 202, accepted: true, workspace: "team-one" },
    { code: 202, accepted: true, workspace: "team-two" },
    { status: "duplicate", event_id: one.event_id }
  ])
  expect(two.event_id).not.toBe(one.event_id)
})

const callManually = async (body: object): Promise<string> => {
  const response = await fetch(`${at.aicr.url}/triggers/manual`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-api-key": "key-of-two-workspace" },
    body: JSON.stringify({ repo: "team/two", ...body })
  })
  expect(response.status).toBe(202)
  return String(Object(await response.json()).event_id)
}

/** The outcome of an event with its reason, once it has ended. */
const ended = (id: string) =>
  waitUntil(
    () => {
      const database = new DatabaseSync(join(at.directory, "aicr.db"), { readOnly: true })
      const row = database.prepare("SELECT outcome, outcome_reason AS reason FROM events WHERE id = ?").get(id)
      database.close()
      return typeof row?.["outcome"] === "string" ? { ...row, reason: readReasonColumn(row["reason"]) } : undefined
    },
    { timeout: 60_000, describe: () => `an outcome of ${id}; log:\n${at.aicr.log}` }
  )

it("a call with ids of SHA-256 fails, and later reviews of the repository do not", async () => {
  const refused = await ended(await callManually({ head: "a".repeat(64), base: "b".repeat(64) }))
  expect(refused).toMatchObject({ outcome: "failed", reason: expect.stringContaining("different object formats") })
  const pull = await at.open("short", "team/two")
  await at.forge.notify(pull, "opened")
  await at.reviewed(pull)
})

it("text of the model is inert in messages to chat groups", async () => {
  at.model.script(
    review(
      payloads.slice(0, 12).map((text, index) => ({
        file: toFilePath("chat"),
        line: 1,
        severity: "high",
        category: text,
        title: `${index} ${text}`,
        message: text,
        quote: "export const first = 1"
      })),
      payloads.join("\n\n")
    )
  )
  const head = await at.push("chat", 1, "team/two")
  const base = await at.forge.push("team/two", { branch: "start", from: "main", message: "Start", files: { b: "b\n" } })
  expect(await ended(await callManually({ head, base }))).toMatchObject({ outcome: "executed" })
  await waitUntil(() => group.messages.length >= 2, { describe: () => `two messages; log:\n${at.aicr.log}` })
  at.model.script(honest)
  for (const message of group.messages) {
    const body = JSON.parse(message)
    const text: string = body.markdown?.content ?? body.card.body.elements[0].content
    // Problems of the same line are one, which has the titles and texts of all.
    expect(text.length).toBeGreaterThan(500)
    // Tags of either platform, and links whose target is not ours, in code too.
    expect(text.replaceAll(at.forge.url, "").match(/<[a-z/@!?]|<at|@all|\]\([^)]*evil/gi) ?? []).toEqual([])
    const outside = text.replace(/```[\s\S]*?```|`[^`]*`/g, "").replaceAll(/\]\([^)]*\)/g, "")
    expect(outside.match(/@[\w-]|https?:\/\//g) ?? []).toEqual([])
  }
})

it("a delivery of GitLab whose project id is of another project is not reviewed", async () => {
  for (const name of ["team/lab", "team/secret"]) {
    await gitlab.createRepository(name)
    await gitlab.push(name, { branch: "main", message: "Start", files: { "a.ts": "a\n" } })
  }
  const files = { [toFilePath("lab")]: 'export const marked = "marker-lab-end"\n' }
  await gitlab.push("team/lab", { branch: "lab", from: "main", message: "Lab", files })
  const pull = await gitlab.createPull("team/lab", { title: "Lab", headBranch: "lab" })
  const delivery = gitlab.delivery({ kind: "pull", pull, action: "opened", sender: gitlab.user("dana") })
  const payload = JSON.parse(delivery.body.toString())
  payload.project.id = gitlab.repository("team/secret").id
  const response = await fetch(delivery.url, {
    method: "POST",
    headers: delivery.headers,
    body: JSON.stringify(payload)
  })
  expect(response.status).toBe(202)
  await waitUntil(() => at.aicr.log.includes(`"_tag":"OtherRepository"`), {
    timeout: 60_000,
    describe: () => `the delivery is refused; log:\n${at.aicr.log}`
  })
  expect(at.model.requests.flatMap(namesIn)).not.toContain("lab")
  expect((await gitlab.notify(pull, "opened")).status).toBe(202)
  await waitUntil(() => at.model.requests.flatMap(namesIn).includes("lab"), {
    timeout: 60_000,
    describe: () => `the regular delivery is reviewed; log:\n${at.aicr.log}`
  })
})

it("a reader who may be assigned starts and cancels nothing by a comment, where the account may only write", async () => {
  // What is not delivered would be found and reviewed after the refused deliveries of other tests.
  const pull = await at.open("assignable")
  await at.forge.notify(pull, "opened")
  await at.reviewed(pull)
  at.forge.setPermission("team/one", "aicr", "write")
  const units = { "repo.code": "read", "repo.issues": "write", "repo.pulls": "read" }
  getAccess(pull.repository).teams = [{ id: 1, permission: "read", units, members: ["eve"] }]
  const requests = at.model.requests.length
  for (const [command, outcome] of [
    ["review", "skipped"],
    ["cancel", "failed"]
  ] as const) {
    const comment = at.forge.delivery({ kind: "comment", pull, body: `/aicr ${command}`, sender: at.forge.user("eve") })
    const { body, status } = await at.forge.send(comment)
    expect(status).toBe(202)
    expect(await ended(String(Object(body).event_id))).toMatchObject({
      outcome,
      reason: expect.stringMatching(/whether eve may write is unknown.*make the account an administrator/)
    })
  }
  expect(at.model.requests.length).toBe(requests)
  at.forge.setPermission("team/one", "aicr", "admin")
  getAccess(pull.repository).teams = undefined
})

it("a stranger's request neither prevents nor replaces the review of a pushed head, or one that a maintainer requests", async () => {
  const comment = async (pull: DemoPull, sender: string) => {
    const body = "/aicr review"
    const sent = await at.forge.send(at.forge.delivery({ kind: "comment", pull, body, sender: at.forge.user(sender) }))
    return String(Object(sent.body).event_id)
  }
  const pushed = await at.open("crowded-push")
  const requested = await at.open("crowded-request")
  await at.forge.notify(requested, "opened")
  await at.reviewed(requested)
  const [first, other] = await Promise.all([comment(pushed, "eve"), comment(requested, "eve")])
  await at.forge.notify(pushed, "opened")
  const maintainer = await comment(requested, "dana")
  await comment(requested, "eve")
  await Promise.all([at.reviewed(pushed), at.reviewed(requested)])
  expect(await ended(maintainer)).toMatchObject({ outcome: "executed" })
  for (const id of [first, other])
    expect(await ended(id)).toMatchObject({
      outcome: "skipped",
      reason: expect.stringContaining("eve has no write permission")
    })
})

const { password: right, username: administrator } = adminCredentials
const logIn = (from: string, username: string, password: string, forwarded?: string): Promise<number | undefined> => {
  const body = JSON.stringify({ username, password })
  const connection = open(port, from)
  connection.socket.write(
    post(
      "/api/admin/login",
      {
        "content-type": "application/json",
        "content-length": body.length,
        ...(forwarded === undefined ? {} : { "x-forwarded-for": forwarded })
      },
      body
    )
  )
  return connection.answer.then((answer) => {
    connection.socket.destroy()
    return answer?.status
  })
}

it("wrong logins lock their own address and delay the user, who can still log in from elsewhere", async () => {
  const wrong = []
  for (let n = 0; n < 6; n++) wrong.push(await logIn("127.0.6.1", administrator, "wrong"))
  expect(wrong).toEqual([401, 401, 401, 401, 401, 429])
  expect(await logIn("127.0.6.1", administrator, right)).toBe(429)
  expect(await logIn("127.0.6.2", administrator, right)).toBe(200)
})

it("an administrator ends all sessions, and a changed password does so as well", async () => {
  const first = await AdminSession.open(at.aicr.url)
  const second = await AdminSession.open(at.aicr.url)
  expect((await first.post("/sessions/revoke", { keep_current: true })).body["revoked"]).toBeGreaterThanOrEqual(1)
  expect((await second.get("/events")).status).toBe(401)
  expect((await first.get("/events")).status).toBe(200)
  await at.aicr.stop()
  at.aicr.setEnv({ SVC_ADMIN_PASSWORD: "another horse" })
  await change((document) => {
    document.server.trust_proxy = true
  })
  at.aicr.useOwnProcess()
  await at.aicr.start()
  expect((await first.get("/events")).status).toBe(401)
})

it("with trust_proxy: true, addresses before the last hop are not locked", async () => {
  for (let n = 0; n < 6; n++) await logIn("127.0.0.1", `name-${n}`, "wrong", "203.0.113.7, 198.51.100.1")
  expect(await logIn("127.0.0.1", administrator, "another horse", "203.0.113.7, 198.51.100.1")).toBe(429)
  expect(await logIn("127.0.0.1", administrator, "another horse", "203.0.113.7")).toBe(200)
})

it("does not start with a blank webhook secret, or with a token for a host that only payloads name", async () => {
  await change(({ triggers }) => {
    delete triggers[0].base_url
  })
  const other = new AicrProcess({
    configFile: configFile(),
    url: "http://127.0.0.1:1",
    env: {
      TEST_TOKEN_0: "t",
      TEST_TOKEN_1: "t",
      TEST_TOKEN_2: "t",
      TEST_SECRET: " ",
      TEST_OTHER_SECRET: "o",
      TEST_GITLAB: "t",
      TEST_KEY: "k"
    }
  })
  await expect(other.start()).rejects.toThrow("aicr ended while starting")
  expect(other.log).toMatch(/triggers\[0\]\.base_url.*missing; token_env is sent to this host only/)
  expect(other.log).toMatch(/TEST_SECRET/)
})
