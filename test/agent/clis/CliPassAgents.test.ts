/**
 * Real agent CLIs in a real sandbox: what they are given, and that their reports arrive. Two of them by default; AICR_TEST_AGENTS=all runs
 * every one that npm installs, or a list such as `kilo,omp`.
 */
import { it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { copyFileSync, mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect } from "vitest"
import type { CliMode } from "../../../src/agent/clis/AgentPrograms.ts"
import { CliAgents } from "../../../src/agent/clis/CliAgents.ts"
import { cliModes, findCli } from "../../../src/agent/clis/CliTable.ts"
import * as ProgramFolder from "../../../src/agent/clis/ProgramFolder.ts"
import { toolServersLayer } from "../../../src/agent/mcp/ToolServersLayer.ts"
import { modelProxiesLayer } from "../../../src/agent/proxy/ModelProxiesLayer.ts"
import { webSearchLayer } from "../../../src/agent/search/WebSearchLayer.ts"
import { toolNames } from "../../../src/agent/tools/Tools.ts"
import { gatewayLayer } from "../../../src/llm/GatewayLayer.ts"
import { defaultImage } from "../../../src/sandbox/drivers/DefaultImage.ts"
import { sandboxesLayer } from "../../../src/sandbox/SandboxesLayer.ts"
import { scrubSecrets } from "../../../src/review/Secrets.ts"
import { AgentPasses } from "../../../src/store/AgentPasses.ts"
import { startFakeSearch } from "../../harness/FakeSearch.ts"
import type { FakeSearch } from "../../harness/FakeSearch.ts"
import { agentFolder, provideCli } from "../../harness/AgentClis.ts"
import { startFakeModel } from "../../harness/FakeModel.ts"
import type { Recorded } from "../../harness/FakeModel.ts"
import type { Reply } from "../../harness/FakeModelReply.ts"
import { testOwners } from "../../harness/Owners.ts"
import { startPodman } from "../../harness/Podman.ts"
import type { Podman } from "../../harness/Podman.ts"
import {
  installedPrograms,
  makeBrief,
  nativeSandboxes,
  offeredTools,
  problem,
  reportOnce,
  temporary
} from "./Fixture.ts"

const byDefault: ReadonlyArray<CliMode> = ["codex", "pi"]
const named = process.env["AICR_TEST_AGENTS"]
const modes =
  named === undefined
    ? byDefault
    : cliModes.filter(
        (mode) => findCli(mode).package !== undefined && (named === "all" || named.split(",").includes(mode))
      )

/** Tools that a CLI offers with any settings, and that neither read files nor contact servers. */
const harmless: Partial<Record<CliMode, ReadonlyArray<string>>> = {
  codex: [
    "list_mcp_resources",
    "list_mcp_resource_templates",
    "read_mcp_resource",
    "request_user_input",
    // Reads images of its sandbox, which has none.
    "view_image"
  ]
}

/** Modes whose compaction has a threshold that applies to small contexts. Pi keeps 20,000 tokens in any case, which the test does not have. */
const compacting: ReadonlyArray<CliMode> = ["kilo", "opencode", "claude-code", "codex", "omp"]
const usageStep = 10_000

/** A model that reads without end, and reports more input with every call, until the agent calls it to shorten the conversation. */
const growingUsage = () => {
  const state = { input: 0, before: undefined as number | undefined, longest: 0 }
  const script = ({ body, text }: Recorded): Reply => {
    const tools = offeredTools(body)
    const list = tools.find((name) => name.endsWith("list_files"))
    const end = tools.find((name) => name.endsWith("publish_summary"))
    const isShorter = list === undefined || end === undefined || text.length < state.longest
    if (state.input > 0 && isShorter) state.before ??= state.input
    state.longest = Math.max(state.longest, text.length)
    const group = text.includes('"type":"namespace"') ? { namespace: "mcp__review" } : {}
    if (list === undefined || end === undefined) return { text: "A summary of the conversation." }
    if (state.before !== undefined || state.input >= 190_000)
      return { calls: [{ name: end, ...group, input: { markdown: "Nothing." } }] }
    state.input += usageStep
    return {
      calls: [{ name: list, ...group, input: { path: `src/${state.input}` } }],
      usage: { input: state.input, output: 20, cached: 0 }
    }
  }
  return { state, script }
}

interface Scripted {
  readonly provider?: object
  readonly agent?: object
  readonly env?: Record<string, string>
  readonly programs?: typeof installedPrograms
  readonly script?: ReturnType<typeof reportOnce>
  /** Connects to search providers. */
  readonly search?: FakeSearch["dispatcher"]
}

/** Reviews with this configuration of the sandbox, by default the native one. */
const review = (
  mode: CliMode,
  sandbox: object = {},
  sandboxes = nativeSandboxes,
  { agent = {}, env = {}, provider = {}, programs = installedPrograms, script = reportOnce(), search }: Scripted = {}
) =>
  Effect.gen(function* () {
    const fake = yield* Effect.acquireRelease(
      Effect.promise(() => startFakeModel(script)),
      (model) => Effect.promise(() => model.close())
    )
    const brief = yield* makeBrief(mode, { ...agent, sandbox }, { env, provider, url: fake.url })
    const root = yield* temporary
    const report = yield* CliAgents.use((agents) => agents.analyse(mode, brief)).pipe(
      Effect.provide([
        CliAgents.layer.pipe(
          Layer.provide([
            programs,
            sandboxes(root),
            toolServersLayer(join(root, "tools")),
            modelProxiesLayer(join(root, "models")).pipe(Layer.provide(gatewayLayer)),
            webSearchLayer(scrubSecrets, search),
            AgentPasses.layerNone
          ])
        ),
        testOwners
      ])
    )
    return { report, requests: fake.requests }
  }).pipe(Effect.scoped)

/** Searches, then reports. */
const searchFirst = () => {
  const rest = reportOnce()
  let isSearched = false
  return (request: Recorded): Reply => {
    const tool = offeredTools(request.body).find((name) => name.endsWith("web_search"))
    if (isSearched || tool === undefined) return rest(request)
    isSearched = true
    return { calls: [{ name: tool, input: { query: "list index" } }] }
  }
}

/** Searches once with a search server in the place of every provider. */
const searchOnce = (mode: CliMode, sandbox: object = {}, sandboxes = nativeSandboxes) =>
  Effect.gen(function* () {
    const results = [{ title: "Found", url: "https://found.example/", content: "a result" }]
    const search = yield* Effect.acquireRelease(
      Effect.promise(() => startFakeSearch(() => ({ body: { results } }))),
      (server) => Effect.promise(() => server.close())
    )
    const { webSearch } = findCli(mode).support
    const id = webSearch.by === "service" && webSearch.reach.isSingle ? "exa" : "searxng"
    const secret = "search-secret-0123456789"
    const web_search = {
      enabled: true,
      providers: [id],
      credentials: { [id]: "SEARCH_KEY" },
      searxng: { endpoint: search.url }
    }
    const { report, requests } = yield* review(mode, sandbox, sandboxes, {
      agent: { web_search },
      env: { SEARCH_KEY: secret },
      script: searchFirst(),
      search: search.dispatcher
    })
    expect(report).toMatchObject({ problems: [problem], summary: "One problem.", notices: [] })
    const offered = offeredTools(requests.find(({ text }) => text.includes("publish_summary"))?.body)
    expect(offered.filter((name) => /search/i.test(name.replace("search_code", "")))).toEqual([
      expect.stringMatching(/review.*web_search$/)
    ])
    expect(search.requests.map(({ path }) => path)).toEqual(["/search"])
    const sent = requests.map(({ text }) => text).join("\n")
    expect(sent).toContain("https://found.example/")
    expect(sent).not.toContain(secret)
  }).pipe(Effect.scoped)

describe.each(modes)("%s", (mode) => {
  beforeAll(() => provideCli(mode), 600_000)

  it.live(
    "reports through its tools, gets the texts of the pass, and has no tools but those of the review",
    () =>
      Effect.gen(function* () {
        const { report, requests } = yield* review(mode)
        expect(report).toMatchObject({ problems: [problem], summary: "One problem.", notices: [] })
        expect(report.failure).toBeUndefined()
        // The fake model counts 100 input and 20 output tokens per call.
        const { requests: calls, inputTokens, outputTokens } = report.usage
        expect({ calls, inputTokens, outputTokens }).toEqual({
          calls: requests.length,
          inputTokens: 100 * requests.length,
          outputTokens: 20 * requests.length
        })
        const [first] = requests.filter(({ text }) => text.includes("publish_summary"))
        for (const text of ["You review changes.", "Title: Read the first item", "+const x = list[0]"])
          expect(first?.text).toContain(text)
        const foreign = offeredTools(first?.body).filter(
          (name) => !toolNames.some((tool) => name.endsWith(tool)) && harmless[mode]?.includes(name) !== true
        )
        expect(foreign).toEqual([])
      }),
    120_000
  )

  it.live.runIf(findCli(mode).support.webSearch.by === "service")(
    "searches the web with the tool of this service, and has no other search",
    () => searchOnce(mode),
    120_000
  )
})

describe.each(modes.filter((mode) => compacting.includes(mode)))("%s compacts its conversation", (mode) => {
  beforeAll(() => provideCli(mode), 600_000)

  it.live(
    "at the share of the context window that the configuration states",
    () =>
      Effect.gen(function* () {
        const { script, state } = growingUsage()
        // Some end with the shortened conversation, which does not matter here.
        yield* Effect.result(
          review(mode, {}, nativeSandboxes, {
            agent: { context_compaction: { threshold_percent: 50 } },
            provider: { context_window: 200_000, max_output_tokens: 8_000 },
            script
          })
        )
        expect(state.before).toBeGreaterThanOrEqual(100_000)
        expect(state.before).toBeLessThanOrEqual(100_000 + 2 * usageStep)
      }),
    120_000
  )
})

describe("zoo, by a program that accepts and prints what it does", () => {
  const build = (folders: ReadonlyArray<string> = ["lib", "extension", "bin"]) =>
    Effect.map(temporary, (folder) => {
      const target = join(folder, "zoo", "node_modules", "zoo")
      for (const path of folders) mkdirSync(join(target, path), { recursive: true })
      writeFileSync(join(target, "package.json"), JSON.stringify({ version: "0.1.17", type: "module" }))
      if (folders.includes("bin")) writeFileSync(join(target, "bin", "rg"), "")
      copyFileSync(join(import.meta.dirname, "FakeZoo.mjs"), join(target, "lib", "index.js"))
      return ProgramFolder.layer(folder)
    })

  it.live("reports through proxy and tools", () =>
    Effect.gen(function* () {
      const { report, requests } = yield* review("zoo", {}, nativeSandboxes, { programs: yield* build() })
      expect(report).toMatchObject({ problems: [problem], summary: "One problem.", notices: [] })
      expect(report.usage.requests).toBe(requests.length)
      for (const text of ["You review changes.", "Title: Read the first item", "+const x = list[0]"])
        expect(requests[0]?.text).toContain(text)
    }).pipe(Effect.scoped)
  )

  it.live("fails with what it prints", () =>
    Effect.gen(function* () {
      const programs = yield* build(["lib", "extension"])
      const error = yield* Effect.flip(review("zoo", {}, nativeSandboxes, { programs }))
      expect(error.message).toMatch(/zoo ended with exit code 1, .*no tool call arrived; no \/.*\/zoo\/bin\/rg$/)
    }).pipe(Effect.scoped)
  )

  it.live("fails with the model", () =>
    Effect.gen(function* () {
      const script = () => ({ status: 401 })
      const error = yield* Effect.flip(review("zoo", {}, nativeSandboxes, { programs: yield* build(), script }))
      expect(error).toMatchObject({ reason: "failed", message: expect.stringContaining("HTTP 401") })
    }).pipe(Effect.scoped)
  )
})

describe("in podman", () => {
  let podman: Podman
  beforeAll(async () => {
    for (const mode of byDefault) await provideCli(mode)
    const folders = { [`${ProgramFolder.imageFolder}/pi`]: join(agentFolder, "pi") }
    podman = await startPodman({ image: defaultImage, node: "copy", folders })
  }, 600_000)
  afterAll(() => podman.stop())
  const inPodman = (root: string) => sandboxesLayer(root, { CONTAINER_HOST: `unix://${podman.socket}` })

  it.live(
    "pi of the image of this version reports through proxy and tools, without sandbox.image",
    () =>
      Effect.gen(function* () {
        const { report, requests } = yield* review("pi", { kind: "podman" }, inPodman)
        expect(report).toMatchObject({ problems: [problem], summary: "One problem.", notices: [] })
        expect(report.usage.requests).toBe(requests.length)
      }),
    120_000
  )

  it.live("pi searches the web through the service", () => searchOnce("pi", { kind: "podman" }, inPodman), 120_000)

  it.live(
    "codex of this machine does so in another image",
    () =>
      Effect.gen(function* () {
        podman.run("tag", defaultImage, "localhost/other:1")
        const { report, requests } = yield* review("codex", { kind: "podman", image: "localhost/other:1" }, inPodman)
        expect(report).toMatchObject({ problems: [problem], summary: "One problem.", notices: [] })
        expect(report.usage.requests).toBe(requests.length)
      }),
    120_000
  )
})
