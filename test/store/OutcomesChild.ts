/** Settles one run with many findings after the other in the database given as argument; writes a line after each step. */
import { writeSync } from "node:fs"
import { Effect } from "effect"
import { LeaseToken } from "../../src/domain/FencingToken.ts"
import { Runs } from "../../src/store/Runs.ts"
import * as Store from "../../src/store/StoreLayer.ts"
import { publishing } from "./Outcomes.ts"

const settling = Effect.gen(function* () {
  const runs = yield* Runs
  for (let number = Date.now(); ; number++) {
    const { id } = yield* publishing(number, LeaseToken.make(1))
    writeSync(1, "completed\n")
    yield* runs.settle(id, "succeeded", { partial: false, by: { agent: "native-llm", maxProblems: 50 } }, number)
    writeSync(1, "settled\n")
  }
})

await Effect.runPromise(
  settling.pipe(Effect.provide(Store.layerSqlite({ path: process.argv[2] ?? "", migrate: "auto" })))
)
