/** Public sets of labelled changes, in the shapes in which they are published; all content is our own. */
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { Effect } from "effect"
import { readSet } from "../../../src/cli/local/EvalCases.ts"
import type { SetName } from "../../../eval/datasets/Sets.ts"

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "aicr-sets-"))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

const put = async (name: string, content: unknown): Promise<void> => {
  const path = join(folder, name)
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, typeof content === "string" ? content : JSON.stringify(content))
}
const read = (name: string, set: SetName) => Effect.runPromise(readSet(join(folder, name), set))
const refusal = (name: string, set: SetName) =>
  Effect.runPromise(Effect.flip(readSet(join(folder, name), set))).then(({ message }) =>
    message.replaceAll(`${folder}/`, "")
  )

const diff = [
  "diff --git a/src/a.py b/src/a.py",
  "--- a/src/a.py",
  "+++ b/src/a.py",
  "@@ -3,2 +3,3 @@ def f():",
  " kept",
  "-old",
  "+new one",
  "+new two",
  "@@ -20 +21 @@",
  "-last",
  "+latest",
  "diff --git a/src/b.py b/src/b.py",
  "new file mode 100644",
  "--- /dev/null",
  "+++ b/src/b.py",
  "@@ -0,0 +1 @@",
  "+fresh",
  ""
].join("\n")
const texts = {
  before: new Map([["src/a.py", `\n\nkept\nold\n${"\n".repeat(15)}last\n`]]),
  after: new Map([
    ["src/a.py", `\n\nkept\nnew one\nnew two\n${"\n".repeat(15)}latest\n`],
    ["src/b.py", "fresh\n"]
  ])
}

describe("qodo", () => {
  const record = {
    repo: "Shop.api",
    pr_url_to_review: "https://host.example/bench/Shop.api/pull/12",
    num_of_issues: 2,
    issues: [
      {
        title: "Lost value",
        description: "The old value is dropped.",
        file_path: "src/a.py",
        start_line: 4,
        end_line: 5,
        problematic_code_snippet: "new one",
        rule_name: null
      },
      { title: "No tests", description: "Nothing is tested.", file_path: null, start_line: null, end_line: null }
    ]
  }
  it("has its diffs in a folder of their own, and labels with and without lines", async () => {
    await put("set.jsonl", `${JSON.stringify(record)}\n\n`)
    await put("diffs/Shop.api_12.diff", diff)
    const [one, ...others] = await read("set.jsonl", "qodo")
    expect(others).toEqual([])
    expect(one).toMatchObject({ name: "Shop.api-12", language: "Python", kind: "qodo", ...texts })
    expect(one?.expected).toMatchObject([
      { file: "src/a.py", first: 4, last: 5, categories: [], why: "Lost value. The old value is dropped." },
      { file: undefined, first: undefined, last: undefined }
    ])
  })

  it("is refused with file, record and field", async () => {
    const broken = [
      record,
      { ...record, repo: "../x", diff },
      { ...record, diff, issues: [{ ...record.issues[0], start_line: 0 }] },
      { ...record, diff: "nothing" }
    ]
    await put("set.jsonl", broken.map((one) => JSON.stringify(one)).join("\n"))
    const lines = (await refusal("set.jsonl", "qodo")).split("\n")
    expect(lines).toHaveLength(4)
    expect(lines[0]).toBe(
      "set.jsonl: record 1: diff: missing, and diffs/Shop.api_12.diff does not exist next to the set"
    )
    expect(lines[1]).toMatch(/^set\.jsonl: record 2: repo: /)
    expect(lines[2]).toMatch(/^set\.jsonl: record 3: issues\.0\.start_line: /)
    expect(lines[3]).toMatch(/^set\.jsonl: record 4: diff: /)
    await put("set.jsonl", `${JSON.stringify(record)}\n{`)
    expect(await refusal("set.jsonl", "qodo")).toMatch(/^set\.jsonl: line 2: /)
  })

  it("is refused where two records have one name, or a line is out of bounds", async () => {
    const far = diff.replace("@@ -20 +21 @@", "@@ -900000 +900001 @@")
    await put("set.json", [
      { ...record, diff },
      { ...record, diff }
    ])
    expect(await refusal("set.json", "qodo")).toContain("two records are named Shop.api-12")
    await put("set.json", [{ ...record, diff: far }])
    expect(await refusal("set.json", "qodo")).toContain("a line above 200000")
  })
})

