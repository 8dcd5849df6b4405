/**
 * Nine concurrent pull requests in three repositories: never more run than the limits allow, those of reviews that
 * compute and of reviews that wait for their models, and nothing gets mixed up. With a queue in SQLite by default, also in memory with
 * AICR_TEST_BACKENDS=all.
 */
import { describe, expect, it } from "vitest"
import { toFilePath, honest, Installation, markedLine, namesIn } from "../harness/Installation.ts"
import { takeSample } from "../harness/Samples.ts"
import { waitUntil } from "../harness/Wait.ts"

const repositories = ["team/one", "team/two", "team/three"]
const limits = {
  memory: [{ slots: 4, waiting: 0, room: 4 }],
  sqlite: [
    { slots: 4, waiting: 0, room: 4 },
    { slots: 1, waiting: 6, room: 7 }
  ]
}

describe.each(takeSample("AICR_TEST_BACKENDS", ["sqlite", "memory"] as const, 2))("queue %s", (queue) => {
  it.each(limits[queue])(
    "reviews nine pull requests with $slots slots and $waiting beyond, $room at a time",
    { timeout: 180_000 },
    async ({ room, slots, waiting }) => {
      await using at = await Installation.make({
        queue,
        repositories,
        concurrency: slots,
        perWorkspaceConcurrency: slots,
        maxWaitingForModel: waiting
      })
      await at.aicr.start()
      const pulls = []
      for (const repository of repositories) {
        for (let number = 1; number <= 3; number++) {
          pulls.push(await at.open(`${repository.replace("/", "-")}-${number}`, repository))
        }
      }

      // Replies are held back until the model has as many concurrent requests as the limit allows, and until the service,
      // which keeps running, has had time to send one too many.
      let running = 0
      let most = 0
      let left = pulls.length
      const strangers: Array<string> = []
      at.model.script(async (request) => {
        const names = namesIn(request)
        if (names.length !== 1) strangers.push(`one request about ${names.join(", ")}`)
        running++
        most = Math.max(most, running)
        await waitUntil(() => running >= Math.min(room, left), { describe: () => `${running} of ${left} left run` })
        for (let turn = 0; turn < 10; turn++) await fetch(`${at.aicr.url}/healthz`)
        running--
        left--
        return honest(request)
      })
      const responses = await Promise.all(pulls.map((pull) => at.forge.notify(pull, "opened")))
      expect(responses.filter((response) => response.status !== 202)).toEqual([])
      await at.reviewed(...pulls)
      at.model.script(honest)
      await at.settled()

      expect(most).toBe(room)
      expect(strangers).toEqual([])
      expect(pulls.map((pull) => at.posted(pull))).toEqual(
        pulls.map((pull) => ({
          reviews: [pull.head],
          comments: [`${toFilePath(pull.headBranch)}:${markedLine}`],
          summaries: 1
        }))
      )
      expect(pulls.filter((pull) => at.countModelCalls(pull.headBranch) !== 1)).toEqual([])
    }
  )
})
