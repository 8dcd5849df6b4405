/** Implementation of `aicr agent`, and of the checks of agents in `aicr doctor`. Wiring only. */
import { existsSync } from "node:fs"
import { dirname, resolve } from "node:path"
import { Effect, Layer, Redacted } from "effect"
import { inEnglish } from "../text/en.ts"
import type { Reason } from "../domain/Reason.ts"
import type { CliMode } from "../agent/clis/AgentPrograms.ts"
import { AgentPrograms } from "../agent/clis/AgentPrograms.ts"
import { checkAgent } from "../agent/check/CheckAgent.ts"
import { findAgent, listUsedAgents } from "../agent/check/UsedAgents.ts"
import type { UsedAgent } from "../agent/check/UsedAgents.ts"
import { scriptedModelName } from "../agent/check/ScriptedModel.ts"
import { cliModes, findCli } from "../agent/clis/CliTable.ts"
import { installProgram } from "../agent/clis/InstallProgram.ts"
import { installAdvice, isTested, readVersion, testedRange } from "../agent/clis/ProgramFolder.ts"
import { refused } from "../cli/Exit.ts"
import type { ExitWith } from "../cli/Exit.ts"
import type { AgentLine, AgentPoint } from "../cli/AgentCommand.ts"
import { endWithCode } from "../cli/ExitCodes.ts"
import { toSnapshot } from "../config/LoadConfig.ts"
import type { Snapshot } from "../config/Snapshot.ts"
import type { AccessReport } from "../forge/Access.ts"
import { gatewayLayer } from "../llm/GatewayLayer.ts"
import * as Logging from "../observability/logs/Logging.ts"
import { Sandboxes } from "../sandbox/Sandbox.ts"
import { agentsFolder } from "./AgentFolders.ts"
import { agentServices } from "./AgentServices.ts"
import { loadForStores } from "./CommandConfig.ts"
import { verbatimReason } from "../domain/Reason.ts"

/** The configuration in force, or the defaults where the file does not exist. */
const load = (file: string): Effect.Effect<Snapshot, ExitWith> =>
  (existsSync(file) ? loadForStores(file) : toSnapshot({}, process.env, { baseDir: dirname(resolve(file)) })).pipe(
    endWithCode
  )

const findMode = (name: string): Effect.Effect<CliMode, ExitWith> => {
  const mode = cliModes.find((one) => one === name)
  return mode === undefined
    ? Effect.fail(refused(`unknown agent mode ${JSON.stringify(name)}; expected one of ${cliModes.join(", ")}`))
    : Effect.succeed(mode)
}

const services = (snapshot: Snapshot) =>
  Layer.merge(agentServices(snapshot).pipe(Layer.provide(gatewayLayer)), Logging.layerAt("error"))

export const listAgents = (config: string): Effect.Effect<ReadonlyArray<AgentLine>, ExitWith> =>
  Effect.flatMap(load(config), (snapshot) =>
    Effect.gen(function* () {
      const programs = yield* AgentPrograms
      const sandbox = yield* Effect.match((yield* Sandboxes).select(snapshot.document.agent.sandbox), {
        onFailure: ({ message }) => message,
        onSuccess: (kind): string => kind
      })
      return yield* Effect.forEach(cliModes, (mode) =>
        Effect.map(programs.version(mode), (installed): AgentLine => ({
          mode,
          package: findCli(mode).package,
          installed,
          tested: testedRange(mode),
          isTested: installed !== undefined && isTested(mode, installed),
          sandbox
        }))
      )
    }).pipe(Effect.provide(services(snapshot)))
  )

export const installAgent = (
  config: string,
  name: string,
  dir: string | undefined
): Effect.Effect<{ readonly version: string; readonly folder: string }, ExitWith> =>
  Effect.gen(function* () {
    const mode = yield* findMode(name)
    const folder = resolve(dir ?? agentsFolder(yield* load(config)))
    const version = yield* Effect.mapError(installProgram(mode, folder), ({ message }) => refused(message))
    return { version, folder }
  })

