/** The queue of graphile-worker, with the batching that its documentation recommends for throughput: `graphile.mjs URL`. */
import { Logger, makeWorkerUtils, run } from "graphile-worker"
import { Pool } from "pg"
import { inBulk, nextChange, serve, slots, spread } from "./Contender.ts"

const pgPool = new Pool({ connectionString: process.argv[2], max: 20 })
const logger = new Logger(() => () => {})
const utils = await makeWorkerUtils({ pgPool, logger })
await utils.migrate()
const make = () => ({ eventId: crypto.randomUUID(), change: nextChange(), configHash: "c".repeat(64) })

let serial = 0
serve(make, {
  adds: (payloads) => spread(payloads, (payload) => utils.addJob("waiting", payload)),
  bulk: (payloads) =>
    inBulk(payloads, (some) => utils.addJobs(some.map((payload) => ({ identifier: "waiting", payload })))),
  cycles: async (payloads) => {
    const name = `review-${++serial}`
    const done = Promise.withResolvers()
    let left = payloads.length
    const runner = await run({
      pgPool,
      concurrency: slots,
      noHandleSignals: true,
      logger,
      preset: { worker: { localQueue: { size: 500 }, completeJobBatchDelay: 0, failJobBatchDelay: 0 } },
      taskList: {
        [name]: () => {
          if (--left === 0) done.resolve()
        }
      }
    })
    await Promise.all([spread(payloads, (payload) => utils.addJob(name, payload)), done.promise])
    await runner.stop()
  }
})
