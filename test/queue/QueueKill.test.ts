/** A process that works on the queue is killed repeatedly: nothing is lost, nothing is done twice. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Queue } from "../../src/queue/Queue.ts"
import { killAfter, toTheEnd } from "../store/KilledChild.ts"
import { admission } from "./Admissions.ts"
import { natsUrl, redisUrl, stores } from "./Stores.ts"

const child = fileURLToPath(new URL("QueueChild.ts", import.meta.url))
const entries = 500
/** Kills of each queue; AICR_TEST_KILLS changes the number. */
const kills = Number(process.env["AICR_TEST_KILLS"] ?? 4)
const rounds = process.env["AICR_TEST_KILLS"] === undefined ? [1, 100, 1500, 90] : [1, 7, 100, 650, 30, 1500, 400, 90]

/** Starts servers for this process and its children. */
const provideServers = async (name: string): Promise<void> => {
  if (name === "redis") process.env["AICR_TEST_REDIS"] = await redisUrl()
  if (name === "nats") process.env["AICR_TEST_NATS"] = await natsUrl()
}

for (const store of stores.filter(({ durable }) => durable)) {
  describe(`Queue (${store.name}), process killed`, () => {
    it("loses nothing and does nothing twice", async () => {
      const folder = mkdtempSync(join(tmpdir(), "aicr-queue-"))
      try {
        const admitted = new Map<string, string>()
        const finished: Array<string> = []
        await provideServers(store.name)
        for (const [round, lines] of rounds.entries()) {
          for (const line of await killAfter(child, [store.name, folder, String(round)], lines)) {
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

    it(`ends each of ${entries} entries once, over ${kills} kills`, { timeout: 300_000 }, async () => {
      const folder = mkdtempSync(join(tmpdir(), "aicr-queue-"))
      try {
        await provideServers(store.name)
        const finished: Array<string> = []
        const run = async (round: number, lines: number) => {
          const args = [store.name, folder, String(round), String(entries)]
          for (const line of await killAfter(child, args, lines)) finished.push(line.split(" ")[1] ?? "")
        }
        // Between a line and the kill a few more entries end; the last kill still finds some waiting.
        for (let round = 0; round < kills; round++) await run(round, Math.floor((entries * 0.4) / kills))
        const rest: Array<string> = []
        await toTheEnd(child, [store.name, folder, "last", String(entries)], rest)
        finished.push(...rest.map((line) => line.split(" ")[1] ?? ""))
        assert.strictEqual(new Set(finished).size, finished.length)
        const check = Effect.gen(function* () {
          const queue = yield* Queue
          const { byStatus } = yield* queue.stats
          assert.deepInclude(byStatus, { done: entries, waiting: 0, ready: 0, running: 0, dead: 0, superseded: 0 })
          for (const id of finished) assert.strictEqual((yield* queue.get(id))?.status, "done")
        })
        await Effect.runPromise(check.pipe(Effect.provide(store.layer(folder))))
      } finally {
        rmSync(folder, { recursive: true, force: true })
      }
    })
  })
}
