/** Records of agent CLIs on real databases: order, separation of runs and passes, age. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { restorePass } from "../../src/domain/AgentPass.ts"
import type { AgentPassRecord } from "../../src/domain/AgentPass.ts"
import { noUsage } from "../../src/domain/Analysis.ts"
import { AgentPasses } from "../../src/store/AgentPasses.ts"
import { databases } from "./Databases.ts"

const problem = (message: string): AgentPassRecord => ({
  _tag: "Problem",
  problem: { file: "src/a.ts", severity: "high", category: "bug", message, quote: "x \u0000 \\u0000 'y' \ud83d" }
})
const spent = (requests: number) => ({ models: ["p/m"], usage: { ...noUsage, requests } })
const summary: AgentPassRecord = { _tag: "Summary", markdown: "# Done", ...spent(2) }

describe.each(databases)("passes of agents in $name", ({ layer }) => {
  it.effect("are read in the order of their writing, over several runs", () =>
    Effect.gen(function* () {
      const passes = yield* AgentPasses
      yield* passes.append("run-1", "a", problem("first"), 1)
      yield* passes.append("run-1", "b", problem("other pass"), 2)
      yield* passes.append("run-2", "a", problem("second"), 3)
      yield* passes.append("run-3", "a", problem("other run"), 4)
      yield* passes.append("run-2", "a", summary, 5)
      yield* passes.append("run-2", "a", { _tag: "Spent", ...spent(3) }, 6)
      const records = yield* passes.list(["run-1", "run-2"], "a")
      assert.deepStrictEqual(records, [problem("first"), problem("second"), summary, { _tag: "Spent", ...spent(3) }])
      const { end, problems, usage } = restorePass(records)
      assert.deepStrictEqual(
        problems.map((one) => one.problem.message),
        ["first", "second"]
      )
      assert.deepStrictEqual([end, usage.requests], [summary, 3])
      assert.deepStrictEqual(yield* passes.list([], "a"), [])
    }).pipe(Effect.provide(layer()))
  )

  it.effect("are removed by age", () =>
    Effect.gen(function* () {
      const passes = yield* AgentPasses
      for (const at of [1, 2, 3]) yield* passes.append("run", "a", problem(`${at}`), at)
      assert.strictEqual(yield* passes.prune(3), 2)
      assert.deepStrictEqual(yield* passes.list(["run"], "a"), [problem("3")])
    }).pipe(Effect.provide(layer()))
  )
})
