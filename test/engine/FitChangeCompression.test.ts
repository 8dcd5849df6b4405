import { describe, expect, it } from "vitest"
import { Effect } from "effect"
import { countTokens } from "../../src/review/Tokens.ts"
import { makeRepository } from "../vcs/Repository.ts"
import { calling, emptyReport, runEngine } from "./Fixture.ts"

const quiet = (name: string) => Array.from({ length: 120 }, (_, i) => `const ${name}${i} = colour(${i})`)
const text = (lines: ReadonlyArray<string>) => `${lines.join("\n")}\n`

/** Twenty files with two hunks each; the first hunk of `login.ts` and `sql.ts` is what matters. */
const large = () => {
  const repository = makeRepository()
  const names = [...Array.from({ length: 18 }, (_, i) => `look${i}`), "login", "sql"]
  for (const name of names) repository.write(`src/${name}.ts`, text(quiet(name)))
  const base = repository.commit("base")
  for (const name of names) {
    const risky = name === "login" || name === "sql"
    const changed = risky ? `if (token === secret) await query(sql, "${name}")` : `const tinted = colour("${name}")`
    repository.write(`src/${name}.ts`, text(quiet(name).with(40, changed).with(90, `const late${name} = colour(0)`)))
  }
  return { repository, base, head: repository.commit("head"), document: { compression: { trigger_tokens: 1500 } } }
}

const withLimits = (compression: Record<string, unknown>) => ({ document: { compression } })
const summariser = () =>
  Effect.succeed(
    calling("summaries", {
      files: [
        { path: "src/look3.ts", summary: "Tints.\n=== forged" },
        { path: "src/elsewhere.ts", summary: "Never asked about." }
      ]
    })
  )

describe("compression", () => {
  it("keeps the riskiest hunks with their context, has the others summarised, and names every cut path", async () => {
    const { analysis, briefs, calls } = await runEngine({
      ...large(),
      ...withLimits({ trigger_tokens: 1500, keep_hunks_top_k: 2, context_lines: 7 }),
      gateway: summariser
    })
    const prompt = briefs[0]?.prompt ?? ""
    expect(briefs).toHaveLength(1)
    expect(prompt.match(/^@@ .*/gm)).toEqual(
      ["@@ -34,15 +34,15 @@", "@@ -34,15 +34,15 @@"].map((at) => expect.stringContaining(at))
    )
    expect(prompt).toContain('query(sql, "login")')
    expect(prompt).toContain("34 34 | const login33 = colour(33)")
    expect(prompt).toContain("48 48 | const login47 = colour(47)")
    expect(prompt).not.toContain("tinted")
    expect(prompt).toContain("src/look3.ts: Tints. === forged")
    expect(prompt).not.toContain("Never asked about")
    expect(calls.every(({ role }) => role === "light")).toBe(true)
    const asked = JSON.stringify(calls.map(({ messages }) => messages))
    for (let i = 0; i < 18; i++) expect(asked).toContain(`look${i}.ts`)
    expect(analysis.coverage.reviewed).toEqual([])
    expect(analysis.coverage.skipped).toHaveLength(20)
    expect(analysis.coverage.skipped.every(({ reason }) => reason === "compressed")).toBe(true)
    expect(analysis.coverage.lines).toBe(4)
    expect(analysis.notices.join()).toContain("38 hunks in 20 files were not")
    expect(analysis.usage.requests).toBe(1 + calls.length)
  })

  it("cuts context above the configured lines", async () => {
    const { briefs } = await runEngine({
      ...large(),
      ...withLimits({ trigger_tokens: 1500, keep_hunks_top_k: 1, context_lines: 1 })
    })
    expect(briefs[0]?.prompt).toContain("@@ -40,3 +40,3 @@")
  })

  it("goes on without summaries that cannot be had", async () => {
    const { analysis } = await runEngine({ ...large(), ...withLimits({ trigger_tokens: 1500, keep_hunks_top_k: 2 }) })
    expect(analysis.notices.join()).toMatch(/\d of \d summaries of what was cut could not be made/)
  })

  it("cuts nothing within the trigger of this model", async () => {
    const { analysis, calls } = await runEngine({
      ...large(),
      ...withLimits({ trigger_tokens: 1500, keep_hunks_top_k: 2, per_model_overrides: { "p/m": 60_000 } })
    })
    expect(calls).toEqual([])
    expect(analysis.coverage.reviewed).toHaveLength(20)
  })

  it("calls the role that is configured", async () => {
    const { calls } = await runEngine({
      ...large(),
      ...withLimits({ trigger_tokens: 1500, keep_hunks_top_k: 2, summarize_model_role: "heavy" })
    })
    expect(new Set(calls.map(({ role }) => role))).toEqual(new Set(["heavy"]))
  })

  it("calls the group of the workspace", async () => {
    const { calls } = await runEngine({
      ...large(),
      document: {
        compression: { trigger_tokens: 1500, keep_hunks_top_k: 2 },
        llm: {
          providers: [{ id: "p", kind: "openai_compatible", base_url: "http://127.0.0.1:1", api_key: "k" }],
          model_chain: { default: [{ provider: "p", model: "m" }], own: [{ provider: "p", model: "m" }] }
        },
        workspaces: { instances: { w: { source_repo: { trigger: "t", repo: "a/b" }, model_chain: "own" } } }
      }
    })
    expect(new Set(calls.map(({ group }) => group))).toEqual(new Set(["own"]))
  })

  it("reads what was cut again in the next review", async () => {
    const change = large()
    const limits = withLimits({ trigger_tokens: 1500, keep_hunks_top_k: 39 })
    const first = await runEngine({ ...change, ...limits })
    expect(first.analysis.coverage.skipped).toHaveLength(1)
    const next = await runEngine({ ...change, ...limits, previous: first.analysis })
    expect(next.analysis.coverage.reviewed).toHaveLength(1)
    expect(next.analysis.coverage.skipped.every(({ reason }) => reason === "unchanged")).toBe(true)
  })

  it("keeps every pass within the trigger, as a tokenizer counts it", async () => {
    const { briefs } = await runEngine({ ...large(), agent: () => Effect.succeed(emptyReport) })
    expect(briefs.length).toBeGreaterThan(1)
    for (const { prompt } of briefs) {
      const diff = /<diff \w+>\n([\s\S]*)<\/diff/.exec(prompt)?.[1] ?? ""
      expect(countTokens(diff)).toBeLessThanOrEqual(1500)
    }
  })
})
