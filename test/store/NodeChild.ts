/**
 * A node in a separate process on the Postgres given as argument: stores the deliveries `shared:0…n-1` that every other node stores too,
 * puts each into the batch of one branch, and spends money of one repository and day. Writes a line of JSON after each step.
 */
import { writeSync } from "node:fs"
import { Effect } from "effect"
import { DeliveryKey, ReservationId } from "../../src/domain/Keys.ts"
import { Usd } from "../../src/domain/Money.ts"
import { newId } from "../../src/domain/Ids.ts"
import { Batches } from "../../src/store/Batches.ts"
import { Ledger } from "../../src/store/Ledger.ts"
import { Receipts } from "../../src/store/Receipts.ts"
import { postgresAt } from "./Databases.ts"
import { change, event } from "./Fixtures.ts"

const [url = "", count = "0"] = process.argv.slice(2)
const writeLine = (line: object): void => void writeSync(1, `${JSON.stringify(line)}\n`)

const deliver = Effect.fnUntraced(function* (at: number) {
  const record = event({ deliveryKey: DeliveryKey.make(`shared:${at}`) })
  const receipt = yield* (yield* Receipts).store(record)
  const eventId = receipt._tag === "Stored" ? record.id : receipt.first.id
  writeLine({ at, receipt: receipt._tag, eventId })
  const push = { ...change(), target: { kind: "commit" as const, branch: "main" }, commits: 1 }
  const [joined] = yield* (yield* Batches).join([
    { eventId, change: push, configHash: "c", priority: 1, admittedAt: 1, dueAt: 10 }
  ])
  writeLine({ at, joined: joined?.how, batchId: joined?.batch.id })
})

const spend = Effect.gen(function* () {
  const ledger = yield* Ledger
  const id = newId()
  const place = { runId: id, repository: "t:team/app", day: "2026-01-31", owner: `child/${process.pid}` }
  const reservation = yield* ledger.reserve(
    { id: ReservationId.make(id), ...place, usd: Usd.make(0.07), runCapUsd: undefined, dayCapUsd: Usd.make(10) },
    1
  )
  writeLine({ spent: reservation._tag, id })
  if (reservation._tag === "Reserved") yield* ledger.settle(ReservationId.make(id), Usd.make(0.05), 2)
})

await Effect.runPromise(
  Effect.forEach(
    Array.from({ length: Number(count) }, (_, at) => at),
    (at) => Effect.andThen(deliver(at), spend),
    { concurrency: 16, discard: true }
  ).pipe(Effect.provide(postgresAt(url)))
)
