/** Stores records in an endless loop, 32 at a time, in the database given as argument; writes each record's id once it is stored. */
import { writeSync } from "node:fs"
import { Effect } from "effect"
import { Receipts } from "../../src/store/Receipts.ts"
import * as Store from "../../src/store/StoreLayer.ts"
import { event } from "./Fixtures.ts"

const storing = Effect.gen(function* () {
  const receipts = yield* Receipts
  while (true) {
    const record = event()
    const receipt = yield* receipts.store(record)
    if (receipt._tag === "Stored") writeSync(1, `${record.id}\n`)
  }
})

await Effect.runPromise(
  Effect.all(
    Array.from({ length: 32 }, () => storing),
    { concurrency: "unbounded", discard: true }
  ).pipe(Effect.provide(Store.layerSqlite({ path: process.argv[2] ?? "", migrate: "auto" })))
)
