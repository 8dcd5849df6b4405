/** The endpoints of statistics over HTTP. */
import { Effect } from "effect"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { Usd } from "../../../src/domain/Money.ts"
import { publishRun, settle } from "../../store/EndedRuns.ts"
import { analysis } from "../../store/Fixtures.ts"
import { startAdmin } from "../AdminServer.ts"
import type { AdminServer } from "../AdminServer.ts"

let admin: AdminServer
let token: unknown
const now = Date.now()

beforeAll(async () => {
  admin = await startAdmin({ document: { admin: { figures_by_author: true } } })
  token = await admin.token()
  const usage = { requests: 2, inputTokens: 100, outputTokens: 20, cachedTokens: 40 }
  const byModel = { "demo/rules": { ...usage, reasoningTokens: 5, costUsd: Usd.make(0.03) } }
  const priced = { ...analysis, usage: { ...usage, costUsd: Usd.make(0.03), byModel } }
  await admin.run(
    Effect.gen(function* () {
      yield* settle(yield* publishRun({ startedAt: now - 2000, analysis: priced }), now)
      const clean = { ...priced, findings: [] }
      yield* settle(yield* publishRun({ head: "b".repeat(40), startedAt: now - 2000, analysis: clean }), now)
      for (let number = 20; number < 43; number++) {
        yield* settle(yield* publishRun({ number, repo: "Acme/Other", startedAt: now - 2000 }), now)
      }
    })
  )
})
afterAll(() => admin.stop())

const get = (path: string) => admin.call("GET", path, { token })

describe("GET /stats", () => {
  it("returns windows, projects, providers and the newest runs", async () => {
    const { body, status } = await get("/stats")
    assert.strictEqual(status, 200)
    assert.strictEqual(body["timezone"], "UTC")
    const all = Object(body["windows"]).all
    assert.deepInclude(all.runs, { total: 25, succeeded: 25, failed: 0 })
    assert.deepInclude(all.problems, { high: 24, low: 0 })
    // The cost of runs without a price is not part of the sum, and visible.
    assert.deepInclude(all, { cost_usd: 0.06, runs_of_known_cost: 2, runs_of_unknown_cost: 23, issues_created: 0 })
    assert.isNull(all.cost_per_accepted_finding_usd)
    assert.deepInclude(all.llm, { requests: 27, input_tokens: 430, cached_tokens: 80, reasoning_tokens: 10 })
    assert.deepInclude(all.duration, { runs: 25, average_ms: 2000 })
    assert.deepInclude(all.findings, { published: 24, fixed: 1, dismissed: 0, open: 23, accepted_rate: 0.0417 })
    const projects = Object(body["projects"])
    assert.deepStrictEqual(
      new Set(projects.map((one: object) => Object(one).repository)),
      new Set(["Acme/App", "Acme/Other"])
    )
    const other = projects.find((one: object) => Object(one).repository === "Acme/Other")
    assert.deepInclude(other, { cost_usd: null, runs_of_unknown_cost: 23, workspace: "app", trigger: "main" })
    const app = projects.find((one: object) => Object(one).repository === "Acme/App")
    assert.deepInclude(app, { cost_usd: 0.06, cost_per_accepted_finding_usd: 0.06, deleted_at: null })
    assert.deepInclude(Object(body["providers"])[0], { provider: "demo", model: "rules", lines: 300 })
    assert.strictEqual(Object(body["recent_runs"]).length, 20)
  })

  it.each(["/stats", "/stats/projects", "/stats/providers", "/stats/outcomes", "/stats/timeline"])(
    "%s needs a session",
    async (path) => {
      assert.strictEqual((await admin.call("GET", path)).status, 401)
    }
  )
})

describe("GET /stats/outcomes", () => {
  it("lists every finding once, in pages, without the digests of its code", async () => {
    const seen: Array<string> = []
    let cursor = ""
    do {
      const { body, status } = await get(`/stats/outcomes?limit=10${cursor}`)
      assert.strictEqual(status, 200)
      const items = Object(body["items"])
      assert.isAtMost(items.length, 10)
      for (const one of items) {
        seen.push(`${one.target_key} ${one.fingerprint}`)
        assert.deepInclude(one, {
          outcome: one.target_key.includes("acme/app") ? "fixed" : "open",
          title: "Off by one"
        })
        assert.doesNotHaveAnyKeys(one, ["code", "evidence", "anchor", "settled", "dismissed_by"])
      }
      cursor = body["next_cursor"] === null ? "" : `&cursor=${encodeURIComponent(String(body["next_cursor"]))}`
    } while (cursor !== "")
    assert.lengthOf(seen, 24)
    assert.lengthOf([...new Set(seen)], 24)
  })

  it("begins at a time, and refuses another cursor", async () => {
    const later = encodeURIComponent(new Date(now + 86_400_000).toISOString())
    assert.deepStrictEqual((await get(`/stats/outcomes?since=${later}`)).body["items"], [])
    assert.strictEqual((await get("/stats/outcomes?cursor=nothing")).status, 400)
  })
})

