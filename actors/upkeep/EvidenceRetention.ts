/** Removes evidence of runs whose records no longer exist. Called by the sweeper. */
import { Effect } from "effect"
import { evidenceFolder } from "../../src/llm/Evidence.ts"
import { Objects } from "../../src/store/Objects.ts"
import { Runs } from "../../src/store/Runs.ts"

/** Runs checked per sweep. The others are checked by later sweeps. */
const perTurn = 5_000

export const pruneEvidence = Effect.gen(function* () {
  const objects = yield* Objects
  const runs = yield* Runs
  for (const runId of (yield* objects.list(evidenceFolder)).slice(0, perTurn)) {
    if ((yield* runs.get(runId)) === undefined) yield* objects.remove(`${evidenceFolder}/${runId}`)
    yield* Effect.yieldNow
  }
})
