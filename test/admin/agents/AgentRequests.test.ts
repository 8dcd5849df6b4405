/** Requests of coding agents to `/mcp` over real HTTP: tokens, limits, what each tool returns, and what no token may reach. */
import { Effect } from "effect"
import { Ajv2020 } from "ajv/dist/2020.js"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { renderJson } from "../../../src/cli/local/Json.ts"
import type { Analysis } from "../../../src/domain/Analysis.ts"
import { newId } from "../../../src/domain/Ids.ts"
import type { Finding } from "../../../src/domain/Problem.ts"
import { digestToken } from "../../../src/domain/ServiceToken.ts"
import { ServiceTokens } from "../../../src/store/ServiceTokens.ts"
import { AdminActions } from "../../../src/store/AdminActions.ts"
import { Receipts } from "../../../src/store/Receipts.ts"
import { randomText } from "../../review/GeneratedCredentials.ts"
import { callMcp, postMcp } from "../../harness/McpCalls.ts"
import { beginRun, publishRun, sendAll, settle } from "../../store/EndedRuns.ts"
import type { RunOptions } from "../../store/EndedRuns.ts"
import { analysis } from "../../store/Fixtures.ts"
import { startAdmin } from "../AdminServer.ts"
import type { AdminServer } from "../AdminServer.ts"

let admin: AdminServer
let session: unknown
let token: unknown
beforeAll(async () => {
  admin = await startAdmin({
    document: {
      server: { trust_proxy: true, base_url: "https://aicr.test" },
      review: { conversation: { limits: { agent_rounds: 2 } } }
    }
  })
  session = await admin.token()
  token = await createToken("both", { scopes: ["read", "dispute"] })
})
afterAll(() => admin.stop())

let names = 0
const createToken = async (name: string, more: object = {}): Promise<unknown> => {
  const body = { name: `${name}-${++names}`, scopes: ["read"], ...more }
  return (await admin.call("POST", "/tokens", { token: session, body })).body["token"]
}

const finding = (name: string, severity: "critical" | "medium" = "medium"): Finding => ({
  fingerprint: name.repeat(32),
  problem: { file: "a.ts", severity, category: "bug", title: name, message: `Message ${name}`, quote: "a = 1" },
  anchor: { path: "a.ts", side: "new", line: 3 },
  verified: "read twice"
})

/** Stores a published review. */
const ended = (options: RunOptions, more: Partial<Analysis> = {}) =>
  admin.run(
    Effect.gen(function* () {
      const id = yield* publishRun({ ...options, analysis: { ...analysis, ...more }, publications: [{}] })
      yield* sendAll(id)
      yield* settle(id, 5000)
      return id
    })
  )

const call = (name: string, input: object, given: unknown = token) => callMcp(admin.url, given, name, input)
/** Sends it from an address of its own, because wrong tokens lock an address. */
const from = (address: string, given: unknown, name = "status", input: object = { repository: "acme/none" }) =>
  callMcp(admin.url, given, name, input, { "x-forwarded-for": address })

