/** Fields that the configured agent CLI does not support are reported. */
import { Effect } from "effect"
import { describe, expect, it } from "vitest"
import type { CliMode } from "../../../src/agent/AgentPrograms.ts"
import type { AgentConfig } from "../../../src/config/schema/Agent.ts"
import { cliModes } from "../../../src/agent/clis/CliTable.ts"
import { agentProblems } from "../../../src/agent/clis/FieldWarnings.ts"
import { toSandboxLimits } from "../../../src/sandbox/SandboxLimits.ts"
import { fieldPaths } from "../../mutate/FieldPaths.ts"
import { makeBrief } from "./Fixture.ts"
import { makeRun, written } from "./WrittenProgram.ts"

const warnings = async (mode: AgentConfig["default"], agent: object) => {
  const { snapshot } = await Effect.runPromise(makeBrief(mode, agent))
  return agentProblems(snapshot).map(({ path }) => path)
}

const everything = {
  auto_approve: false,
  context_compaction: { auto: false, threshold_percent: 50, prune: false },
  web_search: {
    enabled: true,
    providers: ["exa"],
    exclude: ["brave"],
    timeout_seconds: 5,
    credentials: { exa: "EXA_KEY" },
    searxng: { endpoint: "https://s.example" }
  }
}

const fields = ["providers", "exclude", "timeout_seconds", "credentials", "searxng"].map(
  (name) => `agent.web_search.${name}`
)

it.each([
  ["kilo", ["agent.web_search.enabled", ...fields.slice(2, 3), ...fields.slice(4)]],
  ["opencode", ["agent.web_search.enabled", ...fields.slice(2, 3), ...fields.slice(4)]],
  ["omp", ["agent.auto_approve", "agent.web_search.enabled"]],
  ["claude-code", ["agent.context_compaction.prune", ...fields, "agent.web_search.enabled"]],
  ["codex", ["agent.auto_approve", "agent.context_compaction.prune", ...fields, "agent.web_search.enabled"]],
  [
    "gemini-cli",
    [
      "agent.context_compaction.threshold_percent",
      "agent.context_compaction.prune",
      ...fields,
      "agent.web_search.enabled"
    ]
  ],
  [
    "copilot-cli",
    [
      "agent.context_compaction.auto",
      "agent.context_compaction.threshold_percent",
      "agent.context_compaction.prune",
      "agent.web_search.enabled"
    ]
  ],
  ["pi", ["agent.auto_approve", "agent.context_compaction.prune", "agent.web_search.enabled"]],
  ["zoo", ["agent.auto_approve", "agent.context_compaction.prune", "agent.web_search.enabled"]]
] as const)("of %s", async (mode, expected) => {
  expect(await warnings(mode, everything)).toEqual(expected)
})

it("of native-llm, which has neither compaction nor a search", async () => {
  const expected = [
    "agent.context_compaction.auto",
    "agent.context_compaction.threshold_percent",
    "agent.context_compaction.prune",
    "agent.web_search.enabled"
  ]
  expect(await warnings("native-llm", everything)).toEqual(expected)
  expect(await warnings("native-llm", {})).toEqual([])
})

it("of a CLI that only a rule of a route names", async () => {
  const { snapshot } = await Effect.runPromise(makeBrief("native-llm", { auto_approve: false }, { rules: ["codex"] }))
  expect(agentProblems(snapshot).map(({ message }) => message)).toEqual([
    expect.stringContaining("agent mode codex: false has no effect")
  ])
})

