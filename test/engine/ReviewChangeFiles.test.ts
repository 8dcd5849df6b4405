/** Fields of `review` that decide which files of a change are read, and the text about them in the prompt. */
import { describe, expect, it } from "vitest"
import { makeRepository } from "../vcs/Repository.ts"
import { runEngine } from "./Fixture.ts"

const repository = makeRepository()
repository.write(".aicrignore", "docs/\n")
repository.write(".reviewignore", "generated/\n")
const base = repository.commit("base")
repository.write("src/a.ts", "const a = 1\n")
repository.write("src/b.py", `${"b = 1\n".repeat(400)}`)
repository.write("docs/a.md", "text\n")
repository.write("generated/a.ts", "const g = 1\n")
repository.write("vendor/x.js", "x\n")
const change = { repository, base, head: repository.commit("head") }

const review = (settings: Record<string, unknown>) => runEngine({ ...change, review: settings })
const all = ["docs/a.md", "generated/a.ts", "src/a.ts", "src/b.py", "vendor/x.js"]

describe("files that a review reads", () => {
  it.each<readonly [string, Record<string, unknown>, Readonly<Record<string, string>>]>([
    ["nothing set", {}, { "docs/a.md": "ignored", "vendor/x.js": "excluded" }],
    ["exclude", { exclude: ["src/*.py"] }, { "docs/a.md": "ignored", "src/b.py": "excluded" }],
    ["ignore_file", { ignore_file: ".reviewignore" }, { "generated/a.ts": "ignored", "vendor/x.js": "excluded" }],
    [
      "max_file_bytes",
      { max_file_bytes: 2000 },
      { "docs/a.md": "ignored", "src/b.py": "too_large", "vendor/x.js": "excluded" }
    ]
  ])("%s", async (_, settings, skipped) => {
    const { analysis } = await review(settings)
    const { coverage } = analysis
    expect(Object.fromEntries(coverage.skipped.map(({ path, reason }) => [path, reason]))).toEqual(skipped)
    expect(coverage.reviewed.toSorted()).toEqual(all.filter((path) => !(path in skipped)))
  })

  it("a change of more than max_changed_paths, of files and folders, is refused before anything is read", async () => {
    await expect(review({ max_changed_paths: 8 })).rejects.toThrow("touches over 8 paths (review.max_changed_paths)")
    expect((await review({ max_changed_paths: 9 })).briefs).toHaveLength(1)
  })

  it("languages are named to the model unless languages_auto_detect is off", async () => {
    const promptOf = async (detects: boolean) =>
      (await review({ languages_auto_detect: detects })).briefs[0]?.prompt ?? ""
    expect(await promptOf(true)).toContain("Languages, by changed lines: Python, TypeScript")
    const without = await promptOf(false)
    expect(without).toContain("const a = 1")
    expect(without).not.toContain("Languages, by changed lines")
  })
})
