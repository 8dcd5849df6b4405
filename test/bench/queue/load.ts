/**
 * `load.ts fill PLACE COUNT` adds so many entries that wait to the queue at a URL of Redis or in a SQLite file; `load.ts read PLACE COUNT`
 * starts a node on them. Both send the bytes of heap that each entry takes in the node; `read` also sends the seconds until the node can
 * decide, of the clock and of its processor.
 */
import { Effect, ManagedRuntime, Redacted } from "effect"
import { newId } from "../../../src/domain/Ids.ts"
import { layerJournal } from "../../../src/queue/journal/JournalQueue.ts"
import { makeRedisJournal } from "../../../src/queue/journal/RedisJournal.ts"
import { makeSqliteJournal } from "../../../src/queue/journal/SqliteJournal.ts"
import { Queue } from "../../../src/queue/Queue.ts"
import { nextChange } from "./Contender.ts"

const [, , what = "read", place = "", total = "0"] = process.argv
const count = Number(total)
/** Admissions of one call, in micro-batches like those of an ingress. */
const together = 64

const heap = () => {
  globalThis.gc?.()
  globalThis.gc?.()
  return process.memoryUsage().heapUsed
}

const limits = { perWorkspace: 10_000_000, total: 10_000_000 }
const open = () =>
  ManagedRuntime.make(
    layerJournal(
      place.startsWith("redis:") ? makeRedisJournal(Redacted.make(place), "aicr") : makeSqliteJournal(place),
      limits
    )
  ).runPromise(Queue)

const admission = () => {
  const now = Date.now()
  // Like a request's body: nothing of it is shared with another entry.
  const change = structuredClone(nextChange())
  return { eventId: newId(), change, configHash: "c".repeat(64), priority: 10, admittedAt: now, dueAt: now }
}

const before = heap()
const began = { time: performance.now(), cpu: process.cpuUsage() }
const queue = await open()
const seconds = (performance.now() - began.time) / 1000
const { system, user } = process.cpuUsage(began.cpu)
if (what === "fill") {
  for (let at = 0; at < count; at += 8 * together) {
    const calls = Array.from({ length: 8 }, () => queue.admit(Array.from({ length: together }, admission)))
    await Effect.runPromise(Effect.all(calls, { concurrency: "unbounded" }))
  }
}
const { byStatus } = await Effect.runPromise(queue.stats)
process.send?.({
  bytes: (heap() - before) / byStatus.waiting,
  seconds,
  cpuSeconds: (user + system) / 1e6,
  waiting: byStatus.waiting
})
process.once("message", () => process.exit(0))
