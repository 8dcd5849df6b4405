import { createHash } from "node:crypto"
import { Effect } from "effect"
import { describe, expect, it } from "vitest"
import type { ReportedProblem } from "../../../src/domain/Problem.ts"
import { credentials, randomText } from "../../review/GeneratedCredentials.ts"
import { makeRepository } from "../../vcs/Repository.ts"
import { emptyReport, runEngine } from "../Fixture.ts"

const token = `npm_${randomText(36)}`
const agent = () => Effect.succeed(emptyReport)

/** A change that adds these files to a base with others. */
const change = (files: Readonly<Record<string, string>>, base: Readonly<Record<string, string>> = {}) => {
  const repository = makeRepository()
  for (const [path, text] of Object.entries({ "README.md": "read\n", ...base })) repository.write(path, text)
  const first = repository.commit("base")
  for (const [path, text] of Object.entries(files)) repository.write(path, text)
  return { repository, base: first, head: repository.commit("head") }
}

const source = `const a = 1\nconst token = "${token}"\n`

describe("credentials in added lines", () => {
  it("are critical findings at their line, without a model and without the value", async () => {
    const { analysis } = await runEngine({ ...change({ "src/a.ts": source }), agent })
    expect(analysis.findings).toMatchObject([
      {
        fact: "credential",
        anchor: { path: "src/a.ts", side: "new", line: 2 },
        problem: { severity: "critical", category: "security", title: "npm token in added code" }
      }
    ])
    expect(JSON.stringify(analysis)).not.toContain(token)
    expect(analysis.findings[0]?.problem.quote).toBe('const token = "[secret removed]"')
  })

  it("are found in every format, also with private keys", async () => {
    const lines = credentials().map(({ value }) => `  value: "${value}"`)
    const { analysis } = await runEngine({ ...change({ "conf/all.yaml": `${lines.join("\n")}\n` }), agent })
    const kinds = analysis.findings.map(({ problem }) => problem.title)
    expect(kinds.toSorted()).toEqual(
      credentials()
        .map(({ kind }) => `${kind} in added code`)
        .toSorted()
    )
    const stored = JSON.stringify(analysis)
    expect(credentials().filter(({ secret }) => stored.includes(secret))).toEqual([])
  })

  it("are not found in removed and unchanged lines", async () => {
    const base = { "src/a.ts": `${source}const b = 1\n`, "src/b.ts": source }
    const head = { "src/a.ts": `${source}const b = 2\n`, "src/b.ts": "const a = 1\n" }
    expect((await runEngine({ ...change(head, base), agent })).analysis.findings).toEqual([])
  })

  it("take the place of what a model reports about the same line, and no verification refutes them", async () => {
    const problem: ReportedProblem = {
      file: "src/a.ts",
      severity: "high",
      category: "security",
      message: "a token in the code",
      quote: 'const token = "[secret removed]"'
    }
    const { analysis, calls } = await runEngine({
      ...change({ "src/a.ts": source }),
      agent: () => Effect.succeed({ ...emptyReport, problems: [problem] }),
      review: { verification: "off" }
    })
    expect(calls).toEqual([])
    expect(analysis.findings.map(({ problem: { title } }) => title)).toEqual(["npm token in added code"])
  })

  it("keep their identity when lines move, and are found again where the file is not read again", async () => {
    const first = change({ "src/a.ts": source })
    const { analysis } = await runEngine({ ...first, agent })
    first.repository.write("src/a.ts", `// above\n\n${source}`)
    const moved = await runEngine({ ...first, head: first.repository.commit("moved"), agent, previous: analysis })
    first.repository.write("src/b.ts", "const c = 1\n")
    const head = first.repository.commit("other")
    const again = await runEngine({ ...first, head, agent, previous: moved.analysis })
    const findings = [analysis, moved.analysis, again.analysis].map((one) => one.findings)
    expect(findings.map((all) => all.map(({ anchor }) => anchor?.line))).toEqual([[2], [4], [4]])
    expect(new Set(findings.flatMap((all) => all.map(({ fingerprint }) => fingerprint))).size).toBe(1)
  })

  it("are permitted by the list of the base branch, by path and by the digest of the value", async () => {
    const digest = createHash("sha256").update(token).digest("hex")
    const files = { "src/a.ts": source, "test/fixtures/b.ts": source }
    const found = async (list: string, at: "base" | "head") => {
      const allow = { ".aicr/allowed-credentials": list }
      const made = at === "base" ? change(files, allow) : change({ ...files, ...allow })
      const { analysis } = await runEngine({ ...made, agent })
      return analysis.findings.map(({ anchor }) => anchor?.path).toSorted()
    }
    expect(await found("# of tests\ntest/fixtures/\n", "base")).toEqual(["src/a.ts"])
    expect(await found(`sha256:${digest}\n`, "base")).toEqual([])
    expect(await found(`sha256:${"0".repeat(64)}\n`, "base")).toHaveLength(2)
    expect(await found("**\n", "head")).toEqual(["src/a.ts", "test/fixtures/b.ts"])
  })

  it("are ignored where review.credentials is ignore", async () => {
    const { analysis } = await runEngine({
      ...change({ "src/a.ts": source }),
      agent,
      review: { credentials: "ignore" }
    })
    expect(analysis.findings).toEqual([])
  })
})
