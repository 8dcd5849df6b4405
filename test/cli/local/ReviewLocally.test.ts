import { execFileSync } from "node:child_process"
import { join } from "node:path"
import { afterEach, describe, expect, it, vi } from "vitest"
import { Effect, Layer } from "effect"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Command } from "effect/cli"
import { Agent } from "../../../src/agent/Agent.ts"
import type { AgentReport, Brief } from "../../../src/agent/Agent.ts"
import { reportAndExit } from "../../../src/cli/Exit.ts"
import { reviewLocally } from "../../../src/cli/local/ReviewLocally.ts"
import type { LocalReviewOptions } from "../../../src/cli/local/ReviewLocally.ts"
import type { ModelFinder } from "../../../src/cli/local/LocalConfig.ts"
import { reviewCommand } from "../../../src/cli/ReviewCommand.ts"
import { noUsage } from "../../../src/domain/Analysis.ts"
import * as StoredRevisions from "../../../src/app/StoredRevisions.ts"
import { localPublisher } from "../../../src/app/ReviewLocally.ts"
import { layerLocal } from "../../../src/vcs/LocalLayer.ts"
import { Catalog } from "../../../src/llm/Catalog.ts"
import { emptyReport, silentGateway, silentQuery } from "../../engine/Fixture.ts"
import { startGitServer } from "../../vcs/GitServer.ts"
import { makeRepository, temporaryFolder } from "../../vcs/Repository.ts"
import type { Repository } from "../../vcs/Repository.ts"
import { testThreads } from "../../harness/Threads.ts"

const finder: ModelFinder = {
  variables: ["TEST_MODEL_KEY"],
  find: (env) =>
    env["TEST_MODEL_KEY"] === undefined
      ? undefined
      : {
          provider: {
            id: "tester",
            kind: "openai_compatible",
            base_url: "http://127.0.0.1:1",
            api_key_env: "TEST_MODEL_KEY"
          },
          model: "small"
        }
}

const found: AgentReport = {
  ...emptyReport,
  summary: "Adds a fee.",
  problems: [
    {
      file: "src/a b.ts",
      line: 2,
      severity: "high",
      category: "correctness",
      title: "Division by zero",
      message: "This is always infinite.\u001b[2J",
      quote: "const fee = a / 0",
      suggestion: "const fee = 0"
    },
    { file: "src/a b.ts", severity: "low", category: "testing", message: "No test.", quote: "nowhere" }
  ]
}

interface Run {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
  readonly briefs: ReadonlyArray<Brief>
}

const aicr = async (args: ReadonlyArray<string>, report: AgentReport = found): Promise<Run> => {
  const briefs: Array<Brief> = []
  let stdout = ""
  let stderr = ""
  const keep = (add: (text: string) => void) => (text: string | Uint8Array, done?: unknown) => {
    add(String(text))
    if (typeof done === "function") done()
    return true
  }
  const out = vi.spyOn(process.stdout, "write").mockImplementation(keep((text) => (stdout += text)))
  const err = vi.spyOn(process.stderr, "write").mockImplementation(keep((text) => (stderr += text)))
  const agent = Layer.succeed(
    Agent,
    Agent.of({ analyse: (brief) => Effect.sync(() => (briefs.push(brief), report)), query: silentQuery })
  )
  const command = reviewCommand(
    Effect.succeed({
      reviewLocally: (options: LocalReviewOptions) =>
        reviewLocally(options, finder, localPublisher).pipe(
          Effect.provide([layerLocal, testThreads, agent, silentGateway, Catalog.layerOffline]),
          Effect.catchTag("CheckoutError", (error) => Effect.die(error))
        )
    })
  )
  try {
    const exit = await Effect.runPromiseExit(
      Command.runWith(Command.make("aicr").pipe(Command.withSubcommands([command])), { version: "0" })([
        "review",
        ...args
      ]).pipe(Effect.provide([NodeServices.layer, StoredRevisions.layer]))
    )
    let code = -1
    reportAndExit(exit, (given) => (code = given))
    return { code, stdout, stderr, briefs }
  } finally {
    out.mockRestore()
    err.mockRestore()
  }
}

const shop = (): Repository => {
  const repository = makeRepository()
  repository.write("src/a b.ts", "export function pay(a: number) {\n  return a\n}\n")
  repository.write("vendor/x.js", "1\n")
  repository.commit("base")
  repository.git("checkout", "-q", "-b", "feature")
  repository.write("src/a b.ts", "export function pay(a: number) {\n  const fee = a / 0\n  return a + fee\n}\n")
  repository.write("vendor/x.js", "2\n")
  repository.commit("feature")
  return repository
}

