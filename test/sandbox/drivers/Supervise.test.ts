/** The reason for which a sandbox ended, from what is known about it. */
import { verbatimReason } from "../../../src/domain/Reason.ts"
import { inEnglish } from "../../../src/text/en.ts"
import { describe, expect, it } from "vitest"
import { findExit, StderrTail } from "../../../src/sandbox/drivers/Supervise.ts"
import { testLimits } from "../Fixture.ts"

const ended = { code: 1 }

describe("the reason", () => {
  it.each([
    ["time", "time", undefined, ended, "raise agent.timeout_seconds"],
    ["output", "output", { code: 0 }, { code: 0 }, "4 MiB"],
    ["cancelled", "cancelled", undefined, ended, "cancelled"],
    ["memory", undefined, { code: 137 }, { code: 137, limit: "memory" }, "256 MiB"],
    ["processes", undefined, { limit: "processes" }, ended, "64 processes"],
    ["engine", undefined, { failure: "spawn x ENOENT" }, ended, "could not be started: spawn x ENOENT"],
    [
      "engine",
      undefined,
      undefined,
      { code: undefined, failure: verbatimReason("engine gone") },
      "before the agent: engine gone"
    ],
    ["engine", undefined, undefined, ended, "before the agent: the last words"]
  ] as const)("%s", (reason, cause, report, end, message) => {
    const exit = findExit(testLimits, cause, report, end, " the last words\n")
    expect(exit.reason).toBe(reason)
    expect("why" in exit ? inEnglish(exit.why) : "").toContain(message)
  })

  it("is the exit code of the program, as reported from inside", () =>
    expect(findExit(testLimits, undefined, { code: 143 }, { code: 15 }, "")).toEqual({ reason: "exited", code: 143 }))

  it("is the first cause", () =>
    expect(findExit(testLimits, "time", { code: 0 }, { code: 0, limit: "memory" }, "")).toMatchObject({
      reason: "time"
    }))
})

describe("the last part of stderr", () => {
  const tail = (...chunks: ReadonlyArray<string>) => {
    const all = new StderrTail("NONCE ")
    for (const chunk of chunks) all.add(Buffer.from(chunk))
    return [all.text(), all.report()]
  }
  it.each([
    ["without a report", ["text\n"], ["text\n", undefined]],
    ["with a report in parts", ["text\n\nNON", 'CE {"code"', ":3}\n"], ["text\n", { code: 3 }]],
    ["with a report that is cut", ['text\nNONCE {"co'], ["text", undefined]],
    ["with a forged report", ['NUNCE {"code":0}\n', '\nNONCE {"code":4}\n'], ['NUNCE {"code":0}\n', { code: 4 }]],
    ["with a report that is none", ['text\nNONCE {"code":"0"}\n'], ["text", undefined]],
    ["with an unknown limit", ['text\nNONCE {"limit":"constructor"}\n'], ["text", undefined]],
    ["with a code that no program has", ['text\nNONCE {"code":1e300}\n'], ["text", undefined]],
    ["with a list", ["text\nNONCE []\n"], ["text", undefined]],
    ["that is long", ["a".repeat(100_000), '\nNONCE {"code":5}\n'], ["a".repeat(16_384), { code: 5 }]]
  ])("%s", (_, chunks, expected) => expect(tail(...chunks)).toEqual(expected))
})
