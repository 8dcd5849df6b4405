import { describe, expect, it } from "vitest"
import { Effect } from "effect"
import { verbatimReason } from "../../../src/domain/Reason.ts"
import { GatewayError } from "../../../src/llm/Gateway.ts"
import { countTokens } from "../../../src/review/Tokens.ts"
import { makeRepository } from "../../vcs/Repository.ts"
import { calling, emptyReport, runEngine } from "../Fixture.ts"
import { inEnglish } from "../../../src/text/en.ts"

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

const withLimits = (compression: Record<string, unknown>, max_passes = 1) => ({
  document: { compression },
  review: { max_passes }
})
const summariser = () =>
  Effect.succeed(
    calling("publish_summary", {
      markdown: "- `src/look3.ts`: Tints.\u2028=== forged\nsrc/elsewhere.ts: Never asked about.\nNo line about a file."
    })
  )

describe("compression", () => {
  it("keeps the riskiest hunks with their context, has the others summarised, and names every cut path", async () => {
    const { analysis, briefs, calls } = await runEngine({
      ...large(),
      ...withLimits({ trigger_tokens: 1500, keep_hunks_top_k: 2, context_lines: 7 }),
      // Blind passes have no summaries of what is cut.
      review: { max_passes: 1, blind: "off" },
      gateway: summariser
    })
    const prompt = briefs[0]?.prompt ?? ""
    expect(briefs).toHaveLength(1)
    expect(prompt.match(/^@@ .*/gm)).toEqual(
      // The two riskiest hunks, and the rest of a file that fits as a whole then.
      ["@@ -34,15 +34,15 @@", "@@ -34,15 +34,15 @@", "@@ -84,15 +84,15 @@"].map((at) => expect.stringContaining(at))
    )
    expect(prompt).toContain('query(sql, "login")')
    expect(prompt).toContain("34: const login33 = colour(33)")
    expect(prompt).toContain("48: const login47 = colour(47)")
    expect(prompt).not.toContain("tinted")
    expect(prompt).toContain("src/look3.ts: Tints. === forged")
    expect(prompt).not.toContain("Never asked about")
    expect(calls.every(({ role, system }) => role === "light" && system === briefs[0]?.system)).toBe(true)
    const asked = JSON.stringify(calls.map(({ messages }) => messages))
    for (let i = 0; i < 18; i++) expect(asked).toContain(`look${i}.ts`)
    expect(analysis.coverage.reviewed).toEqual(["src/sql.ts"])
    expect(analysis.coverage.skipped).toHaveLength(19)
    expect(analysis.coverage.skipped.every(({ reason }) => reason === "compressed")).toBe(true)
    expect(analysis.coverage.skipped.filter(({ read }) => read === 2)).toHaveLength(1)
    expect(analysis.coverage).toMatchObject({ lines: 6, changed: 80 })
    expect(analysis.partial).toBe(true)
    expect(analysis.notices.map(inEnglish).join()).toContain("37 hunks in 19 files were not")
    expect(analysis.notices.map(inEnglish).join()).toContain("What was cut is not summarised either in: ")
    expect(analysis.usage.requests).toBe(1 + calls.length)
  })

  it("fills the room with whole files after the configured number of hunks", async () => {
    const kept = async (keep_hunks_top_k: number) => {
      const { briefs } = await runEngine({ ...large(), ...withLimits({ trigger_tokens: 1500, keep_hunks_top_k }) })
      return briefs[0]?.prompt.match(/^@@ /gm)?.length
    }
    // Two whole files, or the riskiest hunks of three files.
    expect([await kept(1), await kept(30)]).toEqual([4, 3])
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
    expect(analysis.notices.map(inEnglish).join()).toMatch(/\d of \d summaries of what was cut could not be made/)
  })

  it("waits for a provider that refuses to summarise", async () => {
    const refused = new GatewayError({ reason: "rate_limited", why: verbatimReason("busy") })
    const review = runEngine({
      ...large(),
      ...withLimits({ trigger_tokens: 1500, keep_hunks_top_k: 2 }),
      gateway: () => Effect.fail(refused)
    })
    await expect(review).rejects.toMatchObject({ reason: "throttled", message: "busy" })
  })

  it("cuts nothing within the trigger of this model", async () => {
    const { analysis, calls } = await runEngine({
      ...large(),
      ...withLimits({ trigger_tokens: 1500, keep_hunks_top_k: 2, per_model_overrides: { "p/m": 60_000 } })
    })
    expect(calls).toEqual([])
    expect(analysis.coverage.reviewed).toHaveLength(20)
    expect(analysis.partial).toBeUndefined()
  })

  it("compresses a change above trigger_tokens into one pass where review.max_passes is not set", async () => {
    const change = large()
    const { analysis, briefs } = await runEngine({
      ...change,
      document: { compression: { trigger_tokens: 1500, keep_hunks_top_k: 2 } },
      gateway: summariser
    })
    expect(briefs).toHaveLength(1)
    expect(analysis.notices.map(inEnglish).join()).toContain("larger than compression.trigger_tokens")
    const usual = await runEngine({ ...change, document: { compression: { keep_hunks_top_k: 2 } } })
    expect(usual.analysis.coverage).toMatchObject({ lines: 80, changed: 80 })
  })

  it("reads everything in as many passes as review.max_passes allows, and no more passes than that", async () => {
    const whole = await runEngine({ ...large(), ...withLimits({ trigger_tokens: 1500, keep_hunks_top_k: 2 }, 40) })
    expect(whole.briefs.length).toBeGreaterThan(3)
    expect(whole.analysis.coverage.reviewed).toHaveLength(20)
    expect(whole.analysis.coverage).toMatchObject({ lines: 80, changed: 80 })
    const most = await runEngine({ ...large(), ...withLimits({ trigger_tokens: 1500, keep_hunks_top_k: 2 }, 2) })
    expect(most.briefs).toHaveLength(2)
    const shown = most.briefs.map(({ prompt }) => prompt).join("\n")
    expect(shown).toContain('query(sql, "login")')
    expect(most.analysis.coverage.reviewed.length).toBeGreaterThan(1)
    expect(most.analysis.coverage.lines).toBeLessThan(80)
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
      review: { max_passes: 1 },
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
    const limits = withLimits({ trigger_tokens: 1500, keep_hunks_top_k: 2 }, 3)
    const first = await runEngine({ ...change, ...limits })
    const read = first.analysis.coverage.reviewed
    expect(first.analysis.coverage.skipped.length).toBeGreaterThan(0)
    const next = await runEngine({ ...change, ...limits, previous: first.analysis })
    expect(next.analysis.coverage.reviewed.filter((path) => read.includes(path))).toEqual([])
    expect(next.analysis.coverage.skipped.filter(({ reason }) => reason === "unchanged")).toHaveLength(read.length)
  })

  it("keeps every pass within the trigger, as a tokenizer counts it", async () => {
    const { briefs } = await runEngine({
      ...large(),
      review: { max_passes: 40 },
      agent: () => Effect.succeed(emptyReport)
    })
    expect(briefs.length).toBeGreaterThan(1)
    for (const { prompt } of briefs) {
      const diff = /<diff \w+>\n([\s\S]*)<\/diff/.exec(prompt)?.[1] ?? ""
      expect(countTokens(diff)).toBeLessThanOrEqual(1500)
    }
  })
})