afterEach(() => vi.unstubAllEnvs())

describe("aicr review", () => {
  it("reviews HEAD against the default branch and prints text without control characters", async () => {
    vi.stubEnv("TEST_MODEL_KEY", "k")
    const { code, stdout, stderr, briefs } = await aicr([shop().path])
    expect(code).toBe(0)
    expect(stdout).toContain("src/a b.ts:2  high  correctness\n  Division by zero\n")
    expect(stdout).toContain("Not read, or not in full:\n  vendor/x.js (excluded by review.exclude)")
    expect(stdout).toMatch(/main\.\.\.[0-9a-f]{10}: 2 problems in 1 file, 3 changed lines \(test\/model/)
    expect(stdout).not.toContain("\u001b")
    expect(stderr).toContain("reading 1 file, 3 changed lines, 1 file skipped\n")
    expect(briefs[0]?.workspace.agent.default).toBe("native-llm")
  })

  it("works from a folder inside, and on a bare repository", async () => {
    vi.stubEnv("TEST_MODEL_KEY", "k")
    const repository = shop()
    expect((await aicr([join(repository.path, "src")])).stdout).toContain("2 problems")
    const bare = temporaryFolder()
    execFileSync("git", ["clone", "-q", "--bare", repository.path, bare])
    expect((await aicr([bare, "--base", "main", "--head", "feature"])).stdout).toContain("2 problems")
  })

  it("fails if the budget allows no model call", async () => {
    vi.stubEnv("TEST_MODEL_KEY", "k")
    const refused = { ...emptyReport, usage: noUsage, stopped: { _tag: "BudgetEndedReview" } as const }
    const { code, stdout, stderr } = await aicr([shop().path], refused)
    expect([code, stdout]).toEqual([3, ""])
    expect(stderr).toContain("the change was not reviewed: llm.budget does not allow a model call")
  })

  it("prints one JSON object; lines only where the quote was found", async () => {
    vi.stubEnv("TEST_MODEL_KEY", "k")
    const { stdout } = await aicr([shop().path, "--format", "json"])
    const json = JSON.parse(stdout)
    expect(json.findings).toMatchObject([
      { file: "src/a b.ts", line: 2, end_line: 2, side: "new", severity: "high", suggestion: "  const fee = 0" },
      { file: "src/a b.ts", severity: "low" }
    ])
    expect(json.findings[1]).not.toHaveProperty("line")
    expect(json).toMatchObject({ base: { name: "main" }, summary: "Adds a fee.", usage: { cost_usd: 0.5 } })
  })

  it("prints SARIF 2.1.0 with what its schema requires", async () => {
    vi.stubEnv("TEST_MODEL_KEY", "k")
    const { stdout } = await aicr([shop().path, "--format", "sarif"])
    const log = JSON.parse(stdout)
    expect(log).toMatchObject({ version: "2.1.0", $schema: expect.stringContaining("sarif-2.1.0") })
    const [run] = log.runs
    expect(run.tool.driver).toMatchObject({ name: "aicr", version: expect.stringMatching(/^\d+\.\d+\.\d+$/) })
    expect(run.tool.driver.rules).toEqual(
      [
        ["correctness", "error", "8.0"],
        ["testing", "note", "3.0"]
      ].map(([id, level, score]) => ({
        id,
        name: id,
        shortDescription: { text: id },
        fullDescription: { text: expect.stringContaining(`the category ${id}`) },
        help: { text: expect.stringContaining(`the category ${id}`) },
        defaultConfiguration: { level },
        properties: { tags: ["code-review", id], "security-severity": score }
      }))
    )
    expect(run.invocations).toEqual([expect.objectContaining({ executionSuccessful: true })])
    for (const result of run.results) {
      expect(run.tool.driver.rules[result.ruleIndex].id).toBe(result.ruleId)
      expect(["error", "warning", "note", "none"]).toContain(result.level)
      expect(result.message.text).not.toBe("")
      expect(result.partialFingerprints["aicr/v1"]).toMatch(/^[0-9a-f]{32}$/)
      expect(result.locations[0].physicalLocation.artifactLocation.uri).toBe("src/a%20b.ts")
    }
    expect(run.results[0].locations[0].physicalLocation.region).toEqual({ startLine: 2, endLine: 2 })
    expect(run.results[1].locations[0].physicalLocation).not.toHaveProperty("region")
    expect(run.results[0].fixes[0].artifactChanges[0].replacements[0]).toEqual({
      deletedRegion: { startLine: 2, endLine: 2 },
      insertedContent: { text: "  const fee = 0" }
    })
  })

  it("prints Markdown", async () => {
    vi.stubEnv("TEST_MODEL_KEY", "k")
    const { stdout } = await aicr([shop().path, "--format", "markdown"])
    expect(stdout).toContain("### Division by zero\n\n`src/a b.ts:2` · **high** · correctness")
  })

  it.each([
    ["critical", 0],
    ["high", 1],
    ["info", 1]
  ])("--fail-on %s exits with %i", async (severity, expected) => {
    vi.stubEnv("TEST_MODEL_KEY", "k")
    const { code, stdout } = await aicr([shop().path, "--fail-on", severity])
    expect(code).toBe(expected)
    expect(stdout).toContain("Division by zero")
  })

  it.each<readonly [string, ReadonlyArray<string>, string]>([
    ["an unknown format", ["--format", "xml"], ""],
    ["an unknown severity", ["--fail-on", "worst"], ""],
    ["an unknown base", ["--base", "nope"], "--base: commit nope not found"],
    ["an unknown head", ["--head", "nope"], "--head: commit nope not found"],
    ["a base that looks like an option", ["--base=--output=/tmp/x"], "--base: commit"],
    ["a model without a provider", ["--model", "small"], "provider/model"],
    ["a model of another provider", ["--model", "other/small"], "tester only"],
    ["a workspace without a configuration", ["--workspace", "w"], "--config"],
    ["a configuration that is not there", ["--config", "/nope.yaml"], "/nope.yaml"]
  ])("exits with 2 for %s", async (_name, args, said) => {
    vi.stubEnv("TEST_MODEL_KEY", "k")
    const { code, stderr, stdout } = await aicr([shop().path, ...args])
    expect({ code, said: stderr + stdout }).toEqual({ code: 2, said: expect.stringContaining(said) })
  })

  it("exits with 2 without a repository or a model, and names the next step", async () => {
    vi.stubEnv("TEST_MODEL_KEY", undefined)
    const without = await aicr([shop().path])
    expect(without).toMatchObject({ code: 2, stdout: "" })
    expect(without.stderr).toMatch(/TEST_MODEL_KEY.*--config.*npm run demo/)
    vi.stubEnv("TEST_MODEL_KEY", "k")
    expect(await aicr([temporaryFolder()])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("not in a git repository")
    })
  })

  it("takes the model and the language from the command line and the environment", async () => {
    vi.stubEnv("TEST_MODEL_KEY", "k")
    vi.stubEnv("LC_ALL", "de_DE.UTF-8")
    const { briefs } = await aicr([shop().path, "--model", "tester/large"])
    expect(briefs[0]?.snapshot.document.llm.model_chain["default"]).toEqual([
      { provider: "tester", model: "large", role: "any" }
    ])
    expect(briefs[0]?.workspace.review.output_language).toBe("de-DE")
  })

  it("takes settings from a workspace of a configuration", async () => {
    const folder = makeRepository()
    folder.write(
      "c.yaml",
      `llm: {providers: [{id: p, kind: openai_compatible, base_url: "http://127.0.0.1:1", api_key: k}], model_chain: {default: [{provider: p, model: m}]}}
triggers: [{name: t, kind: manual}]
workspaces: {instances: {one: {source_repo: {trigger: t, repo: a/b}}, two: {source_repo: {trigger: t, repo: a/c}, review: {include: ["**/*.go"]}}}}
agent: {default: native-llm}
`
    )
    const config = join(folder.path, "c.yaml")
    const unnamed = await aicr([shop().path, "--config", config])
    expect(unnamed).toMatchObject({ code: 2, stderr: expect.stringContaining("it has one, two") })
    const two = await aicr([shop().path, "--config", config, "--workspace", "two"])
    expect(two).toMatchObject({ code: 0, briefs: [] })
    expect(two.stdout).toContain("not reviewed. No changed line passes the filters")
    const other = await aicr([shop().path, "--config", config, "--workspace", "one", "--model", "p/x"])
    expect(
      other.briefs[0]?.snapshot.document.llm.model_chain[other.briefs[0].workspace.modelChain ?? ""]
    ).toMatchObject([{ model: "x" }])
  })

  it("takes the global settings of a configuration without workspaces", async () => {
    const folder = makeRepository()
    folder.write(
      "c.yaml",
      `llm: {providers: [{id: p, kind: openai_compatible, base_url: "http://127.0.0.1:1", api_key: k}], model_chain: {default: [{provider: p, model: m}]}}
triggers: [{name: t, kind: manual}]
agent: {default: native-llm}
review: {output_language: fr}
workspaces: {defaults: {review: {max_files: 7}}}
`
    )
    const config = join(folder.path, "c.yaml")
    const { briefs, code } = await aicr([shop().path, "--config", config])
    expect(code).toBe(0)
    expect(briefs[0]?.workspace.review).toMatchObject({ output_language: "fr", max_files: 7 })
    const named = await aicr([shop().path, "--config", config, "--workspace", "one"])
    expect(named).toMatchObject({ code: 2, stderr: expect.stringContaining("it has none") })
  })

  it("reads the further repositories of the configuration, and names one that it cannot read", async () => {
    const projects = temporaryFolder()
    const library = makeRepository(join(projects, "library"))
    library.write("lib.ts", "export const f = 1\n")
    library.commit()
    const server = await startGitServer({ root: projects })
    try {
      const folder = makeRepository()
      folder.write(
        "c.yaml",
        `llm: {providers: [{id: p, kind: openai_compatible, base_url: "http://127.0.0.1:1", api_key: k}], model_chain: {default: [{provider: p, model: m}]}}
triggers: [{name: t, kind: manual}]
workspaces: {instances: {one: {source_repo: {trigger: t, repo: a/b}, context_repositories: [{alias: lib, kind: git, url: "${server.url}/library/.git"}, {alias: other, kind: git, url: "${server.url}/missing/.git"}]}}}
agent: {default: native-llm}
review: {output_language: en, verification: "off"}
`
      )
      const { briefs, stdout } = await aicr([shop().path, "--config", join(folder.path, "c.yaml")])
      expect(briefs[0]?.context?.map(({ alias }) => alias)).toEqual(["lib"])
      expect(stdout).toContain("The context repository other was not read: ")
    } finally {
      await server.close()
    }
  })

  it("reads results of other tools from the work tree, committed or not", async () => {
    const folder = makeRepository()
    folder.write(
      "c.yaml",
      `llm: {providers: [{id: p, kind: openai_compatible, base_url: "http://127.0.0.1:1", api_key: k}], model_chain: {default: [{provider: p, model: m}]}}
triggers: [{name: t, kind: manual}]
workspaces: {instances: {one: {source_repo: {trigger: t, repo: a/b}}}}
agent: {default: native-llm}
review: {output_language: en, verification: "off", evidence: {sarif: [out/lint.sarif], ci: {artifacts: ["*"]}}}
`
    )
    const repository = shop()
    const location = { physicalLocation: { artifactLocation: { uri: "src/a b.ts" }, region: { startLine: 2 } } }
    const results = [{ ruleId: "no-zero", message: { text: "zero" }, locations: [location] }]
    repository.write("out/lint.sarif", JSON.stringify({ runs: [{ tool: { driver: { name: "Linter" } }, results }] }))
    const { briefs, stdout } = await aicr([repository.path, "--config", join(folder.path, "c.yaml")])
    expect(briefs[0]?.prompt).toContain("src/a b.ts:2: `Linter` rule `no-zero`: zero")
    expect(stdout).toContain("This line was also reported by `Linter` rule `no-zero`.")
    expect(stdout).toContain("Artifacts of CI (review.evidence.ci) are read by the service only")
  })

  it("names the next step for a shallow clone, and deepens it where that is allowed", async () => {
    vi.stubEnv("TEST_MODEL_KEY", "k")
    const origin = shop()
    // A shallow clone does not contain the merge base.
    origin.git("checkout", "-q", "main")
    origin.write("other.txt", "1\n")
    origin.commit("meanwhile")
    origin.git("checkout", "-q", "feature")
    const clone = temporaryFolder()
    const git = (...args: ReadonlyArray<string>) => execFileSync("git", args, { cwd: clone, stdio: "pipe" })
    git("clone", "-q", "--depth=1", "--no-single-branch", "-b", "feature", `file://${origin.path}`, ".")
    const refused = await aicr([clone, "--base", "origin/main"])
    expect(refused).toMatchObject({ code: 3, stderr: expect.stringContaining("git fetch --unshallow") })
    origin.write(
      "c.yaml",
      `llm: {providers: [{id: p, kind: openai_compatible, base_url: "http://127.0.0.1:1", api_key: k}], model_chain: {default: [{provider: p, model: m}]}}
triggers: [{name: t, kind: manual}]
workspaces: {instances: {one: {source_repo: {trigger: t, repo: a/b}}}}
review: {git: {allow_deepen: true}}
`
    )
    const deepened = await aicr([clone, "--base", "origin/main", "--config", join(origin.path, "c.yaml")])
    expect(deepened).toMatchObject({ code: 0, stdout: expect.stringContaining("2 problems") })
  })
})
