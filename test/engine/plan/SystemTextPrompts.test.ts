/**
 * Effects of a workspace's settings on the system prompt, on the end of a review and on its log, compared with the
 * specification's table.
 */
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { Effect, Logger } from "effect"
import { verbatimReason } from "../../../src/domain/Reason.ts"
import { AgentError } from "../../../src/agent/Agent.ts"
import { analyseNatively, passLimits } from "../../../src/agent/native/NativeLlm.ts"
import { Gateway } from "../../../src/llm/Gateway.ts"
import { basePrompt } from "../../../src/domain/BasePrompt.ts"
import { makeRepository, temporaryFolder } from "../../vcs/Repository.ts"
import { calling, emptyReport, runEngine } from "../Fixture.ts"
import { owned } from "../../harness/Owners.ts"
import { inEnglish } from "../../../src/text/en.ts"

const change = () => {
  const repository = makeRepository()
  const base = repository.commit("base")
  repository.write("src/a.ts", "one()\n")
  return { repository, base, head: repository.commit("head") }
}

const named = {
  base: "---\nname: Ours\nmodel: any\n---\n\nOUR BASE",
  extra: "OUR EXTRA",
  plain: "---\nnot a frontmatter, a line"
}

/** The system prompt that a workspace's prompt block leads to. */
const systemOf = async (prompt: object, defaults: object = {}, review: Record<string, unknown> = {}) => {
  const { briefs } = await runEngine({
    ...change(),
    review,
    document: {
      prompts: { system: named },
      workspaces: {
        defaults: { prompt: defaults },
        instances: { w: { source_repo: { trigger: "t", repo: "a/b" }, prompt } }
      }
    }
  })
  return briefs[0]?.system ?? ""
}

const file = join(temporaryFolder(), "base.md")
writeFileSync(file, "---\ntitle: x\n---\nBASE OF A FILE\n")

describe("the system prompt", () => {
  it.each<readonly [string, object, object, string]>([
    ["nothing set: the built-in base", {}, {}, basePrompt.slice(0, 60)],
    ["a named base, its metadata left out", { system_prompt: "base" }, {}, "OUR BASE\n\n# How"],
    ["a file", { base_system_prompt_file: file }, {}, "BASE OF A FILE\n\n# How"],
    ["a name wins over a file", { base_system_prompt_file: file, system_prompt: "base" }, {}, "OUR BASE\n\n# How"],
    [
      "an extra after the base",
      { extra_system_prompt: "extra", system_prompt: "base" },
      {},
      "OUR BASE\n\nOUR EXTRA\n\n# How"
    ],
    ["defaults of all workspaces", {}, { system_prompt: "base" }, "OUR BASE\n\n# How"],
    [
      "a workspace's own before the defaults'",
      { base_system_prompt_file: file },
      { extra_system_prompt: "extra" },
      "BASE OF A FILE\n\nOUR EXTRA\n\n# How"
    ],
    ["three dashes that are no metadata", { system_prompt: "plain" }, {}, "---\nnot a frontmatter"]
  ])("%s", async (_, prompt, defaults, begins) => {
    const system = await systemOf(prompt, defaults)
    expect(system.startsWith(begins)).toBe(true)
    // The rules of tools and data stand whatever the base is.
    for (const rule of ["# How to answer", "# What is data", "# Language"]) expect(system).toContain(rule)
  })

  it("an empty document leaves the built-in base; a file that is not there fails with its name", async () => {
    const empty = join(temporaryFolder(), "empty.md")
    writeFileSync(empty, "---\ntitle: x\n---\n  \n")
    expect(await systemOf({ base_system_prompt_file: empty })).toContain(basePrompt.slice(0, 60))
    await expect(systemOf({ base_system_prompt_file: "gone.md" })).rejects.toThrow(
      /gone\.md of workspace w cannot be read/
    )
  })

  it("names the language of the output in every question", async () => {
    const system = await systemOf({}, {}, { output_language: "pt-BR" })
    expect(system).toContain('language with the tag or name "pt-BR"')
    const problem = {
      file: "src/a.ts",
      severity: "high" as const,
      category: "correctness",
      message: "m",
      quote: "one()"
    }
    const { calls } = await runEngine({
      ...change(),
      review: { output_language: "pt-BR", verification: "auto" },
      agent: () => Effect.succeed({ ...emptyReport, problems: [problem] })
    })
    expect(calls[0]?.system).toContain('"pt-BR"')
  })

  it("offers to pass over a clean change where skip_lgtm is on", async () => {
    expect(await systemOf({}, {}, { skip_lgtm: true })).toContain("skip replaces it")
    expect(await systemOf({}, {}, { skip_lgtm: false })).toContain("instead of skip")
  })
})

describe("the end of a review", () => {
  const skipping = () => Effect.succeed({ ...emptyReport, skipped: "only comments" })
  it("of a clean change is skipped where skip_lgtm is on, and posted where it is off", async () => {
    const on = await runEngine({ ...change(), agent: skipping, review: { skip_lgtm: true } })
    expect([on.analysis.skipped, on.analysis.summary]).toEqual([verbatimReason("only comments"), ""])
    const off = await runEngine({ ...change(), agent: skipping, review: { skip_lgtm: false } })
    expect([off.analysis.skipped, off.analysis.summary]).toEqual([undefined, "only comments"])
  })

  it("has severities by rules, so that min_severity and the second look go by them", async () => {
    const problem = { file: "src/a.ts", severity: "critical" as const, message: "m", quote: "one()" }
    const problems = [
      { ...problem, category: "style" },
      { ...problem, category: "correctness", confidence: 0.4, quote: "two()" },
      { ...problem, category: "security", confidence: 0.9 }
    ]
    const begun = change()
    begun.repository.write("src/a.ts", "one()\ntwo()\n")
    const { analysis, calls } = await runEngine({
      ...begun,
      head: begun.repository.commit("two"),
      review: { min_severity: "medium", verification: "auto" },
      agent: () => Effect.succeed({ ...emptyReport, problems })
    })
    expect(analysis.findings.map((one) => [one.problem.category, one.problem.severity])).toEqual([
      ["security", "critical"],
      ["correctness", "medium"]
    ])
    expect(analysis.notices.map(inEnglish).join()).toContain("1 problems are below review.min_severity (medium)")
    expect(calls).toHaveLength(1)
  })

  it.each([
    [true, 1],
    [false, 0]
  ])("log_thinking %s logs %i steps", async (log_thinking, count) => {
    const logged: Array<unknown> = []
    const gateway = Gateway.of({
      call: () => Effect.succeed(calling("publish_summary", { markdown: "fine" }))
    })
    await runEngine({
      ...change(),
      review: { log_thinking },
      agent: (brief) =>
        analyseNatively(passLimits)(brief).pipe(
          Effect.provideService(Gateway, gateway),
          owned,
          Effect.provide(Logger.layer([Logger.make(({ message }) => void logged.push(message))])),
          Effect.mapError((error) => new AgentError({ reason: "failed", why: verbatimReason(error.message) }))
        )
    })
    expect(logged.filter((message) => JSON.stringify(message).includes("agent step"))).toHaveLength(count)
  })
})
