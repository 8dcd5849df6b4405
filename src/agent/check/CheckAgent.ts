/**
 * Checks of one agent CLI on this machine, against a scripted model and without network: that it starts, that its tool calls arrive, that
 * its usage is counted, that it cannot reach what it must not, and that nothing of it is left when it is ended.
 */
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Duration, Effect, Fiber, Redacted, Stream } from "effect"
import type { Scope } from "effect"
import type { Snapshot, Workspace } from "../../config/Snapshot.ts"
import { ModelRun } from "../../llm/ModelRun.ts"
import { toSandboxLimits } from "../../sandbox/SandboxLimits.ts"
import type { Sandboxes } from "../../sandbox/Sandbox.ts"
import type { AgentError, AgentReport, Brief } from "../Agent.ts"
import type { AgentPrograms, CliMode } from "../clis/AgentPrograms.ts"
import { CliAgents } from "../clis/CliAgents.ts"
import { ModelProxies } from "../proxy/ModelProxy.ts"
import { ToolServers } from "../mcp/ToolServer.ts"
import { probeSandbox } from "./Probe.ts"
import { scriptedProblem, startScriptedModel } from "./ScriptedModel.ts"
import type { ScriptedModel } from "./ScriptedModel.ts"
import { findAgent } from "./UsedAgents.ts"
import { CheckoutError } from "../../vcs/Checkout.ts"

/** A checkout without files, for checks of agents that read none. */

const none = new CheckoutError({ reason: "missing", why: { _tag: "CheckWithoutRepository" } })
const noPaths = { paths: [], more: false }
const noFiles = { files: [], more: false }

const emptyCheckout: Pick<Brief, "checkout" | "code"> = {
  checkout: {
    directory: Effect.fail(none),
    head: "0".repeat(40),
    from: "0".repeat(40),
    changes: () => Effect.succeed([]),
    sizes: () => Effect.succeed([]),
    diff: () => Stream.empty,
    file: () => Effect.undefined,
    list: () => Effect.succeed([]),
    blame: () => Effect.succeed([]),
    search: { filesWith: () => Effect.succeed(noPaths), filesUnder: () => Effect.succeed(noPaths) }
  },
  code: {
    lines: () => Effect.succeed(noFiles),
    references: () => Effect.succeed(noFiles),
    paths: () => Effect.succeed(noPaths)
  }
}

interface AgentCheck {
  readonly point: string
  readonly isOk: boolean
  /** The observation, or the next step. */
  readonly detail: string
}

interface CheckOptions {
  readonly mode: CliMode
  /** Builds the configuration over a model server, with this key. */
  readonly configure: (
    url: string,
    key: Redacted.Redacted
  ) => Effect.Effect<{ readonly snapshot: Snapshot; readonly workspace: Workspace }>
  /** A secret in the environment of this process. */
  readonly secret: string
}

type CheckServices = AgentPrograms | CliAgents | ModelProxies | Sandboxes | ToolServers

const owner = { id: "agent-check", repository: "agent-check" }
const startSeconds = 120
const endMillis = 3_000

const check = (point: string, isOk: boolean, detail: string): AgentCheck => ({ point, isOk, detail })

const system =
  "Each message is a change. Its problem belongs into report_problems, and publish_summary is the last step."

const briefFor = ({ snapshot, workspace }: { readonly snapshot: Snapshot; readonly workspace: Workspace }): Brief => ({
  snapshot,
  workspace,
  system,
  prompt: "check.txt\n+checked line",
  ...emptyCheckout
})

/** Number of processes of this machine that run a program of these packages. */
const countProcesses = (packages: string) =>
  Effect.promise(async () => {
    const pids = (await readdir("/proc").catch(() => [])).filter((name) => /^\d+$/.test(name))
    const lines = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "")))
    return lines.filter((line) => line.includes(packages)).length
  })

const describeFailure = (result: AgentReport | AgentError): string =>
  "_tag" in result ? result.message : (result.failure?.message ?? "")

const checkReview = (model: ScriptedModel, result: AgentReport | AgentError): ReadonlyArray<AgentCheck> => {
  const failure = describeFailure(result)
  const report = "_tag" in result ? undefined : result
  const arrived = report?.problems.some(({ message }) => message === scriptedProblem.message) === true
  const { inputTokens = 0, outputTokens = 0, requests = 0 } = report?.usage ?? {}
  return [
    check("starts", model.requests() > 0, model.requests() > 0 ? `${model.requests()} model calls` : failure),
    check("tool call arrives", arrived, arrived ? "a problem and the summary" : failure),
    check(
      "usage metered",
      requests > 0 && inputTokens > 0 && outputTokens > 0,
      `${requests} calls, ${inputTokens} input and ${outputTokens} output tokens`
    )
  ]
}

