/** Limits of the calls of a pass, without a server. */
import { Effect, Fiber } from "effect"
import { describe, expect, it } from "vitest"
import { divide, ToolCalls } from "../../../src/agent/mcp/ToolCalls.ts"
import { toolNames } from "../../../src/agent/tools/Tools.ts"
import { repositoryReader } from "../../../src/agent/tools/RepositoryReader.ts"
import { testWorkspace } from "../../harness/TestSnapshot.ts"
import { fakeCheckout, fakeCode } from "../FakeCheckout.ts"

const problem = { file: "a.ts", severity: "high", category: "bug", message: "It fails.", quote: "a = 1" }

const makeCalls = (report: () => Effect.Effect<string>, maxCalls = 10) =>
  new ToolCalls({
    session: {
      report,
      refuse: () => Effect.void,
      maySkip: false,
      end: () => Effect.void,
      reader: repositoryReader(fakeCheckout({}), fakeCode, testWorkspace().review.fetch_extra)
    },
    tools: toolNames,
    maxReplyBytes: 1000,
    maxCalls,
    onCall: () => Effect.void,
    onListed: () => {}
  })

describe("calls", () => {
  it("of reports end at their own limit", async () => {
    let reports = 0
    const calls = makeCalls(() => Effect.sync(() => `${++reports}`), 0)
    for (let at = 0; at < 2_100; at++) await Effect.runPromise(calls.call("report_problem", problem))
    expect(reports).toBe(2_000)
    expect(calls.counts).toEqual({ calls: 2_100, refused: 100 })
  })

  it("of reports are executed one at a time, and wait for no call that reads", async () => {
    let running = 0
    let atOnce = 0
    const calls = makeCalls(() =>
      Effect.gen(function* () {
        atOnce = Math.max(atOnce, ++running)
        yield* Effect.yieldNow
        running--
        return "recorded"
      })
    )
    const replies = await Effect.runPromise(
      Effect.all(
        Array.from({ length: 20 }, () => calls.call("report_problem", problem)),
        { concurrency: "unbounded" }
      )
    )
    expect(new Set(replies.map(({ text }) => text))).toEqual(new Set(["recorded"]))
    expect(atOnce).toBe(1)
  })

  it("end when the caller is gone, and leave the next call free", async () => {
    let hangs = true
    const calls = makeCalls(() => Effect.suspend(() => (hangs ? Effect.never : Effect.succeed("recorded"))))
    await Effect.runPromise(
      Effect.gen(function* () {
        const fiber = yield* Effect.forkChild(calls.call("report_problem", problem), { startImmediately: true })
        yield* Fiber.interrupt(fiber)
        hangs = false
        expect((yield* calls.call("report_problem", problem)).text).toBe("recorded")
      })
    )
  })
})

describe("divided replies", () => {
  it.each([
    ["lines", "one\ntwo\nthree\n".repeat(50)],
    ["one long line", "x".repeat(1000)],
    ["characters of several bytes", "ä€😀".repeat(200)],
    ["nothing", ""]
  ])("of %s are the whole together", (_, text) => {
    const parts = divide(text, 37)
    expect(parts.join("")).toBe(text)
    expect(Math.max(...parts.map((part) => Buffer.byteLength(part)))).toBeLessThanOrEqual(37)
  })
})
