/** Fields that the configured agent CLI does not support are reported. */
import { Effect } from "effect"
import { describe, expect, it } from "vitest"
import type { CliMode } from "../../../src/agent/clis/AgentPrograms.ts"
import type { AgentConfig } from "../../../src/config/schema/Agent.ts"
import { cliModes, findCli } from "../../../src/agent/clis/CliTable.ts"
import { agentProblems } from "../../../src/agent/clis/FieldWarnings.ts"
import { toSandboxLimits } from "../../../src/sandbox/SandboxLimits.ts"
import { fieldPaths } from "../../mutate/FieldPaths.ts"
import { makeBrief } from "./Fixture.ts"
import { makeRun, searched, written } from "./WrittenProgram.ts"
import { inEnglish } from "../../../src/text/en.ts"

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
    max_queries: 3,
    credentials: { exa: "EXA_KEY" },
    searxng: { endpoint: "https://s.example" }
  }
}

const fields = ["providers", "exclude", "timeout_seconds", "max_queries", "credentials", "searxng"].map(
  (name) => `agent.web_search.${name}`
)

it.each([
  ["kilo", ["agent.web_search.searxng"]],
  ["opencode", ["agent.web_search.searxng"]],
  ["omp", ["agent.auto_approve", "agent.web_search.searxng"]],
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
      "agent.web_search.searxng"
    ]
  ],
  ["pi", ["agent.auto_approve", "agent.context_compaction.prune", "agent.web_search.searxng"]],
  ["zoo", ["agent.auto_approve", "agent.context_compaction.prune", "agent.web_search.searxng"]]
] as const)("of %s", async (mode, expected) => {
  expect(await warnings(mode, everything)).toEqual(expected)
})

const messages = async (mode: AgentConfig["default"], web_search: object) => {
  const { snapshot } = await Effect.runPromise(makeBrief(mode, { web_search: { enabled: true, ...web_search } }))
  return agentProblems(snapshot).map(({ reason }) => inEnglish(reason).replace(/^.*?: /, ""))
}

it.each([
  ["omp", { providers: ["exa", "gogle"] }, /^gogle is not a search provider; the providers are searxng, exa, /],
  ["omp", { exclude: ["Exa"] }, /^Exa is not a search provider/],
  ["omp", { providers: ["exa", "brave"] }, /^brave is never called: it needs web_search\.credentials\.brave$/],
  ["omp", { providers: ["exa", "searxng"] }, /^searxng is never called: it needs web_search\.searxng\.endpoint$/],
  ["kilo", { providers: ["brave", "exa"] }, /^brave is never called: this mode calls exa, parallel, kilo-exa only$/],
  ["opencode", { providers: ["parallel", "exa"] }, /^exa is never called: .* one provider, and parallel precedes it$/],
  ["pi", { providers: ["exa"], exclude: ["exa"] }, /^finds nothing: no search provider is left that can be called$/],
  ["zoo", { searxng: { language: "de" } }, /^has no effect: searxng is not among the providers that are called$/]
] as const)("of %s with %j", async (mode, web_search, expected) => {
  expect(await messages(mode, web_search)).toEqual([expect.stringMatching(expected)])
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
  expect(agentProblems(snapshot).map(({ reason }) => inEnglish(reason))).toEqual([
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
  expect(useless.every(({ reason }) => inEnglish(reason).includes("has the API of this CLI"))).toBe(true)
})

it("without such fields nothing is reported, nor for a search with its defaults", async () => {
  for (const mode of cliModes) expect(await warnings(mode, {})).toEqual([])
  for (const mode of cliModes.filter((one) => findCli(one).support.webSearch.by === "service"))
    expect(await warnings(mode, { web_search: { enabled: true } })).toEqual([])
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
  ["web_search.timeout_seconds", 299],
  ["web_search.max_queries", 1],
  ["web_search.credentials", { exa: "EXA_KEY" }],
  ["web_search.searxng.endpoint", "https://search.example"],
  ["web_search.searxng.categories", "it"],
  ["web_search.searxng.engines", "wikipedia"],
  ["web_search.searxng.language", "de"],
  ["web_search.searxng.safesearch", 2]
]

/** The search is on, so that its fields can have an effect; with a SearXNG for the fields of SearXNG. */
const searchBase = (path: string): object => ({
  web_search: {
    enabled: true,
    ...(/searxng\.(?!endpoint)/.test(path) ? { searxng: { endpoint: "https://search.example" } } : {})
  }
})

const merge = (base: object, more: object): object =>
  Object.fromEntries(
    [...new Set([...Object.keys(base), ...Object.keys(more)])].map((name) => {
      const [first, second] = [Reflect.get(base, name), Reflect.get(more, name)]
      const isNested = Object(first) === first && Object(second) === second && !Array.isArray(second)
      return [name, isNested ? merge(first, second) : (second ?? first)]
    })
  )

const nest = (path: string, value: unknown): object =>
  Object(path.split(".").reduceRight<unknown>((inner, name) => ({ [name]: inner }), value))

/** Limits of the sandbox, which ends a pass of every CLI. */
const limitsOf = async (mode: CliMode, agent: object): Promise<string> => {
  const { workspace } = await makeRun(mode, agent)
  return JSON.stringify(toSandboxLimits({ ...workspace.agent, sandbox: workspace.sandbox }))
}

describe("each field of agent changes what a CLI gets, or is reported", () => {
  it("the table has every field", () => {
    // Groups of agent.auth belong to one mode each (CliPass.test.ts).
    const isElsewhere = (path: string) => path.startsWith("agent.sandbox.") || path.startsWith("agent.auth.")
    const own = fieldPaths.filter((path) => path.startsWith("agent.") && !isElsewhere(path))
    const paths = own.map((path) => path.replace("agent.", "").replace(/\.<id>.*$/, ""))
    expect(new Set(paths)).toEqual(new Set(["default", ...changed.map(([path]) => path)]))
  })

  it.each(cliModes.flatMap((mode) => changed.map(([path, value]) => [mode, path, value] as const)))(
    "%s: %s",
    async (mode, path, value) => {
      const base = path.startsWith("web_search.") && path !== "web_search.enabled" ? searchBase(path) : {}
      const block = merge(base, nest(path, value))
      const gets = async (agent: object) =>
        [await written(mode, agent), await limitsOf(mode, agent), await searched(mode, agent)].join("\n")
      const isWritten = (await gets(block)) !== (await gets(base))
      const reported = await warnings(mode, block)
      const isReported = reported.some((field) => `agent.${path}`.startsWith(field))
      expect([isWritten, isReported]).toContain(true)
    }
  )
})
