/** A process that works on the SQLite queue is killed again and again: nothing is lost, nothing is done twice. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Queue } from "../../src/queue/Queue.ts"
import { killAfter } from "../store/KilledChild.ts"
import { admission } from "./Admissions.ts"
import { stores } from "./Stores.ts"

const child = fileURLToPath(new URL("QueueChild.ts", import.meta.url))
const rounds = [1, 7, 100, 650, 30, 1500, 400, 90]

for (const store of stores.filter(({ durable }) => durable)) {
  describe(`Queue (${store.name}), process killed`, () => {
    it("loses nothing and does nothing twice", async () => {
      const folder = mkdtempSync(join(tmpdir(), "aicr-queue-"))
      try {
        const admitted = new Map<string, string>()
        const finished: Array<string> = []
        for (const [round, lines] of rounds.entries()) {
          for (const line of await killAfter(child, [folder, String(round)], lines)) {
            const [what, first = "", second = ""] = line.split(" ")
            if (what === "admitted") admitted.set(first, second)
            else finished.push(first)
          }
        }
        assert.isAbove(finished.length, 100)
        assert.strictEqual(new Set(finished).size, finished.length)
        const check = Effect.gen(function* () {
          const queue = yield* Queue
          for (const id of finished) assert.strictEqual((yield* queue.get(id))?.status, "done")
          for (const [eventId, entryId] of admitted) {
            const [again] = yield* queue.admit([admission({ eventId, number: 1 })])
            assert.deepStrictEqual([again?.status, again?.entryId], ["duplicate", entryId])
            assert.isTrue((yield* queue.get(entryId))?.events.includes(eventId))
          }
          yield* queue.reclaim(2000, () => true)
          const { byStatus } = yield* queue.stats
          const active = (yield* Effect.forEach(yield* queue.workspaces, queue.load)).flat()
          assert.strictEqual(byStatus.running, 0)
          assert.strictEqual(byStatus.waiting + byStatus.ready, active.length)
          assert.isAtLeast(byStatus.done, finished.length)
        })
        await Effect.runPromise(check.pipe(Effect.provide(store.layer(folder))))
      } finally {
        rmSync(folder, { recursive: true, force: true })
      }
    })
  })
}
