/** The routes `/triggers/*` over HTTP: authentication, requests, responses, records and queue entries. */
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import * as fc from "fast-check"
import { afterEach, assert, describe, it } from "vitest"
import { parseTrigger } from "../../src/ingress/TriggerPayload.ts"
import * as Store from "../../src/store/StoreLayer.ts"
import { waitUntil } from "../harness/Wait.ts"
import { verbatimReason } from "../../src/domain/Reason.ts"
import type { Ingress, IngressSettings } from "./Ingress.ts"
import { env, startIngress } from "./Ingress.ts"

const head = "a".repeat(40)
const base = "b".repeat(40)

const document = {
  server: { auth: { api_key_env: "GLOBAL_KEY" } },
  triggers: [
    { name: "tea", kind: "gitea", webhook_secret_env: "SECRET", base_url: "https://gitea.test" },
    { name: "jo", kind: "forgejo", webhook_secret_env: "SECRET", base_url: "https://forgejo.test" },
    { name: "ci", kind: "manual" },
    { name: "depot", kind: "perforce", port: "ssl:p4:1666", depot_path: "//depot/main/..." },
    { name: "tree", kind: "subversion", repository_url: "https://svn.test/repo", enabled: false }
  ],
  workspaces: {
    instances: {
      app: { source_repo: { trigger: "tea", repo: "acme/app" }, auth: { api_key_env: "WORKSPACE_KEY" } },
      other: { source_repo: { trigger: "tea", repo: "acme/other" } },
      "twin-tea": { source_repo: { trigger: "tea", repo: "acme/twin" } },
      "twin-jo": { source_repo: { trigger: "jo", repo: "acme/twin" } },
      off: { source_repo: { trigger: "tea", repo: "acme/off" }, enabled: false },
      main: { source_repo: { trigger: "depot", repo: "//depot/main/..." } }
    }
  }
}

let ingress: Ingress
afterEach(() => ingress.stop())
const start = async (settings: IngressSettings = {}) => {
  ingress = await startIngress({ document, ...settings })
}

const call = async (path: string, body: unknown, headers: Record<string, string> = {}) => {
  const form = body instanceof URLSearchParams
  const response = await fetch(`${ingress.url}/triggers/${path}`, {
    method: "POST",
    headers: {
      "x-api-key": env.GLOBAL_KEY,
      ...(form ? {} : { "content-type": "application/json" }),
      ...headers
    },
    body: form ? body : typeof body === "string" ? body : JSON.stringify(body)
  })
  const answer: Record<string, unknown> = Object(await response.json())
  return { status: response.status, body: answer, headers: response.headers }
}
const record = (answer: { readonly body: Record<string, unknown> }) =>
  Effect.runPromise(ingress.receipts.get(String(answer.body["event_id"])))
const queued = (workspace: string) => Effect.runPromise(ingress.queue.load(workspace))
const keyless = { "x-api-key": "" }

