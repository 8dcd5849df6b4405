/** The pass of an agent CLI, with a program in place of the CLI that executes its prompt. */
import { it } from "@effect/vitest"
import { Cause, Deferred, Effect, Exit, Fiber, Layer, Logger } from "effect"
import { SqlClient } from "effect/sql"
import { join } from "node:path"
import { describe, expect } from "vitest"
import { verbatimReason } from "../../../src/domain/Reason.ts"
import type { AgentReport, Brief, PassProgress } from "../../../src/agent/Agent.ts"
import { AgentError } from "../../../src/agent/Agent.ts"
import { AgentPrograms } from "../../../src/agent/clis/AgentPrograms.ts"
import type { AgentProgram, CliMode } from "../../../src/agent/clis/AgentPrograms.ts"
import { CliAgents } from "../../../src/agent/clis/CliAgents.ts"
import { maxLoggedTexts, passTimes } from "../../../src/agent/clis/PassLimits.ts"
import * as ProgramFolder from "../../../src/agent/clis/ProgramFolder.ts"
import { webSearchLayer } from "../../../src/agent/search/WebSearchLayer.ts"
import { toolNames } from "../../../src/agent/tools/Tools.ts"
import { ModelRun } from "../../../src/llm/ModelRun.ts"
import type { ModelAccount } from "../../../src/llm/ModelRun.ts"
import * as Store from "../../../src/store/StoreLayer.ts"
import { waitUntil } from "../../harness/Wait.ts"
import { processesWith, uniqueSeconds } from "../../sandbox/Fixture.ts"
import { fakeProxies, fakeToolServers, lastToolServer } from "./FakeServices.ts"
import type { FakeProxyState } from "./FakeServices.ts"
import { makeBrief, nativeSandboxes, temporary } from "./Fixture.ts"

const script = join(import.meta.dirname, "FakeAgent.mjs")

const program: AgentProgram = {
  mode: "codex",
  version: "0.169.0",
  isTested: true,
  command: ["node", script],
  packages: import.meta.dirname,
  installation: [import.meta.dirname]
}

const programs = (found: Partial<AgentProgram> = {}) =>
  Layer.succeed(
    AgentPrograms,
    AgentPrograms.of({
      folder: "/nowhere",
      version: () => Effect.undefined,
      find: () => Effect.succeed({ ...program, ...found })
    })
  )

interface Options {
  readonly agent?: object
  readonly proxy?: FakeProxyState
  readonly run?: ModelAccount
  readonly brief?: Partial<Brief>
  readonly found?: Partial<AgentProgram>
  readonly mode?: CliMode
}

const times = { ...passTimes, endMillis: 300, failingMillis: 300, refusedMillis: 100, pollMillis: 50 }

/** Runs a pass with records of the caller. */
const pass = (lines: ReadonlyArray<string>, options: Options = {}) =>
  Effect.gen(function* () {
    const mode = options.mode ?? "codex"
    const brief = {
      ...(yield* makeBrief(mode, options.agent)),
      common: undefined,
      prompt: lines.join("\n")
    }
    const layer = CliAgents.layerWith(times).pipe(
      Layer.provide([
        programs({ mode, ...options.found }),
        nativeSandboxes(yield* temporary),
        fakeToolServers,
        webSearchLayer((text) => text),
        fakeProxies("http://127.0.0.1:9", options.proxy ?? { calls: 1 })
      ])
    )
    return yield* CliAgents.use((agents) => agents.analyse(mode, { ...brief, ...options.brief })).pipe(
      Effect.provide(layer),
      Effect.provideService(ModelRun, options.run ?? { id: "run-1", repository: "test" })
    )
  }).pipe(Effect.scoped)

const alone = (lines: ReadonlyArray<string>, options?: Options) =>
  Effect.provide(Effect.result(pass(lines, options)), Store.layerMemory)

const messages = ({ problems }: AgentReport) => problems.map(({ message }) => message)

