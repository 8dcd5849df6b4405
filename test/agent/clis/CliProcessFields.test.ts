/** Fields of `agent`: each reaches the settings, variables or arguments of the CLIs that have it. */
import { Effect, Exit, Stream } from "effect"
import { describe, expect, it } from "vitest"
import type { CliMode } from "../../../src/agent/clis/AgentPrograms.ts"
import { startCli } from "../../../src/agent/clis/CliProcess.ts"
import { cliModes, findCli } from "../../../src/agent/clis/CliTable.ts"
import { Sandboxes } from "../../../src/sandbox/Sandbox.ts"
import type { SandboxOrder } from "../../../src/sandbox/Sandbox.ts"
import type { SandboxConfig } from "../../../src/config/schema/Agent.ts"
import { makeRun, searched, written } from "./WrittenProgram.ts"

const search = (more: object = {}) => ({ web_search: { enabled: true, ...more } })
const compaction = (more: object) => ({ context_compaction: more })

/** Field, mode, configuration, a text that only this configuration writes. */
const table: ReadonlyArray<readonly [field: string, mode: CliMode, agent: object, text: string]> = [
  ["auto_approve", "claude-code", { auto_approve: false }, "--permission-mode dontAsk"],
  ["auto_approve", "gemini-cli", { auto_approve: false }, "--approval-mode default"],
  ["auto_approve", "copilot-cli", { auto_approve: false }, "--allow-tool review"],
  ["context_compaction.auto", "kilo", compaction({ auto: false }), "KILO_DISABLE_AUTOCOMPACT=1"],
  ["context_compaction.auto", "opencode", compaction({ auto: false }), '"auto": false'],
  ["context_compaction.auto", "claude-code", compaction({ auto: false }), "DISABLE_AUTO_COMPACT=1"],
  ["context_compaction.auto", "codex", compaction({ auto: false }), "model_auto_compact_token_limit = 9000000000"],
  ["context_compaction.auto", "gemini-cli", compaction({ auto: false }), '"compressionThreshold": 1'],
  ["context_compaction.auto", "pi", compaction({ auto: false }), '"compaction": { "enabled": false'],
  ["context_compaction.auto", "omp", compaction({ auto: false }), '"compaction": { "enabled": false'],
  ["context_compaction.auto", "zoo", compaction({ auto: false }), '"autoCondenseContext": false'],
  ["context_compaction.threshold_percent", "kilo", compaction({ threshold_percent: 60 }), '"reserved": 40000'],
  ["context_compaction.threshold_percent", "opencode", compaction({ threshold_percent: 60 }), '"reserved": 40000'],
  [
    "context_compaction.threshold_percent",
    "claude-code",
    compaction({ threshold_percent: 60 }),
    "CLAUDE_AUTOCOMPACT_PCT_OVERRIDE=60"
  ],
  [
    "context_compaction.threshold_percent",
    "codex",
    compaction({ threshold_percent: 60 }),
    "model_auto_compact_token_limit = 60000"
  ],
  ["context_compaction.threshold_percent", "pi", compaction({ threshold_percent: 60 }), '"reserveTokens": 40000'],
  ["context_compaction.threshold_percent", "omp", compaction({ threshold_percent: 60 }), '"thresholdPercent": 60'],
  [
    "context_compaction.threshold_percent",
    "zoo",
    compaction({ threshold_percent: 60 }),
    '"autoCondenseContextPercent": 60'
  ],
  ["context_compaction.prune", "opencode", compaction({ prune: false }), "OPENCODE_DISABLE_PRUNE=1"],
  ["context_compaction.prune", "omp", compaction({ prune: false }), '"dropUseless": false'],
  ["web_search.enabled", "kilo", search(), '"review_web_search": "allow"'],
  ["web_search.enabled", "opencode", search(), '"review_web_search": "allow"'],
  ["web_search.enabled", "claude-code", search(), "--tools WebSearch"],
  ["web_search.enabled", "codex", search(), 'web_search = "live"'],
  ["web_search.enabled", "copilot-cli", search(), "review-web_search"],
  ["web_search.enabled", "zoo", search(), '"web_search"'],
  // The chain of a whole list may take as long as each of its providers.
  ["web_search.timeout_seconds", "omp", search({ timeout_seconds: 200 }), '"timeout": 410000'],
  ["web_search.timeout_seconds", "kilo", search({ timeout_seconds: 200 }), '"timeout": 210000'],
  ["web_search.timeout_seconds", "pi", search({ timeout_seconds: 300 }), '"timeout": 610']
]

it.each(table)("agent.%s is written for %s", async (_, mode, agent, text) => {
  expect(await written(mode, agent)).toContain(text)
  expect(await written(mode, {})).not.toContain(text)
})

describe.each(cliModes)("%s", (mode) => {
  it("gets no credential of a search provider, neither of a variable nor a literal of a workspace", async () => {
    const credentials = { exa: "EXA_KEY", parallel: "EXA_KEY", "kilo-exa": "EXA_KEY", searxng: "SEARX", brave: "SEARX" }
    const searxng = { endpoint: "https://s.example" }
    const own = { web_search: { credentials: { tavily: { value: "literal-secret" } } } }
    const text = await written(mode, search({ credentials, searxng }), own)
    expect(text).not.toMatch(/exa-secret|searx-secret|literal-secret|_API_KEY=(?!model-token)|s\.example/)
  })

  it("has its own search off, except for one of the provider of its model", async () => {
    const text = await written(mode, search())
    if (findCli(mode).support.webSearch.by === "model") return
    expect(text).not.toMatch(/ENABLE_(EXA|PARALLEL)|"websearch": "allow"|--tools web_search/)
    const off: Partial<Record<CliMode, string>> = {
      kilo: '"websearch": "deny"',
      opencode: '"websearch": "deny"',
      omp: '"web_search": { "enabled": false }',
      "copilot-cli": "--deny-tool web_search"
    }
    expect(text).toContain(off[mode] ?? "")
  })
})