describe("a token", () => {
  it("is needed, and a wrong one gets the same response as none", async () => {
    const wrong = ["", "nothing", `aicr-token-${randomText(43)}`, String(token).slice(0, -1), session]
    const replies = []
    for (const [at, given] of [undefined, ...wrong].entries()) replies.push(await from(`192.0.2.${at}`, given))
    assert.deepStrictEqual(new Set(replies.map(({ status }) => status)), new Set([401]))
    assert.lengthOf([...new Set(replies.map(({ text }) => text))], 1)
    assert.strictEqual(replies[0]?.headers.get("www-authenticate"), 'Bearer realm="agents"')
    for (const given of wrong.slice(2)) assert.notInclude(admin.logged.join("\n"), String(given))
  })

  it("is refused from the first request after its revocation, and after its end", async () => {
    const revoked = await createToken("revoked")
    assert.strictEqual((await from("192.0.2.20", revoked)).status, 200)
    await admin.run(
      ServiceTokens.use((tokens) =>
        Effect.flatMap(tokens.find(digestToken(String(revoked)) ?? ""), (found) => tokens.revoke(found?.id ?? "", 1))
      )
    )
    assert.strictEqual((await from("192.0.2.21", revoked)).status, 401)
    const expired = `aicr-token-${randomText(43, undefined, "expired")}`
    await admin.run(
      ServiceTokens.use((tokens) =>
        tokens.create({
          id: newId(),
          name: "expired",
          digest: digestToken(expired) ?? "",
          scopes: ["read"],
          repositories: [],
          createdBy: "root",
          createdAt: Date.now() - 2000,
          expiresAt: Date.now() - 1000
        })
      )
    )
    assert.strictEqual((await from("192.0.2.22", expired)).status, 401)
  })

  it("that is guessed locks its address after five failures, for right tokens too, and no other address", async () => {
    const guess = () => from("192.0.2.30", `aicr-token-${randomText(43, undefined, `${Math.random()}`)}`)
    const statuses = []
    for (let at = 0; at < 7; at++) statuses.push((await guess()).status)
    assert.deepStrictEqual(statuses, [401, 401, 401, 401, 401, 429, 429])
    const held = await from("192.0.2.30", token)
    assert.strictEqual(held.status, 429)
    assert.isAtLeast(Number(held.headers.get("retry-after")), 200)
    assert.strictEqual((await from("192.0.2.31", token)).status, 200)
    assert.strictEqual((await admin.login()).status, 200)
  })

  it("does only what its scopes allow", async () => {
    const [reads, disputes] = [await createToken("reads"), await createToken("disputes", { scopes: ["dispute"] })]
    const at = { repository: "acme/scopes", number: 1 }
    const objection = { ...at, finding: 1, reason: "wrong", path: "a.ts", quote: "a = 1" }
    assert.include((await call("dispute", objection, reads)).words, "lacks the scope dispute")
    for (const name of ["status", "wait_for_review", "list_findings"])
      assert.include((await call(name, at, disputes)).words, "lacks the scope read")
    assert.include((await call("explain", { ...at, finding: 1 }, disputes)).words, "lacks the scope read")
  })

  it("reaches its repositories only: others do not exist for it", async () => {
    await ended({ repo: "acme/mine", number: 1 })
    await ended({ repo: "acme/other", number: 1 })
    const narrow = await createToken("narrow", { scopes: ["read", "dispute"], repositories: ["main:Acme/Mine"] })
    assert.deepInclude((await call("status", { repository: "ACME/mine", number: 1 }, narrow)).result, { found: true })
    const other = { repository: "acme/other", number: 1 }
    const nothing = { repository: "acme/nothing", number: 1 }
    assert.deepInclude((await call("status", other, narrow)).result, { found: false, done: false })
    for (const [name, input] of [
      ["list_findings", {}],
      ["explain", { finding: 1 }],
      ["dispute", { finding: 1, reason: "wrong", path: "a.ts", quote: "a = 1" }]
    ] as const) {
      const [refused, missing] = [
        await call(name, { ...other, ...input }, narrow),
        await call(name, { ...nothing, ...input }, narrow)
      ]
      assert.isTrue(refused.isError)
      assert.strictEqual(refused.words, missing.words)
    }
    assert.isFalse((await call("list_findings", other)).isError)
  })
})

