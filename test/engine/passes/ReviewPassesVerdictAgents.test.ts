/**
 * A verdict of success is earned by agent CLIs, too: the program is a script that calls the tools of its pass, and the service may be
 * killed in the middle and repeat the pass with the stored records.
 */
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { Deferred, Effect, Fiber, Layer, Logger, Redacted, Stream } from "effect"
import { AgentPrograms } from "../../../src/agent/clis/AgentPrograms.ts"
import type { Brief } from "../../../src/agent/Agent.ts"
import { analyseByCli } from "../../../src/agent/clis/CliAgents.ts"
import { passTimes } from "../../../src/agent/clis/PassLimits.ts"
import { readMessages } from "../../../src/agent/mcp/McpMessages.ts"
import { ToolCalls } from "../../../src/agent/mcp/ToolCalls.ts"
import { ToolServers } from "../../../src/agent/mcp/ToolServer.ts"
import { ModelProxies } from "../../../src/agent/proxy/ModelProxy.ts"
import { webSearchLayer } from "../../../src/agent/search/WebSearchLayer.ts"
import { noUsage } from "../../../src/domain/Analysis.ts"
import type { AgentPassRecord } from "../../../src/domain/AgentPass.ts"
import { ModelRun } from "../../../src/llm/ModelRun.ts"
import { Sandboxes } from "../../../src/sandbox/Sandbox.ts"
import { AgentPasses } from "../../../src/store/AgentPasses.ts"
import { expectEarned, makeChange, reviewBy } from "../../harness/EarnedVerdict.ts"
import type { Sent } from "../../harness/EarnedVerdict.ts"
import { cleanTurns, modelTurns, toCall } from "../../harness/ModelSteps.ts"
import type { Turn } from "../../harness/ModelSteps.ts"

const numRuns = Number(process.env["AICR_TEST_RESPONSES"] ?? 16)
const change = makeChange()
const times = { ...passTimes, pollMillis: 1 }

/** Name of a call as the tool server reads it. */
const offeredName = (name: string, offered: ReadonlyArray<string>): string => {
  const sent = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name } }
  const read = readMessages(JSON.stringify(sent), offered)
  return read.ok ? JSON.parse(read.text).params.name : name
}

/** One start of the program: it makes the calls of its turns, and then exits or stays until the service is killed. */
const attempt = (
  turns: ReadonlyArray<Turn>,
  sent: Sent,
  records: Array<AgentPassRecord>,
  stays?: Deferred.Deferred<void>
) => {
  let tools: { readonly calls: ToolCalls; readonly offered: ReadonlyArray<string> } | undefined
  let requests = 0
  const program = Effect.gen(function* () {
    for (const turn of turns) {
      requests++
      if (!("steps" in turn)) continue
      for (const step of turn.steps) {
        const { input, name } = toCall(step)
        const called = offeredName(name, tools?.offered ?? [])
        // The protocol has objects only, and refuses names that are not offered.
        if (typeof input !== "object" || tools?.offered.includes(called) !== true) continue
        sent.steps.push(step)
        yield* tools.calls.call(called, input)
      }
    }
    if (stays === undefined) return { reason: "exited", code: 0 } as const
    yield* Deferred.succeed(stays, undefined)
    return yield* Effect.never
  })
  return Layer.mergeAll(
    Layer.succeed(Sandboxes, {
      select: () => Effect.succeed("native" as const),
      start: () =>
        Effect.succeed({ kind: "native", notices: [], lines: Stream.empty, exit: program, stderr: Effect.succeed("") })
    }),
    Layer.succeed(ToolServers, {
      open: (request) =>
        Effect.sync(() => {
          const calls = new ToolCalls(request)
          tools = { calls, offered: request.tools }
          return {
            socket: "",
            path: "/mcp",
            token: Redacted.make("t"),
            counts: Effect.sync(() => calls.counts)
          }
        })
    }),
    Layer.succeed(ModelProxies, {
      open: () =>
        Effect.succeed({
          socket: "",
          token: Redacted.make("t"),
          model: "m",
          contextWindow: undefined,
          maxOutputTokens: undefined,
          report: Effect.sync(() => ({ usage: { ...noUsage, requests }, models: ["p/m"], notices: [] }))
        })
    }),
    Layer.succeed(AgentPrograms, {
      folder: "/nowhere",
      version: () => Effect.undefined,
      find: (mode) =>
        Effect.succeed({
          mode,
          version: "1",
          isTested: true,
          command: ["true"] as const,
          packages: "/nowhere",
          installation: []
        })
    }),
    Layer.succeed(AgentPasses, {
      append: (_run, _pass, record) => Effect.sync(() => void records.push(record)),
      list: () => Effect.sync(() => [...records]),
      prune: () => Effect.succeed(0)
    }),
    Layer.succeed(ModelRun, { id: "run", repository: "test" }),
    webSearchLayer((text) => text),
    Logger.layer([])
  )
}

/** Analyses with an agent whose first start is killed after some turns, if at all. */
const analyse = (killed: ReadonlyArray<Turn> | undefined, turns: ReadonlyArray<Turn>, sent: Sent) => (brief: Brief) =>
  Effect.gen(function* () {
    const records: Array<AgentPassRecord> = []
    const pass = analyseByCli("codex", times)(brief)
    if (killed !== undefined) {
      const stays = yield* Deferred.make<void>()
      const fiber = yield* Effect.forkChild(Effect.provide(pass, attempt(killed, sent, records, stays)))
      yield* Deferred.await(stays)
      yield* Fiber.interrupt(fiber)
    }
    return yield* Effect.provide(pass, attempt(turns, sent, records))
  })

describe("a verdict of success of an agent CLI", () => {
  it("is earned by what the model sent", async () => {
    let successes = 0
    await fc.assert(
      fc.asyncProperty(modelTurns, async (turns) => {
        const sent: Sent = { steps: [] }
        successes += expectEarned(await reviewBy(change, analyse(undefined, turns, sent)), [sent])
      }),
      { numRuns, examples: [[cleanTurns]] }
    )
    expect(successes).toBeGreaterThan(0)
  }, 120_000)

  it("is earned over a restart in the middle", async () => {
    let successes = 0
    await fc.assert(
      fc.asyncProperty(modelTurns, modelTurns, async (killed, turns) => {
        const sent: Sent = { steps: [] }
        successes += expectEarned(await reviewBy(change, analyse(killed, turns, sent)), [sent])
      }),
      { numRuns, examples: [[cleanTurns, cleanTurns]] }
    )
    expect(successes).toBeGreaterThan(0)
  }, 120_000)

  it("is not lost to a report that it corrects before the restart", async () => {
    const corrected: ReadonlyArray<Turn> = [
      { kind: "calls", steps: [{ kind: "refused", id: 1, form: 0 }] },
      { kind: "calls", steps: [{ kind: "repaired", id: 1, form: 0 }, { kind: "summary" }] }
    ]
    for (const [killed, turns] of [
      [undefined, corrected],
      [corrected, []],
      [corrected.slice(0, 1), corrected]
    ] as const) {
      const sent: Sent = { steps: [] }
      expect((await reviewBy(change, analyse(killed, turns, sent))).verdict).toBe("success")
    }
  })
})
