/**
 * Works on the queue of a store and folder like a node: `QueueChild.ts STORE FOLDER ROUND [COUNT]`. Reclaims what its predecessor left
 * running, admits new work and re-admits work without a known result, claims, releases some entries, and finishes. Writes acknowledged
 * steps: `admitted <event> <entry>`, `finished <entry> <token>`. With a count it admits this number of entries, the same each time, and
 * ends when all have ended.
 */
import { writeSync } from "node:fs"
import { flushCompileCache } from "node:module"
import { Effect } from "effect"
import { Queue } from "../../src/queue/Queue.ts"
import { verbatimReason } from "../../src/domain/Reason.ts"
import { admission } from "./Admissions.ts"
import { stores } from "./Stores.ts"

const [, , name = "", folder = "", round = "0", total] = process.argv
const workspaces = ["one", "two", "three"]
const store = stores.find((one) => one.name === name)
if (store === undefined) throw new Error(`No store ${name}`)

const admitting = (lane: number) =>
  Effect.gen(function* () {
    const queue = yield* Queue
    for (let index = 0; ; index++) {
      const eventId = `${round}-${lane}-${index}`
      // Each lane has separate targets; every fifth event joins the previous one.
      const number = lane * 1_000_000 + Number(round) * 10_000 + Math.floor(index / 5) * 5 + Math.min(index % 5, 3)
      const item = admission({ eventId, number, head: "a", workspace: workspaces[lane % 3] ?? "" })
      const [answer] = yield* queue.admit([item])
      writeSync(1, `admitted ${eventId} ${answer?.entryId}\n`)
    }
  })

/** Concurrent entries per workspace and the pause between them: work must last for the number of kills. */
const [wave, pause] = total === undefined ? [8, 0] : [2, 20]

const working = (workspace: string) =>
  Effect.gen(function* () {
    const queue = yield* Queue
    while (true) {
      const waiting = (yield* queue.load(workspace)).filter((entry) => entry.status !== "running").slice(0, wave)
      yield* queue.promote(
        waiting.map((entry) => entry.id),
        1000
      )
      yield* Effect.forEach(waiting, ({ id }) => finishing(id), { concurrency: "unbounded", discard: true })
      yield* pause === 0 ? Effect.yieldNow : Effect.sleep(pause)
    }
  })

const finishing = Effect.fnUntraced(function* (entryId: string) {
  const queue = yield* Queue
  const claimed = yield* queue.claim(entryId, `node/${round}`, 1000, 60_000)
  if (claimed === undefined) return
  const { lease } = claimed
  if (lease.token === 1 && (claimed.entry.change.target.number ?? 0) % 7 === 0) {
    yield* queue.finish(lease, { _tag: "Retry", dueAt: 1000, reason: verbatimReason("again"), counted: true })
    return
  }
  yield* queue.renew(lease, 90_000)
  if (yield* queue.finish(lease, { _tag: "Done" })) writeSync(1, `finished ${entryId} ${lease.token}\n`)
})

const admitAll = Effect.fnUntraced(function* (count: number) {
  const queue = yield* Queue
  const items = Array.from({ length: count }, (_, number) =>
    admission({ eventId: `event-${number}`, number, head: "a", workspace: workspaces[number % 3] ?? "" })
  )
  yield* Effect.forEach(items, (item) => queue.admit([item]), { concurrency: "unbounded", discard: true })
})

const allEnded = (count: number) =>
  Effect.gen(function* () {
    const queue = yield* Queue
    while (true) {
      const { byStatus } = yield* queue.stats
      if (byStatus.done + byStatus.dead >= count) return
      yield* Effect.sleep("5 millis")
    }
  })

const work = Effect.all(workspaces.map(working), { concurrency: "unbounded", discard: true })

flushCompileCache()
await Effect.runPromise(
  Effect.gen(function* () {
    yield* (yield* Queue).reclaim(1000, () => true)
    if (total === undefined) {
      yield* Effect.all([...[0, 1, 2, 3].map(admitting), work], { concurrency: "unbounded", discard: true })
    } else {
      yield* admitAll(Number(total))
      yield* Effect.race(work, allEnded(Number(total)))
    }
  }).pipe(Effect.provide(store.layer(folder)))
)
