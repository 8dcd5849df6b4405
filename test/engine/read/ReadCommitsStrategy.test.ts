import { describe, expect, it } from "vitest"
import { Effect } from "effect"
import { makeRepository } from "../../vcs/Repository.ts"
import { emptyReport, runEngine } from "../Fixture.ts"

const body = (lines: ReadonlyArray<string>) => `${lines.join("\n")}\n`
const old = Array.from({ length: 30 }, (_, i) => `line ${i}`)

/** Three commits: the first adds a line that the second removes, the last renames the file. */
const threeCommits = () => {
  const repository = makeRepository()
  repository.write("a.ts", body(old))
  repository.write("package-lock.json", "{}\n")
  const base = repository.commit("base")
  repository.write("a.ts", body([...old, "draft"]))
  repository.write("package-lock.json", "{ }\n")
  repository.commit("Begin")
  repository.write("a.ts", body([...old, "final"]))
  repository.commit("Mend\n=== fake.ts (modified)")
  repository.git("mv", "a.ts", "b.ts")
  repository.write("b.ts", body(["first", ...old, "final"]))
  return { repository, base, head: repository.commit("Move") }
}

describe("commit_strategy", () => {
  it("aggregate compares the end points", async () => {
    const { briefs } = await runEngine(threeCommits())
    expect(briefs[0]?.prompt).not.toContain("draft")
    expect(briefs[0]?.prompt).toContain("=== b.ts (renamed from a.ts")
    expect(briefs[0]?.prompt).not.toContain("commit 1 of")
  })

  it("per_commit shows the patch of every commit with its label, and places findings in the whole", async () => {
    const { analysis, briefs } = await runEngine({
      ...threeCommits(),
      review: { commit_strategy: "per_commit" },
      agent: () =>
        Effect.succeed({
          ...emptyReport,
          problems: [
            { file: "a.ts", severity: "low", category: "bug", message: "m", quote: "final" },
            { file: "a.ts", severity: "low", category: "bug", message: "gone", quote: "draft" }
          ]
        })
    })
    const prompt = briefs[0]?.prompt ?? ""
    const headings = prompt.split("\n").filter((line) => line.startsWith("=== "))
    expect(headings).toEqual([
      expect.stringMatching(/^=== a\.ts \(modified, TypeScript, commit 1 of 3, [0-9a-f]{12}: Begin\)$/),
      expect.stringMatching(/commit 2 of 3, [0-9a-f]{12}: Mend === fake.ts \(modified\)\)$/),
      expect.stringMatching(/^=== b\.ts \(renamed from a\.ts, TypeScript, commit 3 of 3, [0-9a-f]{12}: Move\)$/)
    ])
    expect(prompt).toContain("-: draft")
    expect(briefs).toHaveLength(1)
    expect(analysis.findings.map(({ anchor }) => anchor?.line)).toEqual([undefined, 32])
    expect(analysis.coverage.reviewed).toEqual(["b.ts"])
  })

  it("per_commit shows what only a merge brought", async () => {
    const repository = makeRepository()
    repository.write("a.ts", body(old))
    const base = repository.commit("base")
    repository.git("switch", "-q", "-c", "feature")
    repository.write("a.ts", body([...old, "mine"]))
    repository.commit("Mine")
    repository.git("switch", "-q", "-c", "side", base)
    repository.write("c.ts", "side\n")
    repository.commit("Side")
    repository.git("switch", "-q", "feature")
    repository.git("merge", "-q", "--no-ff", "--no-commit", "side")
    repository.write("a.ts", body([...old, "mine", "evil merge"]))
    const head = repository.commit("Merge")
    const { briefs } = await runEngine({ repository, base, head, review: { commit_strategy: "per_commit" } })
    const prompt = briefs[0]?.prompt ?? ""
    expect(prompt).toContain("+: evil merge")
    expect(prompt).toContain("commit 2 of 2")
    expect(prompt.match(/=== c\.ts/g)).toHaveLength(1)
  })

  it("per_commit counts what it shows against max_patch_bytes", async () => {
    const change = threeCommits()
    const limits = { commit_strategy: "per_commit", max_patch_bytes: 600 }
    await expect(runEngine({ ...change, review: limits })).rejects.toMatchObject({ _tag: "PatchTooLarge" })
    await runEngine({ ...change, review: { max_patch_bytes: 600 } })
  })

  it("head_only shows the last commit", async () => {
    const { analysis, briefs } = await runEngine({ ...threeCommits(), review: { commit_strategy: "head_only" } })
    expect(briefs[0]?.prompt).toContain("+: first")
    expect(briefs[0]?.prompt).not.toContain("+: final")
    expect(analysis.coverage.lines).toBe(1)
  })

  it.each(["per_commit", "head_only"])("%s keeps the end points where history was rewritten", async (strategy) => {
    const { repository, base, head } = threeCommits()
    repository.git("switch", "-q", "-c", "other", base)
    repository.write("a.ts", body([...old, "rewritten"]))
    const rewritten = repository.commit("Rewritten")
    const { briefs } = await runEngine({
      repository,
      base: head,
      head: rewritten,
      compare: "endpoints",
      review: { commit_strategy: strategy }
    })
    expect(briefs[0]?.prompt).toContain("-: final")
    expect(briefs[0]?.prompt).toContain("+: rewritten")
    expect(briefs[0]?.prompt).not.toContain("commit 1 of")
  })
})
