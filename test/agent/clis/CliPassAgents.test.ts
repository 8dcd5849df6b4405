/**
 * Real agent CLIs in a real sandbox: what they are given, and that their reports arrive. Two of them by default; AICR_TEST_AGENTS=all runs
 * every one that npm installs, or a list such as `kilo,omp`.
 */
import { it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { join } from "node:path"
import { beforeAll, describe, expect } from "vitest"
import type { CliMode } from "../../../src/agent/AgentPrograms.ts"
import { CliAgents } from "../../../src/agent/CliAgents.ts"
import { cliModes, findCli } from "../../../src/agent/clis/CliTable.ts"
import { toolServersLayer } from "../../../src/agent/mcp/ToolServersLayer.ts"
import { modelProxiesLayer } from "../../../src/agent/proxy/ModelProxiesLayer.ts"
import { toolNames } from "../../../src/agent/Tools.ts"
import { gatewayLayer } from "../../../src/llm/GatewayLayer.ts"
import { AgentPasses } from "../../../src/store/AgentPasses.ts"
import { provideCli } from "../../harness/AgentClis.ts"
import { startFakeModel } from "../../harness/FakeModel.ts"
import { testOwners } from "../../harness/Owners.ts"
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

const review = (mode: CliMode) =>
  Effect.gen(function* () {
    const fake = yield* Effect.acquireRelease(
      Effect.promise(() => startFakeModel(reportOnce())),
      (model) => Effect.promise(() => model.close())
    )
    const brief = yield* makeBrief(mode, {}, { url: fake.url })
    const root = yield* temporary
    const report = yield* CliAgents.use((agents) => agents.analyse(mode, brief)).pipe(
      Effect.provide([
        CliAgents.layer.pipe(
          Layer.provide([
            installedPrograms,
            nativeSandboxes(root),
            toolServersLayer(join(root, "tools")),
            modelProxiesLayer(join(root, "models")).pipe(Layer.provide(gatewayLayer)),
            AgentPasses.layerNone
          ])
        ),
        testOwners
      ])
    )
    return { report, requests: fake.requests }
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
})
