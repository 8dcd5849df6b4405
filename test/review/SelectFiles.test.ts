import { describe, expect, it } from "vitest"
import { anyGlob, underAny } from "../../src/domain/Globs.ts"
import { parseIgnoreFile } from "../../src/review/IgnoreFile.ts"
import { parseDiff } from "../../src/review/ParseDiff.ts"
import { selectFiles } from "../../src/review/SelectFiles.ts"

describe("globs", () => {
  it.each([
    ["**/*", ".github/x.yml", true],
    ["*.ts", "a.ts", true],
    ["*.ts", "src/a.ts", false],
    ["**/*.ts", "a.ts", true],
    ["**/*.ts", "src/deep/a.ts", true],
    ["src/*", "src/a.ts", true],
    ["src/*", "src/b/a.ts", false],
    ["src/**", "src/b/.a.ts", true],
    ["**/vendor/**", "vendor/x.js", true],
    ["**/vendor/**", "a/vendor/b/x.js", true],
    ["**/vendor/**", "a/vendors/x.js", false],
    ["**/*.{min.js,lock}", "a/yarn.lock", true],
    ["a[12].ts", "a2.ts", true],
    ["?.ts", "/.ts", false],
    ["./src/**", "src/a.ts", true],
    ["**/*.TS", "a.ts", false],
    ["src/a(1).ts", "src/a(1).ts", true]
  ])("%s and %s: %s", (pattern, path, expected) => expect(anyGlob([pattern])(path)).toBe(expected))

  it("none matches nothing", () => expect(anyGlob([])("a")).toBe(false))

  it.each([
    ["src", "src/a.ts", true],
    ["/src/", "src/a.ts", true],
    ["./src", "src/a.ts", true],
    ["//depot/main/...", "depot/main/a.ts", true],
    ["src", "srcs/a.ts", false],
    ["src/a.ts", "src/a.ts", true],
    ["", "a.ts", true],
    ["/", "a.ts", true]
  ])("folder %s and %s: %s", (folder, path, expected) => expect(underAny([folder])(path)).toBe(expected))
})

describe("the ignore file", () => {
  it.each<readonly [string, string, boolean]>([
    ["*.md", "docs/a.md", true],
    ["/*.md", "docs/a.md", false],
    ["/*.md", "a.md", true],
    ["docs/", "docs/a.md", true],
    ["docs/", "x/docs/a.md", true],
    ["docs/", "docs", false],
    ["docs/api", "docs/api/a.md", true],
    ["docs/api", "x/docs/api/a.md", false],
    ["# a.md\n\n", "a.md", false],
    ["*.md\n!keep.md", "keep.md", false],
    ["!keep.md\n*.md", "keep.md", true],
    ["\\#x", "#x", true],
    ["a{b,c}", "ab", false],
    ["a{b,c}", "a{b,c}", true],
    ["a (1).txt", "a (1).txt", true],
    ["foo\r\n", "foo", true]
  ])("%j and %s: %s", (text, path, expected) =>
    expect(parseIgnoreFile(text).ignoredBy(path) !== undefined).toBe(expected)
  )

  it("names the rule that decides", () => {
    const { ignoredBy } = parseIgnoreFile("# docs\ndocs/\n*.md\n!keep.md\n")
    expect([ignoredBy("docs/a.txt"), ignoredBy("docs/b.md"), ignoredBy("docs/keep.md")]).toEqual([
      "line 2: docs/",
      "line 3: *.md",
      undefined
    ])
  })

  it("is bounded: what is refused is named", () => {
    const { ignoredBy, refused } = parseIgnoreFile(`${"*a".repeat(20)}\n${"x".repeat(300)}\n${"y\n".repeat(1200)}`)
    expect(refused.slice(0, 3)).toEqual([
      { line: 1, reason: { _tag: "WildcardsOverLimit", limit: 8 } },
      { line: 2, reason: { _tag: "RuleTooLong", limit: 256 } },
      { line: 1003, reason: { _tag: "RulesOverLimit", limit: 1000 } }
    ])
    expect(ignoredBy("y")).toBe("line 1002: y")
  })
})

const file = (path: string, extra = "", body = "@@ -1 +1 @@\n-a\n+b\n") =>
  `diff --git a/${path} b/${path}\n${extra}--- a/${path}\n+++ b/${path}\n${body}`

const select = (diff: string, options: Partial<Parameters<typeof selectFiles>[0]> = {}) => {
  const selection = selectFiles({
    review: { include: ["**/*"], exclude: ["**/vendor/**"], max_files: 10, max_file_bytes: 1000 },
    filters: { watchPath: [], include: [], exclude: [] },
    ignoredBy: () => undefined,
    ...options
  })
  const listed = parseDiff(diff).map(({ path, oldMode, newMode }) => ({
    path,
    oldMode,
    newMode,
    status: "modified" as const
  }))
  const { files, skipped } = selection.result(parseDiff(diff, selection.keep), listed)
  return { files: files.map(({ path }) => path), skipped: skipped.map(({ path, reason }) => `${path}:${reason}`) }
}

