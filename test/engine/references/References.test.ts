/** Uses of changed names reach the passes that show the definitions, and the verification of findings in them. */
import { describe, expect, it } from "vitest"
import { Effect } from "effect"
import { makeRepository } from "../../vcs/Repository.ts"
import { calling, emptyReport, runEngine } from "../Fixture.ts"

const repository = makeRepository()
const secret = `ghp_${"A1b2C3d4".repeat(5)}`
const pay = (parameters: string, more = "") =>
  `export function pay(${parameters}): number {\n  return total\n}\nconst own = pay(2)\n${more}function inner(a: number) {\n  return a\n}\n`
repository.write("src/pay.ts", pay("total: number", "export const refund = (a: number) => a\n"))
repository.write("src/same.ts", "export const same = (a: number) => a + 1\n")
repository.write("src/old.ts", "export const moved = (a: number) => a\nexport const shifted = (a: number) => a\n")
repository.write("src/use.ts", `import { pay } from "./pay"\n\n// pay(1)\nexport const due = pay(3, "${secret}")\n`)
repository.write("lib/far.ts", "console.log(refund(1), inner(2), same(3), moved(4), shifted(5))\n")
repository.write("lib/many.ts", "pay(1)\n".repeat(100))
repository.write("docs/pay.md", "pay(7)\n")
const base = repository.commit("base")
repository.write("src/pay.ts", pay("total: number, tax: number").replace("inner(a: number)", "inner(b: number)"))
// One name moves to a file that is new, one to a file that exists.
repository.write("src/old.ts", "export const other = 1\n")
repository.write("src/new.ts", "// refund\nexport const moved = (a: number) => a\n")
repository.write("src/same.ts", "export const same = (a: number) => a + 2\nexport const shifted = (a: number) => a\n")
// So long that a verification shows extracts of the change instead of all of it.
repository.write("src/long.ts", "// a line of text\n".repeat(400))
const head = repository.commit("change")

const problems = {
  "src/pay.ts": "export function pay(total: number, tax: number): number {",
  "src/same.ts": "export const same = (a: number) => a + 2"
}

const review = async (more: Record<string, unknown> = {}, file: keyof typeof problems = "src/pay.ts") => {
  const { briefs, calls } = await runEngine({
    repository,
    base,
    head,
    review: { verification: "always", ...more },
    agent: () =>
      Effect.succeed({
        ...emptyReport,
        problems: [{ file, severity: "high", category: "bug", message: "m", quote: problems[file] }]
      }),
    gateway: () => Effect.succeed(calling("verdicts", { verdicts: [{ number: 1, verdict: "confirm", reason: "r" }] }))
  })
  return { prompt: briefs.map(({ prompt }) => prompt).join("\n"), calls }
}

const blockIn = (prompt: string) => /<references (\w+)>\n([\s\S]*?)\n<\/references \1>/.exec(prompt)?.[2]

describe("references of changed names", () => {
  it("are shown with the files that define them, calls first, without what the diff shows", async () => {
    const shown = blockIn((await review()).prompt)?.split("\n") ?? []
    expect(shown).toHaveLength(22)
    expect(shown[0]).toBe("pay, changed in src/pay.ts:")
    expect(shown).toContain('  src/use.ts:4 (call) export const due = pay(3, "[secret removed]")')
    expect(shown).toContain("refund, removed in src/pay.ts:")
    expect(shown).toContain("  lib/far.ts:1 (call) console.log(refund(1), inner(2), same(3), moved(4), shifted(5))")
    expect(shown.join("\n")).not.toMatch(/docs|pay\.ts:\d|inner,|same,|moved,|shifted,|\/\/ pay/)
  })

  it("come from paths that the configuration allows", async () => {
    const { prompt } = await review({ fetch_extra: { allow_paths: ["src/**"] } })
    expect(blockIn(prompt)).toContain("src/use.ts:4")
    expect(blockIn(prompt)).not.toContain("lib/")
  })

  it("are shown to the verification of findings in these files only", async () => {
    for (const [file, count] of [
      ["src/pay.ts", 1],
      ["src/same.ts", 0]
    ] as const) {
      const { calls } = await review({}, file)
      expect(calls).toHaveLength(1)
      const texts = calls.map(({ messages }) => JSON.stringify(messages))
      expect(texts.filter((text) => text.includes("pay, changed in src/pay.ts"))).toHaveLength(count)
    }
  })
})
