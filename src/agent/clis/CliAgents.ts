/** Runs briefs with agent CLIs. A service of its own, because commands without a sandbox have none. */
import { Context, Effect, Layer, Semaphore, Clock, Deferred } from "effect"
import { totalmem } from "node:os"
import { AgentError } from "../Agent.ts"
import type { AgentReport, Brief } from "../Agent.ts"
import type { CliMode, AgentProgram } from "./AgentPrograms.ts"
import { passTimes, maxLoggedTexts, maxReplyBytes } from "./PassLimits.ts"
import type { PassTimes } from "./PassLimits.ts"
import type { Scope } from "effect"
import { restorePass } from "../../domain/AgentPass.ts"
import { agentModelChain } from "../../config/AgentModelChain.ts"
import { ModelRun } from "../../llm/ModelRun.ts"
import { logFailure } from "../../observability/LimitedWarnings.ts"
import { Sandboxes } from "../../sandbox/Sandbox.ts"
import { AgentPasses } from "../../store/AgentPasses.ts"
import { AgentPrograms } from "./AgentPrograms.ts"
import { ToolServers } from "../mcp/ToolServer.ts"
import { ModelProxies } from "../proxy/ModelProxy.ts"
import type { OpenModelProxy } from "../proxy/ModelProxy.ts"
import { repositoryReader } from "../tools/RepositoryReader.ts"
import { Reports } from "../tools/Reports.ts"
import type { WebSearch } from "../search/WebSearch.ts"
import { toolNames } from "../tools/Tools.ts"
import type { CliNews } from "./Cli.ts"
import { readOutput, startCli, toAgentError } from "./CliProcess.ts"
import { openCliSearch } from "./CliSearch.ts"
import { findCli } from "./CliTable.ts"
import { decideOutcome, toReport } from "./PassOutcome.ts"
import type { PassEnding } from "./PassOutcome.ts"
import { openSession } from "./PassSession.ts"
import type { PassSession } from "./PassSession.ts"
import { newClock, watchPass } from "./PassWatch.ts"
import { testedRange } from "./ProgramFolder.ts"
import type { Reason } from "../../domain/Reason.ts"
import { requestKey } from "../../llm/RequestKey.ts"
import { serverName } from "./Cli.ts"

/** The tools of the prompts have other names in an agent, and it looks for files that it does not have. */
const toolNote = `The tools that these instructions name are those of the MCP server \`${serverName}\`; their names may begin with its name. There are no other tools and no files on this machine: read the repository with these tools only.`

/** The texts of a brief for an agent CLI, and the key that identifies a pass over several attempts. Pure. */
const systemText = ({ system }: Pick<Brief, "system">): string => `${system}\n\n${toolNote}`

const promptText = ({ advice, common, prompt }: Pick<Brief, "advice" | "common" | "prompt">): string =>
  [common, prompt, advice].filter((part) => part !== undefined && part !== "").join("\n\n")

/** Equal for the same pass of another attempt. */
const passKey = (mode: string, brief: Brief): string => {
  const { system } = brief
  const messages = [{ role: "user" as const, text: promptText(brief) }]
  return requestKey(mode, { group: "", role: "heavy", system, tools: [], messages })
}

/**
 * A pass by an agent CLI: opens the model proxy and the tool server of the pass, starts the CLI in its sandbox, and watches it. A pass is
 * successful if a call of `publish_summary` (or `skip`) was accepted, whatever its exit code is. Problems are stored when they arrive.
 *
 * ```
 * records of earlier attempts ──ended──▶ their result
 *        │ not ended: their problems are kept
 *        ▼
 * proxy, tools, sandbox ──▶ running ──▶ exited │ ended by the watch │ interrupted ──▶ outcome (PassOutcome.ts)
 * ```
 */
type CliServices = AgentPasses | AgentPrograms | ModelProxies | Sandboxes | ToolServers | WebSearch

export const analyseByCli = (mode: CliMode, times: PassTimes) =>
  Effect.fn("agent.cli")(function* (brief: Brief): Effect.fn.Return<AgentReport, AgentError, CliServices | ModelRun> {
    const run = yield* ModelRun
    const pass = passKey(mode, brief)
    const restored = restorePass(yield* loadRecords([...(run.resumes?.earlier ?? []), run.id], pass))
    const { end, models, usage } = restored
    if (end !== undefined && (end._tag === "Summary" || brief.maySkip === true)) {
      if (brief.onBegin !== undefined) yield* brief.onBegin
      return toReport({ ...new Reports(restored).kept, end, spent: { models, usage }, notices: [] })
    }
    return yield* runPass(mode, times, brief, { run, pass, restored })
  })

