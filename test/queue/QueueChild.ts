/**
 * Works on the queue in the folder given as argument, as a node does: takes back what its predecessor left running, admits new
 * work and re-admits what it does not know the answer to, claims, now and then hands back, and finishes. Writes what was
 * acknowledged: `admitted <event> <entry>`, `finished <entry> <token>`.
 */
import { writeSync } from "node:fs"
import { Effect } from "effect"
import { Queue } from "../../src/queue/Queue.ts"
import { admission } from "./Admissions.ts"
import { stores } from "./Stores.ts"

const [, , folder = "", round = "0"] = process.argv
const workspaces = ["one", "two", "three"]
const sqlite = stores.find((store) => store.name === "sqlite")
if (sqlite === undefined) throw new Error("No sqlite store")

const admitting = (lane: number) =>
  Effect.gen(function* () {
    const queue = yield* Queue
    for (let index = 0; ; index++) {
      const eventId = `${round}-${lane}-${index}`
      // Each lane has targets of its own; every fifth event joins the one before it.
      const number = lane * 1_000_000 + Number(round) * 10_000 + Math.floor(index / 5) * 5 + Math.min(index % 5, 3)
      const item = admission({ eventId, number, head: "a", workspace: workspaces[lane % 3] ?? "" })
      const [answer] = yield* queue.admit([item])
      writeSync(1, `admitted ${eventId} ${answer?.entryId}\n`)
    }
  })

const working = (workspace: string) =>
  Effect.gen(function* () {
    const queue = yield* Queue
    while (true) {
      const waiting = (yield* queue.load(workspace)).filter((entry) => entry.status !== "running").slice(0, 8)
      yield* queue.release(
        waiting.map((entry) => entry.id),
        1000
      )
      yield* Effect.forEach(waiting, ({ id }) => finishing(id), { concurrency: "unbounded", discard: true })
      yield* Effect.yieldNow
    }
  })

const finishing = Effect.fnUntraced(function* (entryId: string) {
  const queue = yield* Queue
  const claimed = yield* queue.claim(entryId, `node/${round}`, 1000, 60_000)
  if (claimed === undefined) return
  const { lease } = claimed
  if (lease.token === 1 && (claimed.entry.change.target.number ?? 0) % 7 === 0) {
    yield* queue.finish(lease, { _tag: "Retry", dueAt: 1000, reason: "again", counted: true })
    return
  }
  yield* queue.renew(lease, 90_000)
  if (yield* queue.finish(lease, { _tag: "Done" })) writeSync(1, `finished ${entryId} ${lease.token}\n`)
})

await Effect.runPromise(
  Effect.gen(function* () {
    yield* (yield* Queue).reclaim(1000, () => true)
    yield* Effect.all([...[0, 1, 2, 3].map(admitting), ...workspaces.map(working)], {
      concurrency: "unbounded",
      discard: true
    })
  }).pipe(Effect.provide(sqlite.layer(folder)))
)