describe("keys", () => {
  it.each<readonly [string, Record<string, string>, number]>([
    ["the global key", {}, 202],
    ["as bearer", { ...keyless, authorization: `Bearer ${env.GLOBAL_KEY}` }, 202],
    ["a workspace's key", { "x-api-key": env.WORKSPACE_KEY }, 202],
    ["a wrong key beside a right one", { "x-api-key": "wrong", authorization: `bearer ${env.GLOBAL_KEY}` }, 202],
    ["none", keyless, 401],
    ["a wrong one", { "x-api-key": "wrong" }, 401],
    ["the start of one", { "x-api-key": env.GLOBAL_KEY.slice(0, -1) }, 401],
    ["the webhook secret", { "x-api-key": env.SECRET }, 401],
    ["as basic", { ...keyless, authorization: `Basic ${env.GLOBAL_KEY}` }, 401]
  ])("%s", async (_, headers, status) => {
    await start()
    const answer = await call("manual", { repo: "acme/app", head, base }, headers)
    assert.strictEqual(answer.status, status)
    if (status !== 401) return
    assert.deepStrictEqual(answer.body, { accepted: false, reason: "unauthorized" })
    assert.deepStrictEqual(await Effect.runPromise(ingress.receipts.list({ limit: 10 })), [])
  })

  it("a workspace's key opens that workspace and does not tell of others", async () => {
    await start()
    const own = { "x-api-key": env.WORKSPACE_KEY }
    const unknown = await call("manual", { repo: "acme/nothing", head }, own)
    const foreign = await call("manual", { repo: "acme/other", head }, own)
    const { event_id: _a, ...said } = unknown.body
    const { event_id: _b, ...toldOfForeign } = foreign.body
    assert.deepStrictEqual([foreign.status, toldOfForeign], [unknown.status, said])
    assert.strictEqual(said["reason"], "repository_not_configured")
    assert.deepStrictEqual(await queued("other"), [])
  })

  it("switched off, or not configured, open nothing", async () => {
    const { server: _server, ...rest } = document
    for (const server of [{ auth: { api_key_env: "GLOBAL_KEY", enabled: false } }, {}]) {
      ingress = await startIngress({ document: { ...rest, server, workspaces: { instances: {} } } })
      assert.strictEqual((await call("manual", { repo: "acme/app", head })).status, 401)
      await ingress.stop()
    }
    await start()
  })

  it("a workspace's key that is switched off does not authenticate", async () => {
    const { app } = document.workspaces.instances
    const off = { ...app, auth: { ...app.auth, enabled: false } }
    await start({ document: { ...document, workspaces: { instances: { app: off } } } })
    const body = { repo: "acme/app", head, base }
    assert.strictEqual((await call("manual", body, { "x-api-key": env.WORKSPACE_KEY })).status, 401)
    assert.strictEqual((await call("manual", body)).status, 202)
  })

  it("a workspace's key that the document holds authenticates for it", async () => {
    const { app } = document.workspaces.instances
    const literal = { ...app, auth: { api_key: "a-key-in-the-document" } }
    await start({ document: { ...document, workspaces: { instances: { app: literal } } } })
    const response = await call("manual", { repo: "acme/app", head, base }, { "x-api-key": "a-key-in-the-document" })
    assert.strictEqual(response.status, 202)
  })

  it("a body without a valid key is not read", async () => {
    await start()
    const answer = await call("manual", "x".repeat(1000), keyless)
    assert.strictEqual(answer.status, 401)
    assert.strictEqual(answer.headers.get("connection"), "close")
  })
})