/** Records that cannot be read cost only a repetition. */
const loadRecords = Effect.fnUntraced(function* (runIds: ReadonlyArray<string>, pass: string) {
  const passes = yield* AgentPasses
  return yield* Effect.catch(passes.list([...new Set(runIds)], pass), (error) =>
    Effect.as(logFailure("records of an agent pass could not be read")(error), [])
  )
})

interface PassIdentity {
  readonly run: ModelRun["Service"]
  readonly pass: string
  readonly restored: ReturnType<typeof restorePass>
}

const findProgram = Effect.fnUntraced(function* (mode: CliMode, { workspace }: Brief) {
  const kind = yield* (yield* Sandboxes).select(workspace.sandbox).pipe(Effect.mapError(toAgentError))
  return yield* (yield* AgentPrograms)
    .find(mode, kind, workspace.sandbox)
    .pipe(Effect.mapError(({ why }) => new AgentError({ reason: "failed", why })))
})

const runPass = Effect.fnUntraced(function* (
  mode: CliMode,
  times: PassTimes,
  brief: Brief,
  { pass, restored, run }: PassIdentity
): Effect.fn.Return<AgentReport, AgentError, CliServices | ModelRun | Scope.Scope> {
  const { snapshot, workspace } = brief
  const group = agentModelChain(workspace, mode)
  if (group === undefined) return yield* new AgentError({ reason: "failed", why: { _tag: "NoModelGroups" } })
  const program = yield* findProgram(mode, brief)
  const cli = findCli(mode)
  const toolsListed = yield* Deferred.make<void>()
  const proxy = yield* (yield* ModelProxies).open({
    snapshot,
    group,
    role: "heavy",
    format: cli.format,
    maxCalls: workspace.sandbox.limits.model_calls,
    webSearch: workspace.agent.web_search.enabled && cli.support.webSearch.by === "model",
    awaitedTools: { names: toolNames, listed: toolsListed }
  })
  const reader = repositoryReader(brief.checkout, brief.code, workspace.review.fetch_extra, brief.context)
  const session = openSession(
    { passes: yield* AgentPasses, runId: run.id, pass },
    { reader, maySkip: brief.maySkip === true },
    restored,
    proxy.report
  )
  const seen = { toolCalls: 0, texts: 0, error: undefined as string | undefined }
  const search = yield* openCliSearch(cli, brief, { used: restored.searches, record: session.recordSearch })
  const tools = yield* (yield* ToolServers).open({
    session: { ...session.tools, search: search.search },
    tools: search.names,
    citesRules: brief.citesRules,
    maxReplyBytes,
    maxCalls: workspace.sandbox.limits.tool_calls,
    onCall: () => Effect.sync(() => void seen.toolCalls++),
    onListed: () => Deferred.doneUnsafe(toolsListed, Effect.void)
  })
  const labels = { run: run.id, pass: pass.slice(0, 12) }
  const texts = { system: systemText(brief), prompt: promptText(brief) }
  const offered = { toolNames: search.names, callSeconds: search.callSeconds }
  const cliRun = { cli, program, workspace, ...texts, ...offered, proxy, tools, labels }
  const onNews = (news: CliNews) =>
    Effect.suspend(() => {
      seen.error = news.error ?? seen.error
      const isLogged = news.text !== undefined && news.text !== "" && workspace.review.log_thinking
      // A program that prints without end would fill the log.
      return isLogged && seen.texts++ < maxLoggedTexts ? logText(mode, news.text ?? "") : Effect.void
    })
  // The end of this scope ends the process, also if the review is cancelled.
  const ended = yield* Effect.scoped(
    Effect.gen(function* () {
      const sandbox = yield* startCli(cliRun)
      yield* Effect.forkScoped(readOutput(cli, sandbox, onNews))
      const exited = Effect.map(sandbox.exit, (exit): PassEnding => ({ _tag: "Exited", exit }))
      const watched = watch(mode, times, { brief, proxy, session, toolCalls: () => seen.toolCalls })
      const ending = yield* Effect.raceFirst(exited, watched)
      return { ending, stderr: yield* sandbox.stderr, notices: sandbox.notices }
    })
  )
  const report = yield* proxy.report
  yield* session.recordSpent(report)
  const outcome = decideOutcome({
    mode,
    ...session.reports.kept,
    end: session.end(),
    proxy: report,
    spent: session.total(report),
    ending: ended.ending,
    toolCalls: seen.toolCalls,
    printed: { error: seen.error, stderr: ended.stderr },
    notices: [...ended.notices, ...search.notices, ...versionNotice(program)]
  })
  return outcome instanceof AgentError ? yield* outcome : outcome
}, Effect.scoped)