const endpoint = "https://s.example/base"
/** Field, configuration, a text that only this configuration adds to what the service sends for the agent. */
const sent: ReadonlyArray<readonly [field: string, web_search: object, text: string]> = [
  ["providers", { providers: ["parallel"] }, '{"calls":[{"method":"POST","url":"https://search.parallel.ai/mcp"'],
  ["exclude", { exclude: ["exa"] }, '{"calls":[{"method":"POST","url":"https://search.parallel.ai/mcp"'],
  ["max_queries", { max_queries: 1 }, "the limit of 1 searches"],
  ["credentials", { credentials: { exa: "EXA_KEY" } }, '"x-api-key":"exa-secret"'],
  ["searxng.endpoint", { searxng: { endpoint } }, "https://s.example/base/search?q=first"],
  ["searxng.categories", { searxng: { endpoint, categories: "it" } }, "categories=it"],
  ["searxng.engines", { searxng: { endpoint, engines: "wiki" } }, "engines=wiki"],
  ["searxng.language", { searxng: { endpoint, language: "de" } }, "language=de"],
  ["searxng.safesearch", { searxng: { endpoint, safesearch: 2 } }, "safesearch=2"]
]

it.each(sent)("agent.web_search.%s decides what the service sends", async (_, web_search, text) => {
  expect(await searched("pi", search(web_search))).toContain(text)
  expect(await searched("pi", search())).not.toContain(text)
})

it("agent.web_search.credentials.<id>.value: a literal of a workspace is sent, unless its provider is excluded", async () => {
  const own = { web_search: { credentials: { tavily: { value: "literal-secret" } } } }
  expect(await searched("copilot-cli", search(), own)).toContain("Bearer literal-secret")
  expect(await searched("copilot-cli", search({ exclude: ["tavily"] }), own)).not.toContain("literal-secret")
})

describe("the sandbox of a CLI", () => {
  /** Returns the configuration and the request that the sandbox gets. */
  const started = async (sandbox: object, agent: object = {}) => {
    const seen: Array<{ readonly config: SandboxConfig; readonly request: SandboxOrder }> = []
    const capture = Sandboxes.of({
      select: () => Effect.succeed("native"),
      start: (config, request) =>
        Effect.sync(() => {
          seen.push({ config, request })
          return {
            kind: "native",
            notices: [],
            lines: Stream.empty,
            exit: Effect.succeed({ reason: "exited", code: 0 } as const),
            stderr: Effect.succeed("")
          } as const
        })
    })
    const run = await makeRun("codex", { ...agent, sandbox })
    const exit = await Effect.runPromiseExit(
      startCli(run).pipe(Effect.scoped, Effect.provideService(Sandboxes, capture))
    )
    expect(Exit.isSuccess(exit)).toBe(true)
    const [first] = seen
    if (first === undefined) throw new Error("no sandbox was started")
    return first
  }

  const limits: ReadonlyArray<readonly [field: string, given: object, limit: object]> = [
    ["memory_mb", { memory_mb: 100 }, { memoryBytes: 104_857_600 }],
    ["cpus", { cpus: 0.5 }, { cpus: 0.5 }],
    ["processes", { processes: 99 }, { processes: 99 }],
    ["file_mb", { file_mb: 9 }, { fileBytes: 9_437_184 }],
    ["output_mb", { output_mb: 3 }, { outputBytes: 3_145_728 }]
  ]
  it.each(limits)("has agent.sandbox.limits.%s", async (_, given, limit) => {
    expect((await started({ limits: given })).request.limits).toMatchObject(limit)
  })

  const settings: ReadonlyArray<readonly [field: string, given: object]> = [
    ["kind", { kind: "podman" }],
    ["engine", { engine: "docker" }],
    ["image", { image: "registry.example/agents:1" }],
    ["native.unconfined", { native: { unconfined: true } }],
    ["native.first_uid", { native: { first_uid: 70_000 } }],
    ["kubernetes.namespace", { kubernetes: { namespace: "sandboxes" } }],
    ["kubernetes.service_account_dir", { kubernetes: { service_account_dir: "/account" } }],
    ["kubernetes.start_timeout_seconds", { kubernetes: { start_timeout_seconds: 7 } }],
    ["kubernetes.runtime_class", { kubernetes: { runtime_class: "gvisor" } }],
    ["kubernetes.node_selector", { kubernetes: { node_selector: { pool: "agents" } } }],
    ["kubernetes.image_pull_secrets", { kubernetes: { image_pull_secrets: ["registry"] } }],
    ["microvm.kernel", { microvm: { kernel: "/vmlinuz" } }],
    ["microvm.modules_dir", { microvm: { modules_dir: "/lib/modules/6" } }],
    ["microvm.root_image", { microvm: { root_image: "/agents.ext4" } }],
    ["microvm.emulation", { microvm: { emulation: true } }],
    ["microvm.start_timeout_seconds", { microvm: { start_timeout_seconds: 7 } }]
  ]
  it.each(settings)("has agent.sandbox.%s", async (_, given) => {
    expect((await started(given)).config).toMatchObject(given)
  })

  it("has the time of agent.timeout_seconds", async () => {
    expect((await started({}, { timeout_seconds: 33 })).request.limits.timeMillis).toBe(33_000)
  })
})
