/** Logs of runs on real databases: order, limit per run, removal with the run and by age. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { maxRunLog, RunLogs } from "../../src/store/RunLogs.ts"
import type { RunLogLine } from "../../src/domain/RunLogLine.ts"
import type { RunSpan } from "../../src/domain/RunSpan.ts"
import { Runs } from "../../src/store/Runs.ts"
import { databases } from "./Databases.ts"
import { publishRun, settle } from "./EndedRuns.ts"

const line = (message: string, size = 0): RunLogLine => ({
  at: 1,
  level: "info",
  message,
  fields: { step: 1, calls: ["a", { b: null }], text: "é".repeat(size) }
})

const span: RunSpan = { id: "s1", kind: "model_call", at: 1, millis: 2, model: "p/m", cost_usd: 0.25 }

describe.each(databases)("logs of runs in $name", ({ layer }) => {
  it.effect("are read in the order of their writing, and end where they are full", () =>
    Effect.gen(function* () {
      const logs = yield* RunLogs
      assert.deepStrictEqual(yield* logs.read("none"), { lines: [], cut: false })
      yield* logs.append("run", { lines: [line("first"), line("second")] }, 1)
      yield* logs.append("other", { lines: [line("of another run")] }, 1)
      yield* logs.append("run", { lines: [line("third", maxRunLog)], spans: [span] }, 2)
      yield* logs.append("run", { lines: [line("beyond the limit")], spans: [span] }, 3)
      const { cut, lines } = yield* logs.read("run")
      assert.deepStrictEqual(lines.slice(0, 2), [line("first"), line("second")])
      assert.deepStrictEqual(
        lines.map(({ message }) => message),
        ["first", "second", "third"]
      )
      assert.isTrue(cut)
      assert.deepStrictEqual(yield* logs.spans("run"), [span])
      assert.deepStrictEqual(yield* logs.spans("other"), [])
      assert.strictEqual(yield* logs.prune(2), 2)
      assert.lengthOf((yield* logs.read("run")).lines, 1)
    }).pipe(Effect.provide(layer()))
  )

  it.effect("go with their run, and the others stay", () =>
    Effect.gen(function* () {
      const logs = yield* RunLogs
      const runs = yield* Runs
      const [old, kept] = [yield* publishRun({ number: 1 }), yield* publishRun({ number: 2 })]
      for (const id of [old, kept]) {
        yield* settle(id, 10)
        yield* logs.append(id, { lines: [line(id)] }, 5)
      }
      yield* runs.prune({ maxCount: 1, before: 0 })
      assert.isUndefined(yield* runs.get(old))
      assert.lengthOf((yield* logs.read(old)).lines, 0)
      assert.lengthOf((yield* logs.read(kept)).lines, 1)
    }).pipe(Effect.provide(layer()))
  )
})
