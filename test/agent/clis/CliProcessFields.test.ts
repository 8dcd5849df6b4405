/** Fields of `agent`: each reaches the settings, variables or arguments of the CLIs that have it. */
import { Effect, Exit, Stream } from "effect"
import { describe, expect, it } from "vitest"
import type { CliMode } from "../../../src/agent/AgentPrograms.ts"
import { cliProgram, startCli } from "../../../src/agent/clis/CliProcess.ts"
import { Sandboxes } from "../../../src/sandbox/Sandbox.ts"
import type { SandboxRequest } from "../../../src/sandbox/Sandbox.ts"
import type { SandboxConfig } from "../../../src/config/schema/Agent.ts"
import { ownPaths } from "../../../src/sandbox/Locations.ts"
import { makeBrief } from "./Fixture.ts"
import { makeRun, written } from "./WrittenProgram.ts"

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
  ["web_search.enabled", "kilo", search(), "KILO_ENABLE_EXA=1"],
  ["web_search.enabled", "opencode", search(), '"websearch": "allow"'],
  ["web_search.enabled", "claude-code", search(), "--tools WebSearch"],
  ["web_search.enabled", "codex", search(), 'web_search = "live"'],
  ["web_search.enabled", "omp", search(), '"web_search": { "enabled": true }'],
  ["web_search.providers", "kilo", search({ providers: ["kilo-exa"] }), "KILO_WEBSEARCH_PROVIDER=kilo-exa"],
  [
    "web_search.providers",
    "opencode",
    search({ providers: ["brave", "parallel", "exa"] }),
    "OPENCODE_WEBSEARCH_PROVIDER=parallel"
  ],
  ["web_search.providers", "omp", search({ providers: ["brave", "exa"] }), '"webSearchOrder": [ "brave", "exa" ]'],
  ["web_search.exclude", "opencode", search({ exclude: ["exa"] }), "OPENCODE_WEBSEARCH_PROVIDER=parallel"],
  ["web_search.exclude", "omp", search({ exclude: ["exa"] }), '"webSearchExclude": [ "exa" ]'],
  ["web_search.timeout_seconds", "omp", search({ timeout_seconds: 7 }), '"webSearchTimeoutSeconds": 7'],
  ["web_search.credentials", "kilo", search({ credentials: { exa: "EXA_KEY" } }), "EXA_API_KEY=exa-secret"],
  ["web_search.credentials", "omp", search({ credentials: { searxng: "SEARX" } }), "SEARXNG_TOKEN=searx-secret"],
  [
    "web_search.searxng.endpoint",
    "omp",
    search({ searxng: { endpoint: "https://s.example" } }),
    '"endpoint": "https://s.example'
  ],
  ["web_search.searxng.categories", "omp", search({ searxng: { categories: "it" } }), '"categories": "it"'],
  ["web_search.searxng.engines", "omp", search({ searxng: { engines: "wiki" } }), '"engines": "wiki"'],
  ["web_search.searxng.language", "omp", search({ searxng: { language: "de" } }), '"language": "de"'],
  ["web_search.searxng.safesearch", "omp", search({ searxng: { safesearch: 2 } }), '"safesearch": 2']
]

it.each(table)("agent.%s is written for %s", async (_, mode, agent, text) => {
  expect(await written(mode, agent)).toContain(text)
  expect(await written(mode, {})).not.toContain(text)
})

it("agent.web_search.credentials.<id>.value: a literal of a workspace is written, unless its provider is excluded", async () => {
  const literal = { exa: { value: "literal-secret" } }
  const { snapshot, workspace } = await Effect.runPromise(
    makeBrief("kilo", {}, { own: { web_search: { enabled: true, credentials: literal } } })
  )
  const run = { ...(await makeRun("kilo", {})), snapshot, workspace }
  expect(cliProgram(run)(ownPaths).environment["EXA_API_KEY"]).toBe("literal-secret")
  const without = await written("omp", search({ credentials: { exa: "EXA_KEY" }, exclude: ["exa"] }))
  expect(without).not.toContain("exa-secret")
})

describe("the sandbox of a CLI", () => {
  /** Returns the configuration and the request that the sandbox gets. */
  const started = async (sandbox: object, agent: object = {}) => {
    const seen: Array<{ readonly config: SandboxConfig; readonly request: SandboxRequest }> = []
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
