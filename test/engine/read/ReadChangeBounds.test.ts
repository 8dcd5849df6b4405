/**
 * Changes made to be too much: what is excluded or too large is never compared, what is too much fails before anything of it is read, and
 * renames are found among what is left.
 */
import { execFileSync } from "node:child_process"
import { describe, expect, it } from "vitest"
import { makeRepository } from "../../vcs/Repository.ts"
import type { Repository } from "../../vcs/Repository.ts"
import { runEngine } from "../Fixture.ts"
import { inEnglish } from "../../../src/text/en.ts"

const lines = (from: number, count: number) => Array.from({ length: count }, (_, at) => `line ${from + at}\n`).join("")

/** A tree of ten times the same tree, so many times: few objects, and ten to that power paths. */
const nestedTree = ({ git, path }: Repository, levels: number): string => {
  const hash = (type: string, input: Buffer | string) =>
    execFileSync("git", ["hash-object", "-w", "-t", type, "--stdin", "--literally"], { cwd: path, input })
      .toString()
      .trim()
  let mode = "100644"
  let id = hash("blob", "x\n")
  for (let level = 0; level < levels; level++) {
    const entries = Array.from({ length: 10 }, (_, at) => [
      Buffer.from(`${mode} ${level === 0 ? "f" : "d"}${at}\0`),
      Buffer.from(id, "hex")
    ])
    id = hash("tree", Buffer.concat(entries.flat()))
    mode = "40000"
  }
  return git("commit-tree", id, "-p", "HEAD", "-m", "nested")
}

describe("a change", () => {
  it("of a million paths in a few objects fails immediately and names the limit", async () => {
    const repository = makeRepository()
    const base = repository.commit("base")
    const head = nestedTree(repository, 6)
    const began = performance.now()
    await expect(runEngine({ repository, base, head, review: { max_changed_paths: 2000 } })).rejects.toMatchObject({
      _tag: "CheckoutError",
      reason: "limit",
      message: expect.stringContaining("over 2000 paths (review.max_changed_paths)")
    })
    expect(performance.now() - began).toBeLessThan(20_000)
  })

  it("with large files where nothing is read is reviewed for what is left", async () => {
    const repository = makeRepository()
    repository.write("src/large.txt", lines(0, 20_000))
    const base = repository.commit("base")
    repository.write("src/a.ts", "const a = 1\n")
    repository.write("src/large.txt", lines(1, 20_000))
    repository.write("vendor/large.txt", lines(0, 20_000))
    const head = repository.commit("head")
    const { analysis, briefs } = await runEngine({ repository, base, head, review: { max_file_bytes: 100_000 } })
    expect(analysis.coverage).toMatchObject({
      reviewed: ["src/a.ts"],
      skipped: [
        { path: "src/large.txt", reason: "too_large", unread: true },
        { path: "vendor/large.txt", reason: "excluded", rule: "review.exclude" }
      ]
    })
    expect(analysis.notices.map(inEnglish)).toContainEqual(expect.stringContaining("review.max_file_bytes (100000)"))
    expect(analysis.notices.map(inEnglish)).toContainEqual(
      expect.stringContaining("text that was not read, in: src/large.txt")
    )
    expect(briefs).toHaveLength(1)
  })

  it("has its renames found where other files are excluded, with modes, links and odd names", async () => {
    const repository = makeRepository()
    repository.write("src/old name.ts", lines(0, 50))
    repository.write("deep/a/b/c.ts", lines(100, 50))
    const base = repository.commit("base")
    repository.git("mv", "src/old name.ts", "src/new ü.ts")
    repository.write("src/new ü.ts", lines(0, 51))
    repository.git("mv", "deep", "moved")
    repository.write("vendor/x.js", "x\n")
    const head = repository.commit("head")
    const { analysis, briefs } = await runEngine({ repository, base, head })
    expect(analysis.coverage.reviewed).toEqual(["moved/a/b/c.ts", "src/new ü.ts"])
    expect(analysis.coverage.lines).toBe(1)
    expect(briefs).toHaveLength(1)
  })

  it("whose tree holds a name twice is refused: one of the two would be hidden", async () => {
    const repository = makeRepository()
    repository.write("a.ts", "const a = 1\n")
    const base = repository.commit("base")
    const ids = ["const good = 1\n", "const evil = 1\n"].map((input) =>
      execFileSync("git", ["hash-object", "-w", "--stdin"], { cwd: repository.path, input }).toString().trim()
    )
    const input = Buffer.concat(ids.flatMap((id) => [Buffer.from("100644 a.ts\0"), Buffer.from(id, "hex")]))
    const tree = execFileSync("git", ["hash-object", "-w", "-t", "tree", "--stdin", "--literally"], {
      cwd: repository.path,
      input
    })
    const head = repository.git("commit-tree", tree.toString().trim(), "-p", base, "-m", "twice")
    await expect(runEngine({ repository, base, head })).rejects.toMatchObject({
      message: expect.stringContaining("malformed")
    })
  })
})
