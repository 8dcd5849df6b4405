/** Writes the program of a CLI for a block of `agent`, as text. */
import { Effect, Redacted } from "effect"
import type { CliMode } from "../../../src/agent/AgentPrograms.ts"
import { cliProgram } from "../../../src/agent/clis/CliProcess.ts"
import type { CliRun } from "../../../src/agent/clis/CliProcess.ts"
import { findCli } from "../../../src/agent/clis/CliTable.ts"
import { toolNames } from "../../../src/agent/Tools.ts"
import { noUsage } from "../../../src/domain/Analysis.ts"
import { ownPaths } from "../../../src/sandbox/Locations.ts"
import { makeBrief } from "./Fixture.ts"

const env = { EXA_KEY: "exa-secret", SEARX: "searx-secret" }

/** A run of a CLI with this block of `agent`. */
export const makeRun = async (mode: CliMode, agent: object): Promise<CliRun> => {
  const { snapshot, workspace } = await Effect.runPromise(makeBrief(mode, agent, { env }))
  return {
    cli: findCli(mode),
    program: {
      mode,
      version: "1",
      isTested: true,
      command: ["/agents/program"],
      packages: "/agents",
      installation: ["/agents"]
    },
    snapshot,
    workspace,
    system: "SYSTEM",
    prompt: "PROMPT",
    toolNames,
    proxy: {
      socket: "/model.sock",
      token: Redacted.make("model-token"),
      model: "some-model",
      contextWindow: 100_000,
      maxOutputTokens: 8_000,
      report: Effect.succeed({ usage: noUsage, models: [], notices: [] })
    },
    tools: {
      socket: "/tools.sock",
      path: "/mcp",
      token: Redacted.make("tools-token"),
      counts: Effect.succeed({ calls: 0, refused: 0 })
    },
    labels: { run: "run", pass: "pass" }
  }
}

/** Everything that a CLI gets, as text. */
export const written = async (mode: CliMode, agent: object): Promise<string> => {
  const { args, environment, files } = cliProgram(await makeRun(mode, agent))(ownPaths)
  const variables = Object.entries(environment).map(([name, value]) => `${name}=${value}`)
  // Settings in one line, whatever their form is.
  const texts = files.map(({ text }) => text.replaceAll(/\s+/g, " "))
  return [args.join(" "), ...variables, ...texts].join("\n")
}