describe("manual and custom", () => {
  it("a requested review is recorded, queued, notified and responded to", async () => {
    await start()
    const answer = await call("custom", {
      repo: "Acme/App",
      base,
      head,
      title: "Nightly",
      url: "https://ci.test/7",
      author: { name: "Ada", email: "ada@acme.test", username: "ada" }
    })
    assert.deepInclude(answer.body, {
      accepted: true,
      provider: "manual",
      event: "custom",
      target_kind: "manual",
      workspace: "app",
      status: "queued"
    })
    const [entry] = await queued("app")
    assert.deepStrictEqual(entry?.change, {
      provider: "manual",
      trigger: "ci",
      host: "tea",
      workspace: "app",
      repo: { fullName: "Acme/App" },
      target: { kind: "manual", branch: `${base}..${head}` },
      head,
      base,
      title: "Nightly",
      url: "https://ci.test/7",
      author: { username: "ada", name: "Ada" }
    })
    assert.deepInclude(await record(answer), { trigger: "ci", workspace: "app", decision: "queued", repo: "Acme/App" })
    assert.notInclude(JSON.stringify(await record(answer)), "acme.test")
    assert.deepStrictEqual(ingress.woken.workspaces, ["app"])
  })

  it("a form is equivalent to JSON", async () => {
    await start()
    const form = new URLSearchParams({
      repo: "acme/app",
      head: "main",
      "author.username": "ada",
      "author[name]": "Ada"
    })
    assert.strictEqual((await call("manual", form)).status, 202)
    const [entry] = await queued("app")
    assert.deepInclude(entry?.change, { headRef: "main", author: { username: "ada", name: "Ada" } })
    assert.isUndefined(entry?.change.head)
  })

  it("once per idempotency key, or per body; other ranges of a repository do not replace each other", async () => {
    await start()
    const key = { "idempotency-key": "build-7" }
    const answers = [
      await call("manual", { repo: "acme/app", head, base }, key),
      await call("manual", { repo: "acme/app", head, base, title: "again" }, key),
      await call("manual", { repo: "acme/app", head: base }),
      await call("manual", { repo: "acme/app", head: base }),
      await call("manual", { repo: "acme/other", head }, key)
    ]
    assert.deepStrictEqual(
      answers.map(({ body }) => body["status"]),
      ["queued", "duplicate", "queued", "duplicate", "queued"]
    )
    assert.strictEqual(answers[0]?.body["event_id"], answers[1]?.body["event_id"])
    assert.lengthOf(await queued("app"), 2)
  })

  it("callers of different workspaces do not share keys, nor what their bodies say", async () => {
    await start()
    const key = { "idempotency-key": "build-7" }
    const twin = (workspace: string) => ({ repo: "acme/twin", head, workspace })
    const answers = [
      await call("manual", twin("twin-tea"), key),
      await call("manual", twin("twin-jo"), key),
      await call("manual", twin("twin-jo"), key),
      await call("manual", { repo: "acme/twin", head, trigger: "tea" }, key),
      await call("manual", { repo: "acme/twin", head, trigger: "jo" }),
      await call("manual", { repo: "acme/twin", head, trigger: "jo", title: "other" })
    ]
    assert.deepStrictEqual(
      answers.map(({ body }) => [body["workspace"], body["status"]]),
      [
        ["twin-tea", "queued"],
        ["twin-jo", "queued"],
        ["twin-jo", "duplicate"],
        ["twin-tea", "duplicate"],
        ["twin-jo", "coalesced"],
        ["twin-jo", "coalesced"]
      ]
    )
  })

  it("reports of a depot by holders of different keys are different reports", async () => {
    await start()
    const key = { "idempotency-key": "change-7" }
    const own = { ...key, "x-api-key": env.WORKSPACE_KEY }
    const answers = [
      await call("p4", { change: 7 }, own),
      await call("p4", { change: 7 }, key),
      await call("p4", { change: 7 }, key),
      await call("p4", { change: 8 }, { "x-api-key": env.WORKSPACE_KEY }),
      await call("p4", { change: 8 })
    ]
    assert.deepStrictEqual(
      answers.map(({ body }) => body["status"]),
      ["queued", "queued", "duplicate", "queued", "queued"]
    )
  })

  it.each<readonly [string, object, string]>([
    ["a repository nobody bound", { repo: "acme/nothing" }, "repository_not_configured"],
    ["one on two hosts", { repo: "acme/twin" }, "ambiguous_route"],
    ["a workspace that is off", { repo: "acme/off" }, "workspace_disabled"],
    ["a workspace that has another repository", { repo: "acme/app", workspace: "other" }, "repository_not_configured"],
    ["a trigger that is not there", { repo: "acme/app", trigger: "nope" }, "repository_not_configured"]
  ])("%s is not reviewed, and the record contains the reason", async (_, payload, reason) => {
    await start()
    const answer = await call("manual", { head, ...payload })
    assert.deepInclude(answer.body, { accepted: false, reason })
    assert.strictEqual(answer.status, 202)
    assert.deepInclude(await record(answer), { decision: "ignored", reason })
  })

  it("the caller may say which of two it means, by workspace or by host", async () => {
    await start()
    const answers = [
      await call("manual", { repo: "acme/twin", head, workspace: "twin-jo" }),
      await call("manual", { repo: "acme/twin", head, trigger: "tea" })
    ]
    assert.deepStrictEqual(
      answers.map(({ body }) => body["workspace"]),
      ["twin-jo", "twin-tea"]
    )
  })

  it.each<readonly [string, unknown, string, ReadonlyArray<string>]>([
    ["no JSON", "{", "invalid_json", [""]],
    ["no object", [1], "invalid_json", [""]],
    ["nothing", {}, "invalid_payload", ["repo", "head"]],
    ["a typing error", { repo: "acme/app", head, bsae: "main" }, "invalid_payload", ["bsae"]],
    ["an option for a branch", { repo: "acme/app", head: "--upload-pack=x" }, "invalid_payload", ["head"]],
    ["a way out", { repo: "acme/../app", head: "a..b" }, "invalid_payload", ["repo", "head"]],
    ["another kind", { repo: "acme/app", head, target_kind: "push" }, "invalid_payload", ["target_kind"]],
    [
      "types",
      { repo: 7, head: [1], author: "ada", url: "javascript:1" },
      "invalid_payload",
      ["repo", "head", "url", "author"]
    ],
    ["half a character", { repo: "acme/app", head: "\ud800", title: "\udc00" }, "invalid_payload", ["head", "title"]],
    ["a NUL", { repo: "acme/app", head, title: "a\u0000" }, "invalid_payload", ["title"]],
    ["too long", { repo: `acme/${"x".repeat(300)}`, head }, "invalid_payload", ["repo"]]
  ])("%s is refused with places", async (_, payload, reason, places) => {
    await start()
    const answer = await call("manual", payload)
    assert.strictEqual(answer.status, 400)
    assert.deepInclude(answer.body, { accepted: false, reason, provider: "manual" })
    const issues: ReadonlyArray<{ path: string }> = Object(answer.body["issues"])
    assert.sameMembers([...new Set(issues.map(({ path }) => path))], [...places])
    const [event] = await Effect.runPromise(ingress.receipts.list({ limit: 1 }))
    assert.deepInclude(event, { decision: "rejected", reason })
  })

  it("no body is more than can be parsed or refused", async () => {
    let parsed = 0
    const body = fc.oneof(
      fc.string(),
      fc.json(),
      fc.webQueryParameters(),
      fc.uint8Array().map((bytes) => bytes)
    )
    const field = fc.constantFrom("repo", "head", "base", "author", "change", "files", "revision", "url", "__proto__")
    const shaped = fc.dictionary(field, fc.jsonValue()).map((value) => JSON.stringify(value))
    fc.assert(
      fc.property(
        fc.constantFrom("manual" as const, "custom" as const, "p4" as const, "svn" as const),
        fc.constantFrom("application/json", "application/x-www-form-urlencoded", undefined),
        fc.oneof(body, shaped),
        (path, type, text) => {
          const bytes = typeof text === "string" ? new TextEncoder().encode(text) : text
          const payload = parseTrigger(path, type, bytes)
          assert.include(["Manual", "Depot", "Rejected"], payload._tag)
          if (payload._tag === "Rejected") assert.isNotEmpty(payload.issues)
          parsed++
        }
      ),
      { numRuns: 500 }
    )
    assert.strictEqual(parsed, 500)
    await start()
  })
})

