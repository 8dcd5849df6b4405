import { describe, expect, it } from "vitest"
import { Effect } from "effect"
import type { Brief } from "../../src/agent/Agent.ts"
import type { ReportedProblem } from "../../src/domain/Problem.ts"
import { makeRepository } from "../vcs/Repository.ts"
import type { Repository } from "../vcs/Repository.ts"
import { emptyReport, runEngine } from "./Fixture.ts"

const lines = (name: string, count = 40): Array<string> =>
  Array.from({ length: count }, (_, i) => `const ${name}${i} = compute(${i})`)
const text = (of: ReadonlyArray<string>): string => `${of.join("\n")}\n`

/** Reports every line that contains `wrong`. */
const finder =
  (asked: Array<string>) =>
  ({ prompt }: Brief) => {
    asked.push(prompt)
    const problems: Array<ReportedProblem> = []
    let file = ""
    for (const line of prompt.split("\n")) {
      file = /^=== (\S+) /.exec(line)?.[1] ?? file
      const [, number, code] = /^(\d+)\+: (.*wrong.*)$/.exec(line) ?? []
      if (number === undefined || code === undefined) continue
      problems.push({ file, line: Number(number), severity: "high", category: "bug", message: "wrong", quote: code })
    }
    return Effect.succeed({ ...emptyReport, problems, summary: `Read ${problems.length}.` })
  }

/** Two files with two equal faults each; equal code, so that a quote alone could not say which is meant. */
const change = (repository: Repository, b: ReadonlyArray<string>) => {
  repository.write("src/a.ts", text(lines("a").with(9, "doWrong() // wrong").with(29, "doWrong() // wrong")))
  repository.write("src/b.ts", text(b))
}

const start = () => {
  const repository = makeRepository()
  repository.write("src/a.ts", text(lines("a")))
  repository.write("src/b.ts", text(lines("b")))
  const base = repository.commit("base")
  repository.git("switch", "-q", "-c", "feature")
  change(repository, lines("b").with(19, "other() // wrong"))
  return { repository, base, head: repository.commit("head") }
}

const placesOf = (analysis: { readonly findings: ReadonlyArray<{ readonly anchor?: unknown }> }) =>
  analysis.findings.map(({ anchor }) => {
    const { path, line } = Object(anchor)
    return `${path}:${line}`
  })

describe("an incremental review", () => {
  it("reads only what changed after a rebase, and carries the rest to its new lines", async () => {
    const { repository, base, head } = start()
    const asked: Array<string> = []
    const agent = finder(asked)
    const first = await runEngine({ repository, base, head, agent })
    expect(placesOf(first.analysis)).toEqual(["src/a.ts:10", "src/a.ts:30", "src/b.ts:20"])

    // The base branch gains lines above everything and between the faults of a.ts; the branch is rebased on it.
    repository.git("switch", "-q", "main")
    const grown = ["x", "y", "z", ...lines("a").slice(0, 20), "between", ...lines("a").slice(20)]
    repository.write("src/a.ts", text(grown))
    const newBase = repository.commit("base moves")
    repository.git("switch", "-q", "-C", "feature")
    repository.write("src/a.ts", text(grown.with(12, "doWrong() // wrong").with(33, "doWrong() // wrong")))
    repository.write("src/b.ts", text(lines("b").with(24, "another() // wrong")))
    const second = await runEngine({
      repository,
      base: newBase,
      head: repository.commit("rebased"),
      agent,
      previous: first.analysis
    })

    expect(asked).toHaveLength(2)
    expect(asked[1]).toContain("=== src/b.ts")
    expect(asked[1]).not.toContain("=== src/a.ts")
    expect(asked[1]).not.toContain("doWrong")
    expect(placesOf(second.analysis)).toEqual(["src/a.ts:13", "src/a.ts:34", "src/b.ts:25"])
    expect(second.analysis.coverage.reviewed).toEqual(["src/b.ts"])
    expect(second.analysis.coverage.skipped).toEqual([{ path: "src/a.ts", reason: "unchanged" }])
    const prints = (of: typeof first) => of.analysis.findings.slice(0, 2).map(({ fingerprint }) => fingerprint)
    expect(prints(second)).toEqual(prints(first))
  })

  it("calls no model when nothing changed, and keeps summary and findings for the next one", async () => {
    const { repository, base, head } = start()
    const asked: Array<string> = []
    const agent = finder(asked)
    const first = await runEngine({ repository, base, head, agent })
    repository.git("commit", "-q", "--allow-empty", "--amend", "-m", "reworded")
    const again = repository.git("rev-parse", "HEAD")
    const second = await runEngine({ repository, base, head: again, agent, previous: first.analysis })
    const third = await runEngine({ repository, base, head: again, agent, previous: second.analysis })
    expect(asked).toHaveLength(1)
    for (const { analysis } of [second, third]) {
      expect(analysis.findings).toEqual(first.analysis.findings)
      expect(analysis.summary).toBe("Read 3.")
      expect(analysis.skipped).toBeUndefined()
      expect(analysis.usage.requests).toBe(0)
      expect(analysis.coverage).toMatchObject({ reviewed: [], lines: 0 })
      expect(analysis.patches).toEqual(first.analysis.patches)
    }
  })

  it("drops what was found in files that the change no longer touches", async () => {
    const { repository, base, head } = start()
    const agent = finder([])
    const first = await runEngine({ repository, base, head, agent })
    repository.write("src/a.ts", text(lines("a")))
    const second = await runEngine({
      repository,
      base,
      head: repository.commit("taken back"),
      agent,
      previous: first.analysis
    })
    expect(placesOf(second.analysis)).toEqual(["src/b.ts:20"])
  })

  it("reads a file again where problems were over the limit", async () => {
    const { repository, base, head } = start()
    const asked: Array<string> = []
    const first = await runEngine({ repository, base, head, agent: finder(asked), review: { max_problems: 2 } })
    await runEngine({ repository, base, head, agent: finder(asked), previous: first.analysis })
    expect(asked[1]).toContain("=== src/b.ts")
    expect(asked[1]).not.toContain("=== src/a.ts")
  })

  it("reads everything where incremental is off or an old record has no patches", async () => {
    const { repository, base, head } = start()
    const asked: Array<string> = []
    const agent = finder(asked)
    const { analysis } = await runEngine({ repository, base, head, agent })
    const { patches: _, ...old } = analysis
    await runEngine({ repository, base, head, agent, previous: analysis, review: { incremental: false } })
    await runEngine({ repository, base, head, agent, previous: old })
    for (const prompt of asked) expect(prompt.match(/^=== /gm)?.length).toBeGreaterThanOrEqual(2)
    expect(asked).toHaveLength(3)
  })
})
