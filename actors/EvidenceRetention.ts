/** The sweeper's part in evidence: what was kept of runs whose records are gone goes too. */
import { Effect } from "effect"
import { evidenceFolder } from "../src/llm/Evidence.ts"
import { Objects } from "../src/store/Objects.ts"
import { Runs } from "../src/store/Runs.ts"

/** Runs looked at per turn; the rest has its turn later. */
const perTurn = 5_000

export const pruneEvidence = Effect.gen(function* () {
  const objects = yield* Objects
  const runs = yield* Runs
  for (const runId of (yield* objects.list(evidenceFolder)).slice(0, perTurn)) {
    if ((yield* runs.get(runId)) === undefined) yield* objects.remove(`${evidenceFolder}/${runId}`)
    yield* Effect.yieldNow
  }
})