describe("swe-prbench", () => {
  const record = {
    task_id: "shop__7",
    repo: "shop/shop",
    title: "Keep the value",
    language: "Python",
    diff_patch: diff
  }
  const comments = [
    {
      comment_id: "c1",
      body: "This loses the value.",
      file: "src/a.py",
      line: 4,
      severity: "High",
      is_initiating_comment: true
    },
    { comment_id: "c2", body: "Agreed.", file: "src/a.py", line: 4, is_initiating_comment: false },
    { comment_id: "c3", body: "Why twice?", file: "src/a.py", line: null, is_initiating_comment: true }
  ]
  it("has comments in files of their own: those that are substantive, else those that begin a thread", async () => {
    await put("prs.jsonl", JSON.stringify(record))
    await put("annotations/shop__7_human.json", { comments })
    const [begun] = await read("prs.jsonl", "swe-prbench")
    expect(begun).toMatchObject({ name: "shop__7", title: "Keep the value", ...texts })
    expect(begun?.expected).toMatchObject([
      { why: "This loses the value.", first: 4, last: 4, severity: "high" },
      { why: "Why twice?", file: "src/a.py", first: undefined }
    ])
    await put("annotations/shop__7_human.json", { comments, substantive_comment_ids: ["c2"] })
    expect((await read("prs.jsonl", "swe-prbench"))[0]?.expected).toMatchObject([{ why: "Agreed." }])
    await put("prs.jsonl", JSON.stringify({ ...record, human_review_comments: comments.slice(0, 1) }))
    expect((await read("prs.jsonl", "swe-prbench"))[0]?.expected).toHaveLength(1)
  })

  it("is refused with the field of the annotation", async () => {
    await put("prs.jsonl", JSON.stringify(record))
    expect(await refusal("prs.jsonl", "swe-prbench")).toContain(
      "record 1: human_review_comments: missing, and annotations/shop__7_human.json does not exist next to the set"
    )
    await put("annotations/shop__7_human.json", { comments: [{ comment_id: "c1" }] })
    expect(await refusal("prs.jsonl", "swe-prbench")).toMatch(
      /^prs\.jsonl: record 1: annotations\/shop__7_human\.json: comments\.0\.body: /
    )
  })
})

describe("kodus", () => {
  const patch = [
    "## file: 'src/a.py'",
    "",
    "@@ -3,2 +3,3 @@ def f():",
    "__new hunk__",
    "3  kept",
    "4 +new one",
    "5 +new two",
    "__old hunk__",
    " kept",
    "-old",
    "",
    "@@ -20,1 +21,2 @@",
    "__new hunk__",
    "21  last",
    "22 +more"
  ].join("\n")
  const vars = {
    caseId: "keep-the-value",
    prTitle: "Keep the value",
    prBody: "As agreed.",
    changedFiles: JSON.stringify([{ filename: "src/a.py", patchWithLinesStr: patch }]),
    toolReplay: JSON.stringify({
      readFile: [
        { match: { path: "src/a.py" }, result: "whole file" },
        { match: { path: "src/c.py" }, result: "context\n" }
      ]
    }),
    goldenComments: JSON.stringify([{ comment: "The old value is lost.", severity: "Medium" }])
  }
  it("has hunks of its own form, files to read, and comments without lines", async () => {
    await put("datasets/one.json", [{ description: "d", vars }])
    const [one] = await read("datasets", "kodus")
    expect(one).toMatchObject({
      name: "keep-the-value",
      description: "As agreed.",
      before: new Map([
        ["src/c.py", "context\n"],
        ["src/a.py", `\n\nkept\nold\n${"\n".repeat(15)}last\n`]
      ]),
      after: new Map([
        ["src/c.py", "context\n"],
        ["src/a.py", `\n\nkept\nnew one\nnew two\n${"\n".repeat(15)}last\nmore\n`]
      ]),
      expected: [{ file: undefined, first: undefined, why: "The old value is lost.", severity: "medium" }]
    })
  })

  it.each([
    [
      "an incomplete hunk",
      { changedFiles: [{ filename: "a", patchWithLinesStr: patch.replace("5 +new two\n", "") }] },
      /vars\.changedFiles\.0\.patchWithLinesStr: has no complete hunks/
    ],
    ["comments that are no JSON", { goldenComments: "[" }, /vars\.goldenComments/],
    ["an empty comment", { goldenComments: [{ severity: "Low" }] }, /vars\.goldenComments\.0\.comment: is empty/],
    ["no id", { caseId: undefined }, /vars\.caseId/]
  ])("is refused for %s", async (_, more, message) => {
    await put("one.json", { vars: { ...vars, ...more } })
    const text = await refusal("one.json", "kodus")
    expect(text).toMatch(/^one\.json: record 1: /)
    expect(text).toMatch(message)
  })
})