describe("perforce and subversion", () => {
  it.each(["p4", "perforce", "depot_vcs"])("a changelist by /triggers/%s is stored for routing", async (path) => {
    await start()
    const answer = await call(path, {
      cl: 4711,
      p4_user: "ada",
      client: "ada-ws",
      depot_path: "//depot/main/src",
      files: ["//depot/main/src/a.c#3"],
      description: "Fix"
    })
    assert.strictEqual(answer.status, 202)
    assert.deepInclude(answer.body, { accepted: true, provider: "perforce", target_kind: "commit", status: "queued" })
    assert.deepStrictEqual((await record(answer))?.routing, {
      vcs: "perforce",
      revision: "4711",
      user: "ada",
      client: "ada-ws",
      path: "//depot/main/src",
      files: ["//depot/main/src/a.c#3"],
      description: "Fix"
    })
    const again = await call("p4", {
      cl: 4711,
      p4_user: "ada",
      client: "ada-ws",
      depot_path: "//depot/main/src",
      files: ["//depot/main/src/a.c#3"],
      description: "Fix"
    })
    assert.strictEqual(again.body["status"], "duplicate")
    assert.strictEqual(ingress.woken.reports, 1)
  })

  it("a form with one file per line", async () => {
    await start()
    const form = new URLSearchParams({ changelist: "12", files: "//depot/main/a\n//depot/main/b\n" })
    const answer = await call("p4", form)
    assert.deepStrictEqual((await record(answer))?.routing?.files, ["//depot/main/a", "//depot/main/b"])
  })

  it("the key's workspaces bound the routing", async () => {
    await start()
    const answer = await call("p4", { change: 1 }, { "x-api-key": env.WORKSPACE_KEY })
    assert.deepStrictEqual((await record(answer))?.routing?.workspaces, ["app"])
  })

  it.each<readonly [string, string, object, number, string]>([
    ["no changelist", "p4", { user: "ada" }, 400, "missing_changelist"],
    ["no number", "p4", { change: "abc" }, 400, "invalid_payload"],
    ["no revision", "svn", { author: "ada" }, 400, "missing_revision"],
    ["a trigger that is off", "svn", { revision: 7 }, 202, "trigger_disabled"],
    ["its old name", "tree_vcs", { rev: "7" }, 202, "trigger_disabled"]
  ])("%s", async (_, path, payload, status, reason) => {
    await start()
    const answer = await call(path, payload)
    assert.strictEqual(answer.status, status)
    assert.deepInclude(answer.body, { accepted: false, reason })
  })

  it("a kind without any trigger does not exist for any caller", async () => {
    await start({ document: { ...document, triggers: document.triggers.slice(0, 3), workspaces: { instances: {} } } })
    for (const path of ["p4", "svn"]) {
      assert.deepInclude(await call(path, {}, keyless), {
        status: 404,
        body: { accepted: false, reason: "trigger_not_configured" }
      })
    }
    const wrongMethod = await fetch(`${ingress.url}/triggers/manual`)
    assert.deepStrictEqual([wrongMethod.status, wrongMethod.headers.get("allow")], [405, "POST"])
  })
})

