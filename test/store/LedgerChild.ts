/** Reserves 2 cents and settles 1 in an endless loop, 16 at a time, in the database given as argument; writes a line after each step. */
import { writeSync } from "node:fs"
import { Effect } from "effect"
import { ReservationId } from "../../src/domain/Keys.ts"
import { Usd } from "../../src/domain/Money.ts"
import { newId } from "../../src/domain/Ids.ts"
import { Ledger } from "../../src/store/Ledger.ts"
import * as Store from "../../src/store/StoreLayer.ts"

const spending = Effect.gen(function* () {
  const ledger = yield* Ledger
  while (true) {
    const id = newId()
    const caps = { runCapUsd: undefined, dayCapUsd: undefined }
    const place = { runId: "run-1", repository: "t:team/app", day: "2026-01-31", team: "payments" }
    yield* ledger.reserve(
      { id: ReservationId.make(id), ...place, usd: Usd.make(0.02), ...caps, owner: "child" },
      Date.now()
    )
    writeSync(1, "reserved\n")
    yield* Effect.yieldNow
    yield* ledger.settle(ReservationId.make(id), Usd.make(0.01), Date.now())
    writeSync(1, "settled\n")
  }
})

await Effect.runPromise(
  Effect.all(
    Array.from({ length: 16 }, () => spending),
    { concurrency: "unbounded", discard: true }
  ).pipe(Effect.provide(Store.layerSqlite({ path: process.argv[2] ?? "", migrate: "auto" })))
)
