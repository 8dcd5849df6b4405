/** graphile-worker, with the batching that its documentation recommends for throughput: `graphile.mjs URL`. */
import { Logger, makeWorkerUtils, run } from "graphile-worker"
import { Pool } from "pg"
import { inBulk, nextChange, serve, slots, spread } from "./Contender.ts"

const pgPool = new Pool({ connectionString: process.argv[2], max: 20 })
const logger = new Logger(() => () => {})
const utils = await makeWorkerUtils({ pgPool, logger })
await utils.migrate()
const payload = () => ({ eventId: crypto.randomUUID(), change: nextChange(), configHash: "c".repeat(64) })

let serial = 0
serve({
  adds: (count) => spread(count, () => utils.addJob("waiting", payload())),
  bulk: (count) =>
    inBulk(count, (some) =>
      utils.addJobs(Array.from({ length: some }, () => ({ identifier: "waiting", payload: payload() })))
    ),
  cycles: async (count) => {
    const name = `review-${++serial}`
    const done = Promise.withResolvers()
    let left = count
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
    await Promise.all([spread(count, () => utils.addJob(name, payload())), done.promise])
    await runner.stop()
  }
})