/** Returns a mode that is installed on this machine, and the folder of the CLIs. */
export const findInstalled = (
  name: string
): Effect.Effect<{ readonly mode: CliMode; readonly folder: string }, ExitWith> =>
  Effect.gen(function* () {
    const mode = yield* findMode(name)
    const folder = agentsFolder(yield* load("config.yaml"))
    const version = yield* readVersion(folder, mode)
    return version === undefined
      ? yield* refused(`agent mode ${mode} is not installed in ${folder}; ${inEnglish(installAdvice(mode))}`)
      : { mode, folder }
  })

/** A secret of this process, which no sandbox may have. */
const secretVariable = "AICR_CHECK_SECRET"

/** A configuration over the scripted model, with the agent block of the given one. */
const configureCheck = (given: Snapshot, mode: CliMode, sandbox: object) => (url: string, key: Redacted.Redacted) => {
  const { agent } = given.given
  const document = {
    agent: {
      ...agent,
      default: mode,
      timeout_seconds: 180,
      sandbox: { ...agent?.sandbox, ...sandbox }
    },
    triggers: [{ name: "check", kind: "manual" }],
    llm: {
      providers: [{ id: "check", kind: "openai_compatible", base_url: url, api_key: String(Redacted.value(key)) }],
      model_chain: { default: [{ provider: "check", model: scriptedModelName }] }
    },
    workspaces: { instances: { check: { source_repo: { trigger: "check", repo: "check/check" } } } }
  }
  return Effect.gen(function* () {
    const snapshot = yield* toSnapshot(document, process.env, { baseDir: given.baseDir })
    const workspace = snapshot.workspaces.get("check")
    return workspace === undefined ? yield* Effect.die("no workspace") : { snapshot, workspace }
  }).pipe(Effect.orDie)
}

export const checkAgentMode = (
  config: string,
  name: string,
  kind: string | undefined
): Effect.Effect<ReadonlyArray<AgentPoint>, ExitWith> =>
  Effect.gen(function* () {
    const mode = yield* findMode(name)
    const snapshot = yield* load(config)
    const secret = (process.env[secretVariable] ??= `secret-${crypto.randomUUID()}`)
    return yield* checkAgent({
      mode,
      configure: configureCheck(snapshot, mode, kind === undefined ? {} : { kind }),
      secret
    }).pipe(Effect.scoped, Effect.provide(services(snapshot)))
  })

/** Reports for a mode what `aicr agent check` does: its sandbox and its program, then the points that need the program to run. */
const reportAgent = Effect.fnUntraced(function* (
  snapshot: Snapshot,
  { mode, sandbox, workspaces }: UsedAgent,
  runs: boolean
) {
  const of = { count: workspaces.length, workspaces }
  const found = yield* Effect.result(findAgent(mode, sandbox))
  if (found._tag === "Failure")
    return [{ level: "error", reason: { _tag: "AgentUnavailable", ...of, why: found.failure.why } }] as const
  const { kind, program } = found.success
  const version: Reason = program.version === undefined ? { _tag: "OfTheImage" } : verbatimReason(program.version)
  const reports: Array<AccessReport> = [
    program.isTested
      ? { level: "ok", reason: { _tag: "AgentReady", ...of, mode, version, kind } }
      : {
          level: "warning",
          reason: { _tag: "AgentVersionUntested", ...of, mode, version, range: testedRange(mode) }
        }
  ]
  if (!runs) return reports
  const secret = (process.env[secretVariable] ??= `secret-${crypto.randomUUID()}`)
  const points = yield* Effect.scoped(checkAgent({ mode, configure: configureCheck(snapshot, mode, sandbox), secret }))
  for (const { detail, isOk, point } of points.slice(1)) {
    reports.push({
      level: isOk ? "ok" : "error",
      reason: { _tag: "AgentPoint", mode, kind, point, detail }
    })
  }
  return reports
})

/** Reports whether the agent CLIs of the workspaces exist. `runs`: and whether each of them works, against a scripted model. */
export const agentAccess = (snapshot: Snapshot, runs: boolean): Effect.Effect<ReadonlyArray<AccessReport>> =>
  Effect.map(
    Effect.forEach(listUsedAgents(snapshot.workspaces.values()), (used) => reportAgent(snapshot, used, runs)),
    (reports) => reports.flat()
  ).pipe(Effect.provide(services(snapshot)))