describe("a pass of an agent CLI", () => {
  it.live("is successful when the review was ended by a call, whatever the exit code is", () =>
    Effect.gen(function* () {
      const result = yield* alone(["report first", "report second", "summary Two", "exit 9"])
      expect(result).toMatchObject({ _tag: "Success", success: { summary: "Two", skipped: undefined, notices: [] } })
      if (result._tag === "Success") expect(messages(result.success)).toEqual(["first", "second"])
      const skipped = yield* alone(["skip generated", "exit 0"], { brief: { maySkip: true } })
      expect(skipped).toMatchObject({ _tag: "Success", success: { skipped: "generated", problems: [] } })
    })
  )

  it.live("does not end with a skip where there are lines to review", () =>
    Effect.gen(function* () {
      const result = yield* alone(["skip trivial", "exit 0"])
      expect(result).toMatchObject({ _tag: "Failure", failure: { reason: "failed" } })
      expect(yield* alone(["skip trivial", "summary Two"])).toMatchObject({ success: { summary: "Two" } })
    })
  )

  it.live("reports a budget that ended it once", () =>
    Effect.gen(function* () {
      const stopped = { _tag: "BudgetEndedReview" } as const
      const notices = [stopped]
      const proxy: FakeProxyState = { calls: 1, report: { stopped, notices } }
      const result = yield* alone(["report a", "exit 0"], { proxy })
      expect(result).toMatchObject({ _tag: "Success", success: { stopped, notices } })
    })
  )

  it.live("has no file of the change, and reads the repository with its tools", () =>
    Effect.gen(function* () {
      const result = yield* alone(["files src/a.ts", "summary Read"])
      expect(result).toMatchObject({ _tag: "Success" })
      if (result._tag === "Success")
        expect(messages(result.success)).toEqual([
          expect.stringMatching(
            /^repository: ; folder: ; write: EROFS; .*src\/a\.ts, lines 1 to 2 of 2:.*const x = list\[0\]/
          )
        ])
    })
  )

  it.live("calls no model without its tools", () =>
    Effect.gen(function* () {
      const awaited = Effect.fnUntraced(function* (lines: ReadonlyArray<string>) {
        const proxy: FakeProxyState = { calls: 1 }
        const ended = yield* alone([...lines, "summary Read"], { proxy })
        expect(ended).toMatchObject({ _tag: "Success" })
        const tools = proxy.request?.awaitedTools
        return tools && { names: tools.names, isListed: yield* Deferred.isDone(tools.listed) }
      })
      expect(yield* awaited([])).toEqual({ names: toolNames, isListed: false })
      expect(yield* awaited(["list"])).toEqual({ names: toolNames, isListed: true })
    })
  )

  it.live("has the numbers of calls of sandbox.limits", () =>
    Effect.gen(function* () {
      const proxy: FakeProxyState = { calls: 1 }
      yield* alone(["summary Read"], { proxy, agent: { sandbox: { limits: { model_calls: 7, tool_calls: 9 } } } })
      expect([proxy.request?.maxCalls, lastToolServer.request?.maxCalls]).toEqual([7, 9])
      yield* alone(["summary Read"], { proxy })
      expect([proxy.request?.maxCalls, lastToolServer.request?.maxCalls]).toEqual([80, 300])
    })
  )

  it.live("calls the model group of agent.auth, else that of the workspace", () =>
    Effect.gen(function* () {
      const groupOf = Effect.fnUntraced(function* (agent: object) {
        const proxy: FakeProxyState = { calls: 1 }
        expect(yield* alone(["summary Read"], { agent, proxy })).toMatchObject({ _tag: "Success" })
        return proxy.request?.group
      })
      expect(yield* groupOf({ auth: { codex: "plan" } })).toBe("plan")
      expect(yield* groupOf({})).toBe("default")
    })
  )

  it.live("that ends without a result fails, with what the program printed", () =>
    Effect.gen(function* () {
      const silent = yield* alone(["exit 0"])
      expect(silent).toMatchObject({ _tag: "Failure", failure: { reason: "failed" } })
      const printed = 'print {"type":"turn.failed","error":{"message":"the key is wrong"}}'
      const failed = yield* alone([printed, "exit 1"])
      expect(failed).toMatchObject({ _tag: "Failure", failure: { reason: "retryable" } })
      if (failed._tag === "Failure")
        expect(failed.failure.message).toBe(
          "codex ended with exit code 1, and the pass has no result: no tool call arrived; the key is wrong"
        )
    })
  )

  it.live("keeps what an agent that crashes has reported, and is partial", () =>
    Effect.gen(function* () {
      const result = yield* alone(["report kept", "warn out of luck", "exit 3"])
      expect(result).toMatchObject({
        _tag: "Success",
        success: { failure: { reason: "retryable", message: expect.stringContaining("out of luck") } }
      })
      if (result._tag === "Success") expect(messages(result.success)).toEqual(["kept"])
    })
  )

  it.live("agent.timeout_seconds ends it, and what was reported is kept", () =>
    Effect.gen(function* () {
      const result = yield* alone(["report kept", "stay 60000"], { agent: { timeout_seconds: 5 } })
      expect(result).toMatchObject({ _tag: "Success", success: { failure: { reason: "timeout" } } })
      if (result._tag === "Success") expect(messages(result.success)).toEqual(["kept"])
    })
  )

  it.live("ends a program that stays after the end of the review, or after its calls were stopped", () =>
    Effect.gen(function* () {
      const stayed = yield* alone(["report a", "summary One", "stay 60000"])
      expect(stayed).toMatchObject({ _tag: "Success", success: { summary: "One" } })
      const stopped = yield* alone(["report a", "stay 60000"], {
        proxy: { calls: 1, report: { stopped: { _tag: "BudgetEndedReview" } } }
      })
      expect(stopped).toMatchObject({ _tag: "Success", success: { stopped: { _tag: "BudgetEndedReview" } } })
    })
  )

  it.live("ends a program that repeats failing model calls, with the failure of the model", () =>
    Effect.gen(function* () {
      const failure = new AgentError({ reason: "failed", why: verbatimReason("the provider refuses the key") })
      const result = yield* alone(["stay 60000"], { proxy: { calls: 1, report: { failure } } })
      expect(result).toMatchObject({ _tag: "Failure", failure: { message: "the provider refuses the key" } })
    })
  )

  it.live("of a version that was not tested has a notice", () =>
    Effect.gen(function* () {
      const result = yield* alone(["summary One"], { found: { version: "9.9.9", isTested: false } })
      expect(result).toMatchObject({
        _tag: "Success",
        success: { notices: [{ _tag: "AgentUntested", mode: "codex", version: "9.9.9", tested: "~0.169.0" }] }
      })
    })
  )

  it.live("logs a limited number of the texts that it prints", () =>
    Effect.gen(function* () {
      const text = JSON.stringify({ type: "item.completed", item: { type: "agent_message", text: "a step" } })
      let logged = 0
      const counter = Logger.make(({ message }) => void (logged += String(message).includes("agent step") ? 1 : 0))
      yield* Effect.provide(alone([`flood ${text}`, "summary Two"]), Logger.layer([counter]))
      expect(logged).toBe(maxLoggedTexts)
    })
  )

  it.live("publishes its progress", () =>
    Effect.gen(function* () {
      const seen: Array<PassProgress> = []
      const onProgress = (progress: PassProgress) => Effect.sync(() => void seen.push(progress))
      yield* alone(["report a", "report b", "stay 500", "summary Two"], { brief: { onProgress } })
      expect(seen.at(-1)).toMatchObject({
        mode: "codex",
        toolCalls: expect.toSatisfy((n: number) => n >= 2),
        problems: 2
      })
    })
  )

  it.live("that is interrupted leaves no process after a second", () =>
    Effect.gen(function* () {
      const mark = uniqueSeconds()
      const started = yield* Deferred.make<void>()
      const onProgress = ({ toolCalls }: PassProgress) =>
        toolCalls > 0 ? Effect.asVoid(Deferred.succeed(started, undefined)) : Effect.void
      const fiber = yield* Effect.forkChild(
        pass([`report ${mark}`, "stay 60000"], { brief: { onProgress }, found: { command: ["node", script, mark] } })
      )
      yield* Deferred.await(started)
      expect(processesWith(mark).length).toBeGreaterThan(0)
      const before = Date.now()
      const exit = yield* Effect.andThen(Fiber.interrupt(fiber), Fiber.await(fiber))
      expect(Exit.isFailure(exit) && Cause.hasInterrupts(exit.cause)).toBe(true)
      yield* Effect.promise(() =>
        waitUntil(() => processesWith(mark).length === 0, { timeout: 5_000, describe: () => "no process is left" })
      )
      expect(Date.now() - before).toBeLessThan(3_000)
    }).pipe(Effect.provide(Store.layerMemory))
  )
})

