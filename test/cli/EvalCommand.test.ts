/** The command `aicr eval`, with the demo's rules instead of a model. */
import { execFile } from "node:child_process"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { stringify } from "yaml"

const root = join(import.meta.dirname, "../..")

const aicr = (...args: ReadonlyArray<string>) =>
  new Promise<{ readonly code: number; readonly out: string; readonly err: string }>((done) => {
    execFile(
      join(root, "node_modules/.bin/node"),
      ["--disable-warning=ExperimentalWarning", "src/main.ts", "eval", ...args],
      { cwd: root, env: { PATH: process.env["PATH"] } },
      (error, out, err) => done({ code: error === null ? 0 : Number(error.code), out, err })
    )
  })

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
    const { code, out, err } = await aicr("--demo", "--only", "ts-sql,clean-docs", "--format", "json")
    expect(code).toBe(0)
    expect(JSON.parse(out)).toMatchObject({
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

  it.each([
    ["a folder that is not there", ["nowhere", "--demo"], /nowhere is not a readable folder/],
    ["files that are no labelled changes", [".", "--demo"], /broken: cannot be read[^]*empty: files/],
    ["a name that no change has", ["--demo", "--only", "cobol"], /none of \d+ changes has cobol in its name/],
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
    const { code, out, err } = await aicr("--config", config, "--only", "ts-sql")
    expect([code, err]).toEqual([3, expect.stringContaining("1 of 1 reviews failed")])
    expect(out).toContain("Reviews that failed: 1 of 1")
  }, 60_000)
})