it.each([
  ["claude-code", { kind: "anthropic" }, false],
  ["claude-code", { kind: "openai_compatible" }, true],
  ["gemini-cli", { kind: "google_ai_studio" }, false],
  ["gemini-cli", { kind: "anthropic" }, true],
  ["codex", { kind: "openai_compatible", base_url: "https://api.openai.com/v1" }, false],
  ["codex", { kind: "openai_compatible", base_url: "https://models.example/v1" }, true],
  ["codex", { kind: "azure_openai", base_url: "https://models.example" }, true]
] as const)("a search of %s by the provider %j is reported as useless: %s", async (mode, provider, expected) => {
  const { snapshot } = await Effect.runPromise(
    makeBrief(mode, { web_search: { enabled: true } }, { provider: { base_url: undefined, ...provider } })
  )
  const useless = agentProblems(snapshot).filter(({ path }) => path === "agent.web_search.enabled")
  expect(useless).toHaveLength(expected ? 1 : 0)
  expect(useless.every(({ message }) => message.includes("has the API of this CLI"))).toBe(true)
})

it("without such fields nothing is reported, and without a sandbox a CLI may search by itself", async () => {
  for (const mode of cliModes) expect(await warnings(mode, {})).toEqual([])
  const unconfined = { sandbox: { native: { unconfined: true } }, web_search: { enabled: true } }
  expect(await warnings("omp", unconfined)).toEqual([])
})

/** Other values than the defaults. */
const changed: ReadonlyArray<readonly [path: string, value: unknown]> = [
  ["timeout_seconds", 7],
  ["auto_approve", false],
  ["context_compaction.auto", false],
  ["context_compaction.threshold_percent", 61],
  ["context_compaction.prune", false],
  ["web_search.enabled", true],
  ["web_search.providers", ["parallel"]],
  ["web_search.exclude", ["exa"]],
  ["web_search.timeout_seconds", 9],
  ["web_search.credentials", { exa: "EXA_KEY" }],
  ["web_search.searxng.endpoint", "https://search.example"],
  ["web_search.searxng.categories", "it"],
  ["web_search.searxng.engines", "wikipedia"],
  ["web_search.searxng.language", "de"],
  ["web_search.searxng.safesearch", 2]
]

/** An `agent` block with one value. The search is on, so that its fields can have an effect. */
const blockWith = (path: string, value: unknown): object => {
  const nested = path.split(".").reduceRight<unknown>((inner, name) => ({ [name]: inner }), value)
  const { web_search: search, ...rest }: { readonly web_search?: object } = Object(nested)
  return path.startsWith("web_search.") ? { ...rest, web_search: { enabled: true, ...search } } : rest
}

/** Limits of the sandbox, which ends a pass of every CLI. */
const limitsOf = async (mode: CliMode, agent: object): Promise<string> => {
  const { workspace } = await makeRun(mode, agent)
  return JSON.stringify(toSandboxLimits({ ...workspace.agent, sandbox: workspace.sandbox }))
}

describe("each field of agent changes what a CLI gets, or is reported", () => {
  it("the table has every field", () => {
    const own = fieldPaths.filter((path) => path.startsWith("agent.") && !path.startsWith("agent.sandbox."))
    const paths = own.map((path) => path.replace("agent.", "").replace(/\.<id>.*$/, ""))
    expect(new Set(paths)).toEqual(new Set(["default", ...changed.map(([path]) => path)]))
  })

  it.each(cliModes.flatMap((mode) => changed.map(([path, value]) => [mode, path, value] as const)))(
    "%s: %s",
    async (mode, path, value) => {
      const isSearch = path.startsWith("web_search.") && path !== "web_search.enabled"
      // A CLI that searches by itself is not reported then.
      const sandbox = { native: { unconfined: true } }
      const block = { sandbox, ...blockWith(path, value) }
      const [limits, base] = [
        await limitsOf(mode, block),
        { sandbox, ...(isSearch ? { web_search: { enabled: true } } : {}) }
      ]
      const isWritten =
        (await written(mode, block)) !== (await written(mode, base)) || limits !== (await limitsOf(mode, base))
      const reported = await warnings(mode, block)
      const isReported = reported.some(
        (field) => `agent.${path}`.startsWith(field) || (isSearch && field === "agent.web_search.enabled")
      )
      expect([isWritten, isReported]).toContain(true)
    }
  )
})
