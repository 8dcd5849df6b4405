/** Implements `aicr agent`: lists the agent CLIs of this installation, installs one from npm, and checks one against a scripted model. */
import { Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { columns } from "./Columns.ts"
import { configFlag } from "./ConfigFlag.ts"
import type { ExitWith } from "./Exit.ts"
import { jsonFlag } from "./JsonFlag.ts"
import { print } from "./Print.ts"
import { reportPoints } from "./ReportPoints.ts"

export interface AgentLine {
  readonly mode: string
  /** Undefined if npm has no release of it. */
  readonly package: string | undefined
  /** Undefined if it is not installed. */
  readonly installed: string | undefined
  /** Range of versions that the settings were tested with, as npm writes it. */
  readonly tested: string
  readonly isTested: boolean
  /** Kind of sandbox that this configuration selects, or why it selects none. */
  readonly sandbox: string
}

export interface AgentPoint {
  readonly point: string
  readonly isOk: boolean
  readonly detail: string
}

interface Runs {
  readonly listAgents: (config: string) => Effect.Effect<ReadonlyArray<AgentLine>, ExitWith>
  /** Returns the version and the folder. */
  readonly installAgent: (
    config: string,
    mode: string,
    folder: string | undefined
  ) => Effect.Effect<{ readonly version: string; readonly folder: string }, ExitWith>
  readonly checkAgentMode: (
    config: string,
    mode: string,
    sandbox: string | undefined
  ) => Effect.Effect<ReadonlyArray<AgentPoint>, ExitWith>
}

const mode = Argument.String("MODE").pipe(Argument.withDescription("Agent mode, for example codex"))

const describeInstalled = ({ installed, isTested, package: name }: AgentLine): string => {
  if (installed === undefined) return name === undefined ? "not installed, not on npm" : "not installed"
  return isTested ? installed : `${installed} (not tested)`
}

const list = (runs: Effect.Effect<Runs>) =>
  Command.make(
    "list",
    { config: configFlag, json: jsonFlag },
    Effect.fnUntraced(function* ({ config, json }) {
      const lines = yield* (yield* runs).listAgents(config)
      if (json) {
        const agents = lines.map(({ installed = null, isTested, package: name = null, ...line }) => ({
          ...line,
          package: name,
          installed,
          is_tested: isTested
        }))
        return yield* print(`${JSON.stringify({ agents }, undefined, 2)}\n`)
      }
      const rows = lines.map((line) => [line.mode, describeInstalled(line), line.tested, line.sandbox])
      yield* print(`${columns([["MODE", "INSTALLED", "TESTED", "SANDBOX"], ...rows])}\n`)
    })
  ).pipe(
    Command.withDescription("List the agent CLIs with their versions and the sandbox they run in"),
    Command.withExamples([
      { command: "aicr agent list", description: "Modes, installed versions, tested versions, sandbox" }
    ])
  )

const install = (runs: Effect.Effect<Runs>) =>
  Command.make(
    "install",
    {
      mode,
      config: configFlag,
      dir: Flag.String("dir").pipe(
        Flag.withMetavar("DIR"),
        Flag.withDescription("Folder to install into. Default: SVC_AGENTS_DIR, or agents in the data folder"),
        Flag.optional
      )
    },
    Effect.fnUntraced(function* ({ config, dir, mode: name }) {
      const { folder, version } = yield* (yield* runs).installAgent(config, name, Option.getOrUndefined(dir))
      yield* print(`${name} ${version} is installed in ${folder}\n`)
    })
  ).pipe(
    Command.withDescription("Install the tested version of an agent CLI from npm"),
    Command.withExamples([
      { command: "aicr agent install codex", description: "Into the data folder" },
      { command: "aicr agent install pi --dir /opt/agents", description: "For SVC_AGENTS_DIR=/opt/agents" }
    ])
  )

const check = (runs: Effect.Effect<Runs>) =>
  Command.make(
    "check",
    {
      mode,
      config: configFlag,
      sandbox: Flag.String("sandbox").pipe(
        Flag.withMetavar("KIND"),
        Flag.withDescription("Kind of sandbox. Default: that of the configuration"),
        Flag.optional
      ),
      json: jsonFlag
    },
    Effect.fnUntraced(function* ({ config, json, mode: name, sandbox }) {
      const points = yield* (yield* runs).checkAgentMode(config, name, Option.getOrUndefined(sandbox))
      const checks = points.map(({ detail, isOk, point }) => ({ point, ok: isOk, detail }))
      const rows = points.map(({ detail, isOk, point }) => ({ point, state: isOk ? "ok" : "failed", detail }))
      yield* reportPoints(json, { mode: name }, checks, rows)
    })
  ).pipe(
    Command.withDescription(
      "Run an agent CLI against a scripted model, without network, and print what works and what does not"
    ),
    Command.withExamples([
      { command: "aicr agent check codex", description: "In the sandbox of the configuration" },
      { command: "aicr agent check codex --sandbox podman --json", description: "In podman, for scripts" }
    ])
  )

export const agentCommand = (runs: Effect.Effect<Runs>) =>
  Command.make("agent").pipe(
    Command.withDescription("Agent CLIs that review in sandboxes: list, install, check"),
    Command.withSubcommands([list(runs), install(runs), check(runs)])
  )