describe("selectFiles", () => {
  it("gives the first reason that holds", () => {
    const diff = ["src/a.ts", "src/vendor/b.ts", "docs/c.md", "src/go.sum", "src/secret.ts"]
      .map((path) => file(path))
      .join("")
    expect(
      select(diff, {
        filters: { watchPath: ["src"], include: ["**/*.{ts,sum}"], exclude: [] },
        ignoredBy: (path) => (path.includes("secret") ? "line 1: *secret*" : undefined)
      })
    ).toEqual({
      files: ["src/a.ts"],
      skipped: ["src/vendor/b.ts:excluded", "docs/c.md:not_watched", "src/go.sum:generated", "src/secret.ts:ignored"]
    })
  })

  it("counts only files that pass towards max_files", () => {
    const review = { include: ["**/*"], exclude: ["**/vendor/**"], max_files: 2, max_file_bytes: 1000 }
    const diff = ["vendor/a.ts", "b.ts", "c.ts", "d.ts"].map((path) => file(path)).join("")
    expect(select(diff, { review })).toEqual({
      files: ["b.ts", "c.ts"],
      skipped: ["vendor/a.ts:excluded", "d.ts:max_files"]
    })
  })

  it("believes a generated marker that was there before, not one that the change writes", () => {
    const before = "@@ -1,2 +1,2 @@\n // Code generated by tool. DO NOT EDIT.\n-a\n+b\n"
    const written = "@@ -1,1 +1,2 @@\n+// Code generated by tool. DO NOT EDIT.\n a\n"
    const below = "@@ -50,2 +50,2 @@\n // Code generated by tool. DO NOT EDIT.\n-a\n+b\n"
    expect(select(file("a.go", "", before) + file("b.go", "", written) + file("c.go", "", below))).toEqual({
      files: ["b.go", "c.go"],
      skipped: ["a.go:generated"]
    })
  })

  it("leaves submodules and binary files out", () => {
    const id = "1".repeat(40)
    const diff =
      file("m", `index ${id}..${id} 160000\n`) +
      `diff --git a/x.png b/x.png\nindex ${id}..${id} 100644\nBinary files a/x.png and b/x.png differ\n`
    expect(select(diff)).toEqual({ files: [], skipped: ["m:submodule", "x.png:binary"] })
  })

  const paths = (status: "added" | "deleted" | "modified", names: ReadonlyArray<string>) =>
    names.map((path) => ({ path, status, oldMode: "100644", newMode: "100644" }))
  const choose = (
    listed: ReturnType<typeof paths>,
    sizes: (path: string) => number,
    review: Partial<Parameters<typeof selectFiles>[0]["review"]> = {}
  ) => {
    const selection = selectFiles({
      review: { include: ["**/*"], exclude: ["**/vendor/**"], max_files: 10, max_file_bytes: 1000, ...review },
      filters: { watchPath: [], include: [], exclude: [] },
      ignoredBy: () => undefined
    })
    const candidates = selection.candidates(listed)
    const asked = candidates.map(({ path }) => path)
    const chosen = selection.choose(candidates, asked.map(sizes))
    const { skipped } = selection.result([], listed)
    return { asked, chosen: chosen.paths.map(({ path }) => path), exactRenames: chosen.exactRenames, skipped }
  }

  it("requests no size of excluded files, and compares nothing that is too large", () => {
    const listed = paths("modified", ["a.ts", "large.ts", "vendor/b.ts"])
    expect(choose(listed, (path) => (path === "large.ts" ? 1001 : 1000))).toEqual({
      asked: ["a.ts", "large.ts"],
      chosen: ["a.ts"],
      exactRenames: false,
      skipped: [
        { path: "large.ts", reason: "too_large", unread: true },
        { path: "vendor/b.ts", reason: "excluded", rule: "review.exclude" }
      ]
    })
  })

  it("takes as many deleted files as others, for they may be what others were renamed from", () => {
    const names = (kind: string) => Array.from({ length: 6 }, (_, index) => `${kind}${index}`)
    const listed = [...paths("added", names("a")), ...paths("deleted", names("d"))]
    const { chosen, skipped } = choose(listed, () => 1, { max_files: 1 })
    expect(chosen).toEqual([...names("a").slice(0, 5), ...names("d").slice(0, 5)])
    expect(skipped).toEqual([
      { path: "a5", reason: "max_files", unread: true },
      { path: "d5", reason: "max_files" }
    ])
  })

  it("looks for renames with other changes only where that is bearable", () => {
    const names = (kind: string) => Array.from({ length: 500 }, (_, index) => `${kind}${index}`)
    const listed = [...paths("added", names("a")), ...paths("deleted", names("d"))]
    const limits = { max_files: 1000, max_file_bytes: 1_000_000 }
    expect(choose(listed, () => 40_000, limits).exactRenames).toBe(false)
    expect(choose(listed, () => 40_001, limits).exactRenames).toBe(true)
  })
})