describe("arrays", () => {
  it("contain projects and providers with runs since a day", async () => {
    const today = encodeURIComponent(new Date(now).toISOString())
    const later = encodeURIComponent(new Date(now + 86_400_000).toISOString())
    for (const name of ["projects", "providers"]) {
      const found = async (query: string) => Object((await get(`/stats/${name}${query}`)).body).length
      assert.deepStrictEqual(
        [await found(""), await found(`?since=${today}`), await found(`?since=${later}`)],
        name === "projects" ? [2, 2, 0] : [1, 1, 0]
      )
    }
  })

  it("have one item per hour or day", async () => {
    const days = Object((await get("/stats/timeline")).body)
    assert.strictEqual(days.length, 90)
    assert.deepInclude(days.at(-1).runs, { total: 25 })
    assert.strictEqual(days[0].runs.total, 0)
    assert.strictEqual(Object((await get("/stats/timeline?bucket=hour")).body).length, 48)
  })

  it.each([
    ["/stats?since=2026-01-01", "since"],
    ["/stats/projects?since=yesterday", "since"],
    ["/stats/providers?limit=3", "limit"],
    ["/stats/timeline?bucket=week", "bucket"]
  ])("%s is refused because of %s", async (path, name) => {
    const { body, status } = await get(path)
    assert.strictEqual(status, 400)
    assert.match(JSON.stringify(body["issues"]), new RegExp(`"path":"${name}"`))
  })
})

describe("GET /stats/authors", () => {
  it("counts findings by author for administrators, as long as the runs are kept", async () => {
    await admin.run(
      Effect.gen(function* () {
        for (const [at, author] of ["Ada", "ada", "o'Brien \u0000"].entries())
          yield* settle(yield* publishRun({ number: 60 + at, author, team: "payments", startedAt: now - 2000 }), now)
      })
    )
    const { body, status } = await get("/stats/authors")
    assert.strictEqual(status, 200)
    const items: ReadonlyArray<{ readonly name: string; readonly found: number }> = Object(body["items"])
    assert.deepInclude(
      items.map(({ found, name }) => `${name} ${found}`),
      "main:ada 2"
    )
    const viewer = (
      await admin.call("POST", "/tokens", { token, body: { name: "of-viewer", scopes: [], role: "editor" } })
    ).body
    assert.strictEqual((await admin.call("GET", "/stats/authors", { token: viewer["token"] })).status, 403)
    // The other figures have no author.
    for (const path of [
      "/stats",
      "/stats/periods?by=team",
      "/stats/findings?by=team",
      "/stats/projects?team=payments"
    ]) {
      const other = await get(path)
      assert.strictEqual(other.status, 200)
      assert.notMatch(JSON.stringify({ ...other.body, recent_runs: [] }), /brien/i)
    }
  })

  it("is off by default", async () => {
    const other = await startAdmin()
    const refused = await other.call("GET", "/stats/authors", { token: await other.token() })
    assert.deepInclude(refused.body, { status: 409, code: "figures_off" })
    assert.include(String(refused.body["detail"]), "admin.figures_by_author")
    await other.stop()
  })
})

describe("GET /stats/periods", () => {
  it("compares teams with the days before, and refuses hours of a team", async () => {
    const { body, status } = await get(`/stats/periods?by=team&since=${new Date(now).toISOString()}`)
    assert.strictEqual(status, 200)
    const team = Object(body)[0]
    assert.deepInclude(team, { name: "payments" })
    assert.strictEqual(team.runs.total, 3)
    assert.strictEqual(team.before.runs.total, 0)
    assert.strictEqual((await get("/stats/timeline?bucket=hour&team=payments")).status, 400)
    assert.strictEqual((await get("/stats/timeline?bucket=day&team=payments")).status, 200)
    assert.strictEqual((await get("/stats/periods?by=author")).status, 400)
  })
})