describe("a request", () => {
  it.each([
    ["no JSON", "{", 400, "not JSON"],
    ["several messages", "[{},{}]", 400, "expected an object"],
    ["deep JSON", `${'{"a":'.repeat(40)}1${"}".repeat(40)}`, 400, "deeper"],
    ["many values", `{"a":[${"1,".repeat(2000)}1]}`, 400, "deeper"],
    ["a large body", `{"a":"${"x".repeat(70_000)}"}`, 413, "65536"]
  ])("with %s is refused before a tool gets it", async (_name, body, status, text) => {
    const reply = await postMcp(admin.url, token, body)
    assert.strictEqual(reply.status, status)
    assert.include(reply.text, text)
  })

  it("of a page of another site is refused", async () => {
    const reply = await callMcp(admin.url, token, "status", { repository: "a/b" }, { origin: "https://evil.test" })
    assert.isAtLeast(reply.status, 400)
  })

  it("names invalid fields without their values", async () => {
    const { isError, words } = await call("explain", {
      repository: "acme/app",
      number: "secret-value",
      finding: 0,
      x: 1
    })
    assert.isTrue(isError)
    for (const path of ["number", "finding", "x"]) assert.include(words, `${path}: `)
    assert.notInclude(words, "secret-value")
  })

  it.each(["GET", "DELETE", "PUT"])("with %s is refused", async (method) => {
    assert.strictEqual((await fetch(`${admin.url}/mcp`, { method })).status, 405)
  })

  it("shakes hands, lists the tools with their schemas, and calls one in its session", async () => {
    const params = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "test", version: "1" } }
    const first = await postMcp(
      admin.url,
      token,
      JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params })
    )
    assert.strictEqual(first.status, 200)
    const headers = {
      "mcp-session-id": first.headers.get("mcp-session-id") ?? "",
      "mcp-protocol-version": "2025-06-18"
    }
    await postMcp(admin.url, token, '{"jsonrpc":"2.0","method":"notifications/initialized"}', headers)
    const listed = await postMcp(admin.url, token, '{"jsonrpc":"2.0","id":2,"method":"tools/list"}', headers)
    const tools: ReadonlyArray<Record<string, object>> = JSON.parse(listed.text).result.tools
    assert.deepStrictEqual(
      tools.map(({ name }) => String(name)),
      ["status", "wait_for_review", "list_findings", "explain", "dispute"]
    )
    const ajv = new Ajv2020({ strict: false })
    await ended({ repo: "acme/session", number: 1 }, { findings: [finding("a")] })
    for (const [name, input] of [
      ["status", {}],
      ["list_findings", {}],
      ["explain", { finding: 1 }]
    ] as const) {
      const message = {
        jsonrpc: "2.0",
        id: 3,
        method: "tools/call",
        params: { name, arguments: { repository: "acme/session", number: 1, ...input } }
      }
      const { isError, result, words } = await postMcp(admin.url, token, JSON.stringify(message), headers)
      assert.isFalse(isError, words)
      assert.deepStrictEqual(JSON.parse(words), result)
      const schema = tools.find((tool) => String(tool["name"]) === name)?.["outputSchema"] ?? {}
      const validate = ajv.compile({ ...schema, additionalProperties: false })
      assert.isTrue(validate(result), JSON.stringify(validate.errors))
    }
    const other = await createToken("other")
    assert.strictEqual(
      (await postMcp(admin.url, other, '{"jsonrpc":"2.0","id":4,"method":"tools/list"}', headers)).status,
      404
    )
  })
})

