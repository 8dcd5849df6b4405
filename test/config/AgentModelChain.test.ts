import { Effect } from "effect"
import { expect, it } from "vitest"
import { agentModelChain } from "../../src/config/AgentModelChain.ts"
import { makeBrief } from "../agent/clis/Fixture.ts"

it.each([
  ["claude-code", "anthropic"],
  ["codex", "openai_compatible"],
  ["copilot-cli", "copilot"],
  ["gemini-cli", "google_ai_studio"]
] as const)("agent.auth.%s is the model group of this mode alone", async (mode, kind) => {
  const provider = { kind, api_key: "key" }
  const make = (agent: object) => Effect.runPromise(makeBrief(mode, agent, { provider }))
  const { workspace } = await make({ auth: { [mode]: "plan" } })
  expect([agentModelChain(workspace, mode), agentModelChain(workspace, "kilo")]).toEqual(["plan", "default"])
  expect(agentModelChain((await make({})).workspace, mode)).toBe("default")
})
