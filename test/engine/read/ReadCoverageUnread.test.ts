/** An author cannot exclude code from the review: text is read, and unread files are reported. */
import { describe, expect, it } from "vitest"
import { makeRepository } from "../../vcs/Repository.ts"
import { runEngine } from "../Fixture.ts"
import type { EngineOptions } from "../Fixture.ts"

type Files = Readonly<Record<string, string | Buffer>>

const evil = "os.system(input())"
const long = (middle: string) => `${"x = 1; ".repeat(3000)}${middle}${" y = 2;".repeat(3000)}`

const review = async (before: Files, after: Files, options: Partial<EngineOptions> = {}) => {
  const repository = makeRepository()
  const commit = (files: Files) => {
    for (const [path, content] of Object.entries(files)) repository.write(path, content)
    return repository.commit()
  }
  const base = commit({ "README.md": "text\n", ...before })
  const { analysis, briefs } = await runEngine({ repository, base, head: commit(after), ...options })
  const { reviewed, skipped } = analysis.coverage
  return { analysis, reviewed, skipped, prompt: briefs.map(({ prompt }) => prompt).join("\n") }
}

describe("code that looks like something else", () => {
  it.each<readonly [string, Files, Files, string]>([
    ["a NUL in a comment", {}, { "a.py": `# \0\n${evil}\n` }, "a.py"],
    ["UTF-16 with a mark", {}, { "a.py": Buffer.from(`\ufeff${evil}\n`, "utf16le") }, "a.py"],
    ["UTF-16 without a mark", {}, { "a.py": Buffer.from(`${evil}\n`, "utf16le").swap16() }, "a.py"],
    ["a change of a file with a NUL", { "a.py": "# \0\na = 1\n" }, { "a.py": `# \0\na = 1\n${evil}\n` }, "a.py"],
    ["a new name of generated code", {}, { "x_pb2.py": `${evil}\n` }, "x_pb2.py"],
    ["a new snapshot", {}, { "__snapshots__/run.py": `${evil}\n` }, "__snapshots__/run.py"],
    [
      "a file that takes the name of generated code",
      { "a.py": `a = 1\n${"b = 2\n".repeat(50)}` },
      { "a.py": `a = 1\n${"b = 2\n".repeat(50)}${evil}\n`, "b_pb2.py": `b = 1\n${evil}\n` },
      "b_pb2.py"
    ],
    [
      "attributes of the change itself",
      {},
      { ".gitattributes": "*.py linguist-generated -diff\n", "a.py": `${evil}\n` },
      "a.py"
    ],
    ["a binary attribute of the base", { ".gitattributes": "*.py binary\n" }, { "a.py": `${evil}\n` }, "a.py"],
    [
      "a name of generated code that the base says is none",
      { ".gitattributes": "*_pb2.py -linguist-generated\n", "x_pb2.py": "a = 1\n" },
      { "x_pb2.py": `a = 1\n${evil}\n` },
      "x_pb2.py"
    ],
    ["code far down a new line", {}, { "a.py": `${long(evil)}\n` }, "a.py"],
    ["code far down a changed line", { "a.py": `${long("")}\n` }, { "a.py": `${long(evil)}\n` }, "a.py"]
  ])("is shown to the model: %s", async (_, before, after, path) => {
    const { analysis, prompt, reviewed } = await review(before, after)
    expect(prompt).toContain(evil)
    expect(reviewed).toContain(path)
    expect(analysis.coverage.skipped.filter(({ unread }) => unread === true)).toEqual([])
  })

  it.each<readonly [string, Files, Files]>([
    ["a known name", { "x_pb2.py": "a = 1\n" }, { "x_pb2.py": `a = 1\n${evil}\n` }],
    ["attributes", { ".gitattributes": "gen/** linguist-generated=true\n" }, { "gen/x.py": `${evil}\n` }],
    ["a marker", { "x.py": "# @generated\na = 1\n" }, { "x.py": `# @generated\na = 1\n${evil}\n` }]
  ])("is skipped where the base has evidence that a program wrote it: %s", async (_, before, after) => {
    const { prompt, skipped } = await review(before, after)
    expect(prompt).not.toContain(evil)
    expect(skipped.map(({ reason, unread }) => [reason, unread])).toEqual([["generated", undefined]])
  })
})

describe("a long line", () => {
  it("is shown around what differs, and not in full", async () => {
    const { prompt } = await review({ "a.py": `${long("")}\n` }, { "a.py": `${long(evil)}\n` })
    expect(prompt).toContain("columns 20801 to")
    expect(prompt.length).toBeLessThan(4000)
  })

  it("is shown in full where it is new, each part once", async () => {
    const words = Array.from({ length: 6000 }, (_, at) => `w${at}`)
    const { prompt } = await review({}, { "a.py": `before = 1\n${words.join(" ")}\nafter = 1\n` })
    const shown = prompt.match(/^\d+\+: .*/gm)?.map((line) => line.slice(line.indexOf(": ") + 2)) ?? []
    expect(shown.at(0)).toBe("before = 1")
    expect(shown.at(-1)).toBe("after = 1")
    expect(shown.slice(1, -1).join("")).toBe(words.join(" "))
  })
})

describe("what is not read", () => {
  const tooLong = `${"x = 1; ".repeat(12_000)}${evil}\n`
  const data = Buffer.from(Array.from({ length: 4000 }, (_, at) => (at * at * 31 + at * 7 + (at >> 3)) & 255))

  it.each<readonly [string, Files, Partial<EngineOptions>, ReadonlyArray<unknown>]>([
    [
      "the end of a line",
      { "a.py": tooLong },
      {},
      [{ path: "a.py", reason: "long_lines", unread: true, read: 1, changed: 1 }]
    ],
    ["code that is no text", { "a.py": data }, {}, [{ path: "a.py", reason: "unreadable", unread: true }]],
    ["pictures", { "a.png": data }, {}, [{ path: "a.png", reason: "binary" }]],
    [
      "more files than are read",
      { "a.py": "a = 1\n", "b.py": `${evil}\n` },
      { review: { max_files: 1 } },
      [{ path: "b.py", reason: "max_files", unread: true }]
    ]
  ])("is named: %s", async (_, after, options, expected) => {
    const { analysis, skipped } = await review({}, after, options)
    expect(skipped).toEqual(expected)
    const named = analysis.notices.filter(({ _tag }) => _tag === "TextUnread")
    expect(named).toHaveLength(skipped.filter(({ unread }) => unread === true).length)
    // A review that is skipped posts nothing on the change.
    expect(analysis.skipped === undefined).toBe(named.length > 0)
  })

  it("is read again by the next review", async () => {
    const { analysis } = await review({}, { "a.py": tooLong })
    expect(analysis.patches).toEqual([])
  })
})
