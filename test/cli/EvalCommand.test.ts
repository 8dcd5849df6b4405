/** The command `aicr eval`, with the demo's rules instead of a model. */
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { stringify } from "yaml"
import { runAicr } from "../harness/RunAicr.ts"

const aicr = (...args: ReadonlyArray<string>) => runAicr(["eval", ...args])

let directory: string
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "aicr-cli-eval-"))
  await writeFile(join(directory, "broken.yaml"), "title: [\n")
  await writeFile(
    join(directory, "empty.yaml"),
    stringify({ title: "t", language: "Go", kind: "k", files: [], expected: [] })
  )
})
afterAll(() => rm(directory, { recursive: true, force: true }))

describe("aicr eval", () => {
  it("prints figures as JSON, and progress on standard error", async () => {
    const { code, out, err } = await aicr("--demo", "--only", "ts-sql,clean-docs", "--json")
    expect(code).toBe(0)
    expect(JSON.parse(out).configurations).toHaveLength(1)
    expect(JSON.parse(out).configurations[0]).toMatchObject({
      name: "demo",
      metrics: { recall: { value: 1, interval: { low: expect.any(Number), high: 1 } }, cost_usd: { value: null } },
      cases: 2,
      expected: 1,
      found: 1,
      missed: 0,
      wrong: 0,
      precision: 1,
      recall: 1,
      line_accuracy: 1,
      clean: 1,
      silent: 1,
      failed: 0,
      models: ["demo/aicr-demo-rules"],
      usage: { requests: expect.any(Number), cost_usd: null },
      by_category: { security: { expected: 1, recall: 1 } },
      by_language: { Markdown: { cases: 1, recall: null }, TypeScript: { cases: 1 } },
      changes: [{ name: "clean-docs" }, { name: "ts-sql-injection", found: [{ on_line: true }] }]
    })
    expect(err).toContain("2 of 2: ")
  }, 60_000)

  it("prints a table, and ends with 1 below the required value", async () => {
    const { code, out, err } = await aicr("--demo", "--only", "go-nil-map", "--min-recall", "0.5")
    expect([code, err]).toEqual([1, expect.stringContaining("recall is 0.000; at least 0.5 is required")])
    expect(out).toMatch(
      /^\s+cases {2}expected {2}found {2}missed {2}wrong {2}precision {2}recall {2}on line\nall +1 +1 +0 +1 +0 +- +0\.0 % +-\n/
    )
    expect(out).toContain("missed  go-nil-map  visits.go:14 correctness: The map is never made")
  }, 60_000)

  it("compares with an earlier result, and writes a page with all text escaped", async () => {
    const [earlier, page] = [join(directory, "earlier.txt"), join(directory, "page.html")]
    const hostile = join(directory, "hostile")
    await mkdir(hostile)
    for (const name of ["one", "two"]) {
      await writeFile(
        join(hostile, `${name}.yaml`),
        stringify({
          title: name,
          language: "<script>alert(1)</script>",
          kind: "k",
          files: [{ path: `${name}.txt`, after: "x\n" }],
          expected: [
            { file: `${name}.txt`, code: "x", category: "style", why: "<img src=x onerror='alert(2)'>\u0007&" }
          ]
        })
      )
    }
    const first = await aicr(hostile, "--demo", "--json")
    await writeFile(earlier, first.out)
    const { code, out } = await aicr(hostile, "--demo", "--compare", earlier, "--html", page)
    expect(code).toBe(0)
    expect(out).toMatch(/Figures with intervals of 95 %\n +demo\n/)
    expect(out).toMatch(/recall +0\.0 % \(0\.0 % to 65\.8 %\)/)
    expect(out).toContain(`demo against demo of ${earlier}, 2 common changes`)
    expect(out).toMatch(/recall +0\.0 % +0\.0 % +0\.0 % +0\.0 % to 0\.0 % +not significant/)
    const text = await readFile(page, "utf8")
    expect(text).toContain("&lt;script&gt;alert(1)&lt;/script&gt;")
    expect(text).toContain("&lt;img src=x onerror=&#39;alert(2)&#39;&gt; &amp;")
    expect(text).not.toMatch(/<script|<img|https?:/)
    expect(text).not.toContain("\u0007")
    const other = join(directory, "other.txt")
    const renamed: { configurations: ReadonlyArray<object> } = JSON.parse(first.out)
    await writeFile(
      other,
      JSON.stringify({
        configurations: renamed.configurations.flatMap((one) => [
          { ...one, name: "a" },
          { ...one, name: "b" }
        ])
      })
    )
    const none = await aicr(hostile, "--demo", "--compare", other)
    expect([none.code, none.err]).toEqual([2, expect.stringContaining("has none of these configurations; it has a, b")])
  }, 120_000)

  it("reads a public set", async () => {
    const set = join(directory, "set.jsonl")
    const diff = "diff --git a/a.go b/a.go\n--- a/a.go\n+++ b/a.go\n@@ -10 +10,2 @@\n context\n+added\n"
    const issue = { title: "t", description: "d", file_path: "a.go", start_line: 11, end_line: 11 }
    const record = { repo: "r", pr_url_to_review: "https://host.example/r/pull/7", diff, issues: [issue] }
    await writeFile(set, `${JSON.stringify(record)}\n`)
    const { code, out } = await aicr(set, "--dataset", "qodo", "--demo", "--json")
    expect(code).toBe(0)
    expect(JSON.parse(out).configurations[0].changes).toMatchObject([
      { name: "r-7", language: "Go", kind: "qodo", missed: [{ file: "a.go", line: 11 }] }
    ])
    await writeFile(set, `${JSON.stringify({ ...record, issues: [{ ...issue, start_line: "x" }] })}\n`)
    const invalid = await aicr(set, "--dataset", "qodo", "--demo")
    expect([invalid.code, invalid.err]).toEqual([
      2,
      expect.stringMatching(/set\.jsonl: record 1: issues\.0\.start_line: /)
    ])
  }, 60_000)

  it.each([
    ["a folder that is not there", ["nowhere", "--demo"], /nowhere is not a readable folder/],
    ["files that are no labelled changes", [".", "--demo"], /broken: cannot be read[^]*empty: files/],
    ["a name that no change has", ["--demo", "--only", "cobol"], /none of \d+ changes has cobol in its name/],
    [
      "an earlier result that is none",
      ["--demo", "--compare", "package.json"],
      /package\.json is not the result of aicr eval --json: configurations/
    ],
    [
      "the same name twice",
      ["--config", "a/x.yaml", "--config", "b/x.yaml"],
      /two configurations are named x; name them: --config NAME=FILE/
    ],
    [
      "several configurations of the demo",
      ["--demo", "--model", "a/b", "--model", "a/c"],
      /--demo has one configuration/
    ],
    ["a share that is none", ["--demo", "--min-precision", "80"], /--min-precision is a share from 0 to 1/],
    ["no model", ["--only", "ts-sql"], /no model configured/]
  ])(
    "ends with 2 for %s",
    async (_, args, message) => {
      const { code, err } = await aicr(...args.map((one) => (one === "." ? directory : one)))
      expect([code, err]).toEqual([2, expect.stringMatching(message)])
    },
    60_000
  )

  it("ends with 3 when reviews fail", async () => {
    const config = join(directory, "config.yml.txt")
    await writeFile(
      config,
      stringify({
        llm: {
          providers: [{ id: "p", kind: "openai_compatible", base_url: "http://127.0.0.1:1", api_key: "k" }],
          model_chain: { default: [{ provider: "p", model: "m" }] },
          retry: { max_attempts: 1 }
        },
        triggers: [{ name: "t", kind: "manual" }],
        workspaces: { instances: { w: { source_repo: { trigger: "t", repo: "a/b" } } } },
        agent: { default: "native-llm" }
      })
    )
    const given = ["--config", `left=${config}`, "--config", `right=${config}`, "--only", "ts-sql"]
    const { code, out, err } = await aicr(...given)
    expect([code, err]).toEqual([3, expect.stringContaining("left: 1 of 1 reviews failed")])
    expect(out).toContain("Configuration right\n\n")
    expect(out).toContain("Reviews that failed: 1 of 1")
    expect(out).toMatch(/Figures with intervals of 95 %\n +left +right\n/)
    expect(out).toContain("right against left, 1 common change\n")
  }, 60_000)
})
