/** Fields that the configured agent CLI does not support are reported. */
import { Effect } from "effect"
import { expect, it } from "vitest"
import type { CliMode } from "../../../src/agent/AgentPrograms.ts"
import { cliModes } from "../../../src/agent/clis/CliTable.ts"
import { agentProblems } from "../../../src/agent/clis/FieldWarnings.ts"
import { makeBrief } from "./Fixture.ts"

const warnings = async (mode: CliMode, agent: object) => {
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
  ["claude-code", ["agent.context_compaction.prune", ...fields]],
  ["codex", ["agent.auto_approve", "agent.context_compaction.prune", ...fields]],
  ["gemini-cli", ["agent.context_compaction.prune", ...fields]],
  [
    "copilot-cli",
    [
      "agent.context_compaction.auto",
      "agent.context_compaction.threshold_percent",
      "agent.context_compaction.prune",
      ...fields
    ]
  ],
  ["pi", ["agent.auto_approve", "agent.context_compaction.prune", "agent.web_search.enabled"]],
  ["zoo", ["agent.auto_approve", "agent.context_compaction.prune", "agent.web_search.enabled"]]
] as const)("of %s", async (mode, expected) => {
  expect(await warnings(mode, everything)).toEqual(expected)
})

it("without such fields nothing is reported, and without a sandbox a CLI may search by itself", async () => {
  for (const mode of cliModes) expect(await warnings(mode, {})).toEqual([])
  const unconfined = { sandbox: { native: { unconfined: true } }, web_search: { enabled: true } }
  expect(await warnings("omp", unconfined)).toEqual([])
})