describe("when nothing more can be taken", () => {
  const broken = (pragma: string) => {
    let sql: SqlClient.SqlClient | undefined
    const records = Layer.fresh(Store.layerMemory).pipe(
      Layer.tap((context) =>
        Effect.sync(() => {
          sql = Context.get(context, SqlClient.SqlClient)
        })
      )
    )
    return { records, breakIt: () => Effect.runPromise(sql?.unsafe(pragma) ?? Effect.die(new Error("no database"))) }
  }

  it.each([
    ["the disk is full", "PRAGMA max_page_count = 1"],
    ["the file is read-only", "PRAGMA query_only = ON"]
  ])("%s: nothing is accepted, and the response requests a retry of everything", async (_, pragma) => {
    const { breakIt, records } = broken(pragma)
    await start({ records })
    await breakIt()
    // A body that fits into the last page may still be stored.
    const big = "x".repeat(900)
    const bodies: Array<readonly [string, unknown]> = [
      ["manual", { repo: "acme/app", head, title: big }],
      ["manual", { repo: "acme/nothing", head, title: big }],
      ["p4", { change: 1, description: big.repeat(20) }],
      ["manual", "{"]
    ]
    const answers = []
    for (let round = 0; round < 8; round++) {
      for (const [path, body] of bodies) {
        answers.push(await call(path, body, { "idempotency-key": `${round}` }))
      }
    }
    const last = answers.slice(-4)
    assert.deepStrictEqual(
      last.map(({ status, body, headers }) => [status, body["reason"], headers.get("retry-after")]),
      last.map(() => [503, "store_unavailable", "30"])
    )
    const stored = await Effect.runPromise(ingress.receipts.list({ limit: 100 }))
    assert.strictEqual(stored.length, answers.filter(({ status }) => status !== 503).length)
  })

  it("a full queue takes no more of a workspace, and of others it does", async () => {
    await start({ limits: { perWorkspace: 1, total: 100 } })
    const ask = (repo: string, number: number) => call("manual", { repo, head: String(number).padStart(40, "0") })
    assert.strictEqual((await ask("acme/app", 1)).body["status"], "queued")
    // The delivery that finds the queue full is stored already, and recovery queues it. Later ones are not stored.
    assert.strictEqual((await ask("acme/app", 2)).body["status"], "queued")
    const refused = await ask("acme/app", 3)
    assert.deepStrictEqual([refused.status, refused.body], [503, { accepted: false, reason: "queue_full" }])
    assert.strictEqual(refused.headers.get("retry-after"), "30")
    assert.strictEqual((await ask("acme/other", 1)).status, 202)
  })

  it("a key whose reports wait for their routing up to the limit reports no more, and other keys do until some are routed", async () => {
    await start({ document: { ...document, queue: { limits: { per_workspace: 2 } } } })
    const report = (change: number, key: string = env.GLOBAL_KEY) => call("p4", { change }, { "x-api-key": key })
    const [first] = [await report(1), await report(2)]
    const refused = await report(3)
    assert.deepStrictEqual([refused.status, refused.body], [503, { accepted: false, reason: "queue_full" }])
    assert.strictEqual(refused.headers.get("retry-after"), "30")
    assert.strictEqual((await report(3, env.WORKSPACE_KEY)).status, 202)
    assert.lengthOf(await Effect.runPromise(ingress.receipts.list({ limit: 10 })), 3)
    const routed = { outcome: "skipped", reason: verbatimReason("no_change") } as const
    await Effect.runPromise(ingress.receipts.settle([String(first.body["event_id"])], routed, 0))
    await waitUntil(async () => (await report(3)).status === 202, { describe: () => "another report is accepted" })
    assert.strictEqual((await report(4)).status, 503)
  })
})