describe("a pass of another attempt", () => {
  const again: ModelAccount = { id: "run-2", repository: "test", resumes: { attempt: 2, earlier: ["run-1"] } }

  it.live("is not repeated once it has a result, even if the service did not see its end", () =>
    Effect.gen(function* () {
      const lines = ["report first", "summary One"]
      yield* pass(lines)
      // The service was killed before it wrote what the pass spent.
      yield* (yield* SqlClient.SqlClient)`DELETE FROM agent_passes WHERE body LIKE '%"Spent"%'`
      const found = { command: ["/bin/false"] as const }
      const result = yield* pass(lines, { run: again, found })
      expect(messages(result)).toEqual(["first"])
      expect(result).toMatchObject({ summary: "One", models: ["fake/fake-model"], usage: { requests: 1 } })
      const other = yield* Effect.result(pass([...lines, "report other"], { run: again, found }))
      expect(other._tag).toBe("Failure")
    }).pipe(Effect.provide(Store.layerMemory))
  )

  it.live("counts what one spent that was killed", () =>
    Effect.gen(function* () {
      const lines = ["report first", "stay 60000"]
      const called = yield* Deferred.make<void>()
      const onProgress = ({ problems, usage }: PassProgress) =>
        problems > 0 && usage.requests > 0 ? Effect.asVoid(Deferred.succeed(called, undefined)) : Effect.void
      const killed = yield* Effect.forkChild(pass(lines, { brief: { onProgress } }))
      yield* Deferred.await(called)
      yield* Fiber.interrupt(killed)
      const result = yield* pass(lines, { run: again, proxy: { calls: 2 }, found: { command: ["/bin/false"] } })
      expect(messages(result)).toEqual(["first"])
      expect(result.usage.requests).toBe(3)
    }).pipe(Effect.provide(Store.layerMemory))
  )

  it.live("without a result is repeated, keeps its problems, and adds what was spent", () =>
    Effect.gen(function* () {
      const lines = ["report first", "exit 1"]
      yield* pass(lines)
      const result = yield* pass(lines, { run: again, proxy: { calls: 2 } })
      expect(messages(result)).toEqual(["first"])
      expect(result).toMatchObject({ failure: { reason: "retryable" }, usage: { requests: 3 } })
    }).pipe(Effect.provide(Store.layerMemory))
  )
})

it.live("a mode that is not installed fails with what to run", () =>
  Effect.gen(function* () {
    const folder = yield* temporary
    const brief = yield* makeBrief("codex")
    const layer = CliAgents.layer.pipe(
      Layer.provide([
        ProgramFolder.layer(folder),
        nativeSandboxes(folder),
        fakeToolServers,
        webSearchLayer((text) => text),
        fakeProxies("http://127.0.0.1:9", { calls: 0 })
      ])
    )
    const result = yield* Effect.result(CliAgents.use((agents) => agents.analyse("codex", brief))).pipe(
      Effect.provide(layer),
      Effect.provideService(ModelRun, { id: "run-1", repository: "test" })
    )
    expect(result).toMatchObject({
      _tag: "Failure",
      failure: {
        reason: "failed",
        message: `agent mode codex is not installed in ${folder}; run aicr agent install codex`
      }
    })
  }).pipe(Effect.scoped, Effect.provide(Store.layerMemory))
)