const versionNotice = ({ isTested, mode, version }: AgentProgram): ReadonlyArray<Reason> =>
  isTested ? [] : [{ _tag: "AgentUntested", mode, version: version ?? "", tested: testedRange(mode) }]

const logText = (mode: CliMode, text: string) => Effect.logInfo("agent step", { mode, text: text.slice(0, 2_000) })

interface Watched {
  readonly brief: Brief
  readonly proxy: OpenModelProxy
  readonly session: PassSession
  readonly toolCalls: () => number
}

/** Publishes the progress, and returns once the pass has to be ended. */
const watch = Effect.fnUntraced(function* (
  mode: CliMode,
  times: PassTimes,
  { brief, proxy, session, toolCalls }: Watched
): Effect.fn.Return<PassEnding> {
  let clock = newClock(yield* Clock.currentTimeMillis)
  let published = ""
  let hasBegun = false
  while (true) {
    yield* Effect.sleep(times.pollMillis)
    const report = yield* proxy.report
    yield* session.recordSpent(report)
    if (!hasBegun && report.models.length > 0) {
      hasBegun = true
      if (brief.onBegin !== undefined) yield* brief.onBegin
    }
    const progress = { mode, toolCalls: toolCalls(), problems: session.reports.problems.length, usage: report.usage }
    const text = JSON.stringify(progress)
    if (text !== published && brief.onProgress !== undefined) yield* brief.onProgress(progress)
    published = text
    const verdict = watchPass(mode, times, clock, {
      now: yield* Clock.currentTimeMillis,
      proxy: report,
      toolCalls: toolCalls(),
      isEnded: session.end() !== undefined
    })
    if (verdict.end !== undefined) return { _tag: "Ended", error: verdict.end.error }
    clock = verdict.clock
  }
})

/** A CLI takes some hundred megabytes. More passes than this wait on this node. */
const bytesOfOne = 1_073_741_824
const maxAtOnce = 8

/** Returns how many passes run at a time, from the memory of the machine and the limit of this process, 0 if it has none. */
export const countPasses = (machineBytes: number, limitBytes: number): number => {
  const bytes = limitBytes > 0 ? Math.min(machineBytes, limitBytes) : machineBytes
  return Math.max(1, Math.min(maxAtOnce, Math.floor(bytes / bytesOfOne)))
}

export class CliAgents extends Context.Service<
  CliAgents,
  { readonly analyse: (mode: CliMode, brief: Brief) => Effect.Effect<AgentReport, AgentError, ModelRun> }
>()("aicr/agent/CliAgents") {
  static readonly layerWith = (times: PassTimes): Layer.Layer<CliAgents, never, CliServices> =>
    Layer.effect(
      CliAgents,
      Effect.gen(function* () {
        const services = yield* Effect.context<CliServices>()
        const slots = yield* Semaphore.make(countPasses(totalmem(), process.constrainedMemory()))
        return CliAgents.of({
          analyse: (mode, brief) =>
            slots.withPermits(1)(Effect.provideContext(analyseByCli(mode, times)(brief), services))
        })
      })
    )

  static readonly layer = CliAgents.layerWith(passTimes)

  /** Refuses every mode; for commands that run no agent CLI. */
  static readonly layerNone: Layer.Layer<CliAgents> = Layer.succeed(
    CliAgents,
    CliAgents.of({
      analyse: (mode) => Effect.fail(new AgentError({ reason: "failed", why: { _tag: "AgentModeUnavailable", mode } }))
    })
  )
}
