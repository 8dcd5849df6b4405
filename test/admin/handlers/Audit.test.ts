/** Records of the requests of administrators, over real HTTP. */
import { afterAll, assert, beforeAll, describe, expect, it } from "vitest"
import { newId } from "../../../src/domain/Ids.ts"
import { password, startAdmin } from "../AdminServer.ts"
import type { AdminServer } from "../AdminServer.ts"

let admin: AdminServer
let token: unknown
beforeAll(async () => {
  admin = await startAdmin({ database: true })
  token = await admin.token()
})
afterAll(() => admin.stop())

const list = async (query = ""): Promise<ReadonlyArray<Record<string, unknown>>> => {
  const { items } = (await admin.call("GET", `/audit${query}`, { token })).body
  assert(Array.isArray(items))
  return items.map((item) => Object(item))
}

describe("the audit", () => {
  it("names the login of the administrator, and failures for this name only", async () => {
    await admin.login("a wrong one")
    await admin.login("a wrong one", "mallory")
    const logins = await list("?action=login.login")
    assert.deepStrictEqual(
      logins.map(({ actor, outcome, target }) => [actor, outcome, target]),
      [
        ["root", "invalid_credentials", "/login"],
        ["root", "done", "/login"]
      ]
    )
    assert.notInclude(JSON.stringify(await list()), password)
  })

  it("has each write with its target, reason and outcome, also a refused one", async () => {
    await admin.call("POST", "/queue/pause", { token, body: { workspace: "app", reason: "moving" } })
    await admin.call("POST", "/queue/pause", { token, body: { workspace: "none", reason: "a\u0000b" } })
    await admin.call("POST", `/queue/${newId()}/retry`, { token })
    await admin.call("POST", "/queue/resume", { token, body: { wrong: 1 } })
    await admin.call("POST", "/queue/resume", {
      token,
      body: { workspace: "app" },
      headers: { "sec-fetch-site": "cross-site" }
    })
    const found = (await list()).slice(0, 5).map(({ action, actor, outcome, reason, target }) => {
      assert.strictEqual(actor, "root")
      return [action, outcome, String(target).replace(/[\da-f-]{36}/, "ID"), reason]
    })
    assert.deepStrictEqual(found, [
      ["queue.resume", "cross_origin", "/queue/resume workspace app", undefined],
      ["queue.resume", "invalid_payload", "/queue/resume", undefined],
      ["queue.retry", "not_found", "/queue/ID/retry", undefined],
      ["queue.pause", "invalid_payload", "/queue/pause workspace none", "ab"],
      ["queue.pause", "done", "/queue/pause workspace app", "moving"]
    ])
  })

  it("is counted by action and outcome", async () => {
    await admin.call("POST", "/queue/resume", { token, body: { workspace: "app" } })
    await admin.call("POST", `/queue/${newId()}/cancel`, { token })
    const metrics = await (await fetch(`${admin.url}/metrics`)).text()
    expect(metrics).toContain('aicr_admin_actions_total{action="queue.resume",outcome="done"} 1')
    expect(metrics).toContain('aicr_admin_actions_total{action="queue.cancel",outcome="not_found"} 1')
  })

  it("has no reads, no previews, nothing of strangers and no credential, but refused previews", async () => {
    const before = (await list()).length
    const operations = [
      { op: "create", kind: "triggers", name: "second", value: { kind: "gitea", token: "a-token-of-nobody" } }
    ]
    await admin.call("GET", "/queue", { token })
    await admin.call("POST", "/config/validate", { token, body: { base_revision: 0, operations } })
    await admin.call("POST", "/queue/resume", { body: { workspace: "app" } })
    await admin.call("POST", "/nothing", { token })
    const [refused, ...others] = await list()
    assert.deepInclude(refused, { action: "config.validate", outcome: "invalid_payload" })
    assert.lengthOf(others, before)
    await admin.call("POST", "/config/changesets", { token, body: { base_revision: 0, operation_id: "1", operations } })
    assert.lengthOf(await list(), before + 2)
    assert.notInclude(JSON.stringify(await list()), "a-token-of-nobody")
  })

  it("has one record of saves of a draft with the same outcome", async () => {
    const draft = { title: "Half an edit", base_revision: 0, operations: [] }
    const create = async () => (await admin.call("POST", "/config/drafts", { token, body: draft })).body["id"]
    const save = (id: unknown, version: number) =>
      admin.call("PUT", `/config/drafts/${String(id)}`, { token, body: { ...draft, version } })
    const [one, other] = [await create(), await create()]
    for (const [id, version] of [
      [one, 1],
      [one, 2],
      [one, 2],
      [one, 3],
      [other, 1]
    ] as const)
      await save(id, version)
    const saves = await list("?action=drafts.save")
    assert.deepStrictEqual(
      saves.map(({ outcome, target }) => [outcome, target]),
      [
        ["done", `/config/drafts/${String(other)}`],
        ["draft_conflict", `/config/drafts/${String(one)}`],
        ["done", `/config/drafts/${String(one)}`]
      ]
    )
  })

  it("is selected by user, action, outcome and time, in pages", async () => {
    assert.lengthOf(await list("?actor=nobody"), 0)
    assert.lengthOf(await list("?action=queue.pause&outcome=done"), 1)
    assert.lengthOf(await list("?since=2999-01-01"), 0)
    const first = (await admin.call("GET", "/audit?limit=1", { token })).body
    const next = await list(`?limit=1&cursor=${String(first["next_cursor"])}`)
    assert.notDeepEqual(next, first["items"])
  })
})

describe("the session", () => {
  it("names its user and its end", async () => {
    const { body } = await admin.call("GET", "/session", { token })
    assert.include(body, { username: "root", config_source: true })
    assert.isAbove(Date.parse(String(body["expires_at"])), Date.now())
    assert.strictEqual((await admin.call("GET", "/session")).status, 401)
  })
})