/** Runs the probe in the sandbox of the agent. */
const checkIsolation = Effect.fnUntraced(function* (
  { mode, secret }: CheckOptions,
  { snapshot, workspace }: { readonly snapshot: Snapshot; readonly workspace: Workspace },
  model: ScriptedModel,
  key: Redacted.Redacted
) {
  const group = workspace.modelChain ?? ""
  const proxies = yield* ModelProxies
  const proxy = yield* proxies
    .open({ snapshot, group, role: "heavy", format: "openai-chat", maxCalls: 1, webSearch: false })
    .pipe(Effect.provideService(ModelRun, owner))
  const repository = yield* temporary
  const seen = yield* probeSandbox({
    config: workspace.sandbox,
    limits: toSandboxLimits({ sandbox: workspace.sandbox, timeout_seconds: 30 }),
    repository,
    sockets: { model: proxy.socket, tools: proxy.socket },
    addresses: [
      ["127.0.0.1", model.port],
      // An address for documentation, which no network has: unreachable in any case.
      ["192.0.2.1", 443]
    ]
  })
  if (seen === undefined) return [check("isolated", false, `the probe of ${mode} printed nothing`)]
  const has = (text: string) => seen.environment.includes(text)
  return [
    check(
      "network closed",
      seen.reached.length === 0,
      seen.reached.length === 0 ? "no address was reached" : `reached ${seen.reached.join(", ")}`
    ),
    check("provider key absent", !has(String(Redacted.value(key))), "in the variables of all visible processes"),
    check("secrets absent", !has(secret), "in the variables of all visible processes")
  ]
}, Effect.scoped)

const temporary = Effect.acquireRelease(
  Effect.promise(() => mkdtemp(join(tmpdir(), "aicr-check-"))),
  (folder) => Effect.promise(() => rm(folder, { recursive: true, force: true }))
)

/** Ends the agent while it waits for a model that never responds. */
const checkEnd = Effect.fnUntraced(function* (
  { configure, mode }: CheckOptions,
  key: Redacted.Redacted,
  packages: string
): Effect.fn.Return<AgentCheck, never, CheckServices | Scope.Scope> {
  const model = yield* startScriptedModel("silent")
  const brief = briefFor(yield* configure(model.url, key))
  const before = yield* countProcesses(packages)
  const agents = yield* CliAgents
  const running = yield* Effect.forkScoped(
    Effect.result(agents.analyse(mode, brief)).pipe(Effect.provideService(ModelRun, owner))
  )
  const waiting = Effect.sleep("100 millis").pipe(
    Effect.repeat({ until: () => model.requests() > 0 }),
    Effect.timeoutOption(Duration.seconds(startSeconds))
  )
  yield* Effect.raceFirst(waiting, Fiber.await(running))
  if (model.requests() === 0) return check("killed without leftovers", false, "it made no model call")
  yield* Fiber.interrupt(running)
  const gone = Effect.sleep("50 millis").pipe(
    Effect.andThen(countProcesses(packages)),
    Effect.repeat({ until: (count) => count <= before }),
    Effect.timeoutOption(Duration.millis(endMillis))
  )
  const isGone = (yield* gone)._tag === "Some"
  return check("killed without leftovers", isGone, isGone ? "no process is left" : "processes are left; see ps")
})

/** Returns the points in order. A missing program is the only one. */
export const checkAgent = Effect.fn("checkAgent")(function* (
  options: CheckOptions
): Effect.fn.Return<ReadonlyArray<AgentCheck>, never, CheckServices | Scope.Scope> {
  const { configure, mode } = options
  const key = Redacted.make(`check-${crypto.randomUUID()}`)
  const model = yield* startScriptedModel("responds")
  const configured = yield* configure(model.url, key)
  const found = yield* Effect.result(findAgent(mode, configured.workspace.sandbox))
  if (found._tag === "Failure") return [check("installed", false, found.failure.message)]
  const { kind, program } = found.success
  const version = program.version ?? "the version of the image"
  const installed = check(
    "installed",
    true,
    `${version} in sandbox ${kind}${program.isTested ? "" : ", not a tested version"}`
  )
  const agents = yield* CliAgents
  const result = yield* Effect.match(
    Effect.provideService(agents.analyse(mode, briefFor(configured)), ModelRun, owner),
    { onFailure: (error): AgentReport | AgentError => error, onSuccess: (report): AgentReport | AgentError => report }
  )
  const isolation = yield* Effect.catch(checkIsolation(options, configured, model, key), ({ message }) =>
    Effect.succeed([check("isolated", false, message)])
  )
  const ended = yield* checkEnd(options, key, program.packages)
  return [installed, ...checkReview(model, result), ...isolation, ended]
}, Effect.scoped)
