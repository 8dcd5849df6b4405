/** Writes the program of a CLI for a block of `agent`, as text. */
import { Effect, Logger, Redacted } from "effect"
import type { CliMode } from "../../../src/agent/clis/AgentPrograms.ts"
import { cliProgram } from "../../../src/agent/clis/CliProcess.ts"
import type { CliRun } from "../../../src/agent/clis/CliProcess.ts"
import { findCli } from "../../../src/agent/clis/CliTable.ts"
import { openCliSearch } from "../../../src/agent/clis/CliSearch.ts"
import type { SearchCall } from "../../../src/agent/search/SearchProviders.ts"
import { SearchFailure, WebSearch } from "../../../src/agent/search/WebSearch.ts"
import { webSearchLayer } from "../../../src/agent/search/WebSearchLayer.ts"
import { noUsage } from "../../../src/domain/Analysis.ts"
import { ownPaths } from "../../../src/sandbox/Locations.ts"
import { makeBrief } from "./Fixture.ts"

const env = { EXA_KEY: "exa-secret", SEARX: "searx-secret" }

/** A run of a CLI with this block of `agent`. */
export const makeRun = async (mode: CliMode, agent: object, own: object = {}): Promise<CliRun> => {
  const brief = await Effect.runPromise(makeBrief(mode, agent, { env, own }))
  const cli = findCli(mode)
  const { callSeconds, names } = await Effect.runPromise(
    openCliSearch(cli, brief, { used: 0, record: () => Effect.void }).pipe(
      Effect.provide(webSearchLayer((text) => text))
    )
  )
  return {
    cli,
    program: {
      mode,
      version: "1",
      isTested: true,
      command: ["/agents/program"],
      packages: "/agents",
      installation: ["/agents"]
    },
    workspace: brief.workspace,
    system: "SYSTEM",
    prompt: "PROMPT",
    toolNames: names,
    callSeconds,
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
export const written = async (mode: CliMode, agent: object, own: object = {}): Promise<string> => {
  const { args, environment, files } = cliProgram(await makeRun(mode, agent, own))(ownPaths)
  const variables = Object.entries(environment).map(([name, value]) => `${name}=${value}`)
  // Settings in one line, whatever their form is.
  const texts = files.map(({ text }) => text.replaceAll(/\s+/g, " "))
  return [args.join(" "), ...variables, ...texts].join("\n")
}

/** Returns what the service does for two searches of the agent: requests to providers, replies, offered tools, time of a call. */
export const searched = async (mode: CliMode, agent: object, own: object = {}): Promise<string> => {
  const calls: Array<SearchCall> = []
  const web = WebSearch.of({
    scrub: (text) => text,
    send: (call) => Effect.suspend(() => (calls.push(call), Effect.fail(new SearchFailure({ status: "unreachable" }))))
  })
  const run = Effect.gen(function* () {
    const brief = yield* makeBrief(mode, agent, { env, own })
    const { search, ...offered } = yield* openCliSearch(findCli(mode), brief, { used: 0, record: () => Effect.void })
    const replies: Array<string> = []
    if (search !== undefined) for (const query of ["first", "second"]) replies.push(yield* search(query))
    return JSON.stringify({ calls, replies, offered })
  })
  return Effect.runPromise(run.pipe(Effect.provideService(WebSearch, web), Effect.provide(Logger.layer([]))))
}
