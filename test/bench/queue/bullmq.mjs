/** BullMQ, set up as its documentation recommends: `bullmq.mjs redis URL [NODE]`. */
import { Queue, Worker } from "bullmq"
import { inBulk, nextChange, node, serve, slots, spread } from "./Contender.ts"

const { hostname: host, port } = new URL(process.argv[3] ?? "")
const connection = { host, port: Number(port) }
const make = () => ({ eventId: crypto.randomUUID(), change: nextChange(), configHash: "c".repeat(64) })

/** Each order of each process has a queue of its own, so that no job is left over from the one before. */
let serial = 0
const open = () => new Queue(`reviews-${node}-${++serial}`, { connection })
const adding = open()
await adding.waitUntilReady()

serve(make, {
  adds: (all) => spread(all, (data) => adding.add("review", data)),
  bulk: (all) => inBulk(all, (some) => adding.addBulk(some.map((data) => ({ name: "review", data })))),
  cycles: async (all) => {
    const queue = open()
    const done = Promise.withResolvers()
    let left = all.length
    const worker = new Worker(
      queue.name,
      async () => {
        if (--left === 0) done.resolve()
      },
      { connection, concurrency: slots }
    )
    await worker.waitUntilReady()
    await Promise.all([spread(all, (data) => queue.add("review", data)), done.promise])
    await worker.close()
    await queue.close()
  }
})