describe("the tools", () => {
  it("return the state of the newest review, and of a commit", async () => {
    const at = { repo: "acme/state", number: 4 }
    const named = { repository: "acme/state", number: 4 }
    assert.deepStrictEqual((await call("status", named)).result, { ...named, found: false, done: false })
    const first = await ended(at, { findings: [finding("a", "critical"), finding("b")] })
    assert.deepStrictEqual((await call("status", named)).result, {
      repository: "acme/state",
      number: 4,
      found: true,
      done: true,
      status: "succeeded",
      head: "a".repeat(40),
      open: { critical: 1, high: 0, medium: 1, low: 0, info: 0 },
      partial: false,
      page: `https://aicr.test/dashboard/runs/${first}`
    })
    await admin.run(beginRun({ ...at, head: "b".repeat(40) }))
    assert.deepInclude((await call("status", named)).result, { done: false, status: "preparing" })
    assert.deepInclude((await call("status", { ...named, head: "AAAAAAA" })).result, { done: true })
    assert.include((await call("list_findings", named)).words, "no findings to list")
  })

  it("have the fields of aicr review --format json, and status those of wait_for_review", async () => {
    const found: Finding = {
      ...finding("a", "critical"),
      problem: { ...finding("a").problem, suggestion: "b = 1", confidence: 0.5, rule: "no-a" }
    }
    const findings = [found, { ...finding("b"), anchor: undefined } as unknown as Finding]
    const named = { repository: "acme/shapes", number: 6 }
    await ended({ repo: named.repository, number: named.number }, { findings, summary: "Adds a." })
    const range = { vcs: "git", root: "/r", baseName: "main", from: "a", head: "a".repeat(40), headName: "b" } as const
    const printed = JSON.parse(renderJson({ ...range, analysis: { ...analysis, findings, summary: "Adds a." } }))
    const listed = (await call("list_findings", named)).result ?? {}
    for (const name of Object.keys(listed)) assert.property(printed, name)
    const { findings: shown, ...review } = listed
    assert.deepInclude(printed, review)
    const withoutChange = ({ number: _number, state: _state, url: _url, ...one }: Record<string, unknown>) => one
    assert.isArray(shown)
    assert.deepStrictEqual((shown as ReadonlyArray<Record<string, unknown>>).map(withoutChange), printed.findings)
    const explained = (await call("explain", { ...named, finding: 1 })).result ?? {}
    assert.deepStrictEqual(withoutChange(explained), printed.findings[0])
    const [status, waited] = [await call("status", named), await call("wait_for_review", { ...named, seconds: 1 })]
    assert.deepStrictEqual(status.result, waited.result)
  })

  it("wait for the end of a review, at most for the given time, and may be called again", async () => {
    const at = { repo: "acme/waits", number: 5 }
    const named = { repository: "acme/waits", number: 5, head: "c".repeat(40) }
    assert.deepInclude((await call("wait_for_review", { ...named, seconds: 1 })).result, { done: false, found: false })
    const waiting = call("wait_for_review", { ...named, seconds: 30 })
    await ended({ ...at, head: "c".repeat(40) })
    assert.deepInclude((await waiting).result, { done: true, status: "succeeded" })
  })

  it("list open findings by number and explain one with its evidence", async () => {
    const named = { repository: "acme/list", number: 6 }
    await ended({ repo: "acme/list", number: 6 }, { findings: [finding("a"), finding("b", "critical")] })
    const { result } = await call("list_findings", named)
    assert.deepInclude(result, { head: "a".repeat(40), summary: "One problem" })
    const [first, second] = Array.isArray(result["findings"]) ? result["findings"].map(Object) : []
    assert.deepInclude(first, { number: 1, state: "open", title: "a", file: "a.ts", line: 3, end_line: 3, side: "new" })
    const explained = await call("explain", { ...named, finding: 2 })
    assert.deepStrictEqual(explained.result, second)
    assert.deepInclude(explained.result, { quote: "a = 1", verified: "read twice", severity: "critical" })
    assert.include((await call("explain", { ...named, finding: 3 })).words, "no finding 3")
  })

  it("an agent gets the findings of review.conversation.limits.agent_rounds commits of a change per day", async () => {
    const at = { repo: "acme/rounds", number: 7 }
    const named = { repository: "acme/rounds", number: 7 }
    for (const head of ["1", "2"]) {
      await ended({ ...at, head: head.repeat(40) })
      for (const name of ["list_findings", "wait_for_review"]) assert.isFalse((await call(name, named)).isError)
    }
    await ended({ ...at, head: "3".repeat(40) })
    for (const [name, input] of [
      ["list_findings", {}],
      ["wait_for_review", {}],
      ["explain", { finding: 1 }],
      ["dispute", { finding: 1, reason: "wrong", path: "a.ts", quote: "a = 1" }]
    ] as const) {
      const { isError, words } = await call(name, { ...named, ...input })
      assert.isTrue(isError)
      assert.include(words, "review.conversation.limits.agent_rounds is reached (2)")
    }
    assert.isFalse((await call("list_findings", { ...named, head: "1".repeat(40) })).isError)
    assert.isFalse((await call("status", named)).isError)
  })
})

describe("an objection", () => {
  it("is queued once per finding and head, by any token, audited, and without secrets", async () => {
    const named = { repository: "acme/objects", number: 8 }
    await ended({ repo: "acme/objects", number: 8 }, { findings: [finding("a"), finding("b")] })
    const secret = `ghp_${randomText(36)}`
    const input = { ...named, finding: 2, reason: `It is ${secret}`, path: "a.ts", quote: "a = 1", seconds: 1 }
    const other = await createToken("other", { scopes: ["read", "dispute"] })
    const replies = await Promise.all([token, other, token].map((given) => call("dispute", input, given)))
    for (const { result } of replies) assert.deepStrictEqual(result, { finding: 2, decided: false })
    const events = await admin.run(Receipts.use((receipts) => receipts.list({ repo: "acme/objects", limit: 10 })))
    assert.lengthOf(events, 1)
    assert.deepInclude(events[0], { event: "dispute", targetKind: "comment", decision: "queued" })
    assert.deepInclude(events[0]?.work?.change.source, { fingerprint: "b".repeat(32), path: "a.ts" })
    assert.notInclude(JSON.stringify(events), secret)
    const actions = await admin.run(AdminActions.use((all) => all.list({ action: "agents.dispute", limit: 10 })))
    assert.isNotEmpty(actions)
    for (const action of actions) assert.deepInclude(action, { outcome: "done", address: "mcp" })
    assert.notInclude(admin.logged.join("\n"), secret)
  })
})
