/** Tests that a queue of another layout is refused, with what to do. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { Redis } from "ioredis"
import { layerJournal } from "../../../src/queue/journal/JournalQueue.ts"
import { makeRedisJournal } from "../../../src/queue/journal/RedisJournal.ts"
import { RedisServer } from "../../harness/Redis.ts"
import { waitUntil } from "../../harness/Wait.ts"
import { manyEntries } from "../Stores.ts"

const server = Effect.acquireRelease(
  Effect.promise(() => RedisServer.start()),
  (running) => Effect.promise(() => running[Symbol.asyncDispose]())
)
const on = (url: string, prefix = "aicr") =>
  Layer.fresh(layerJournal(makeRedisJournal(Redacted.make(url), prefix), manyEntries))

describe("layout of the queue in Redis", () => {
  it.live("is marked, and another one is refused", () =>
    Effect.gen(function* () {
      const redis = yield* server
      const raw = new Redis(redis.url)
      yield* Effect.scoped(Layer.build(on(redis.url)))
      yield* Effect.scoped(Layer.build(on(redis.url)))
      assert.strictEqual(yield* Effect.promise(() => raw.get("{aicr}:queue:layout")), "7")
      yield* Effect.promise(() => raw.mset("{later}:queue:layout", "8", "{earlier}:queue:layout", "5"))
      yield* Effect.promise(() => raw.hset("{first}:queue:counts", "waiting", "1"))
      for (const [prefix, layout] of [
        ["later", "8"],
        ["earlier", "5"],
        ["first", "1"]
      ] as const) {
        const { message } = yield* Effect.flip(Effect.scoped(Layer.build(on(redis.url, prefix))))
        assert.include(message, `{${prefix}}:queue:* have layout ${layout}`)
        assert.include(message, "remove them: what was accepted is queued again from its records")
        const written = yield* Effect.promise(() => raw.exists(`{${prefix}}:queue:log`))
        assert.strictEqual(written, 0)
      }
      raw.disconnect()
    }).pipe(Effect.scoped)
  )

  it.live("is marked again in a Redis that lost all keys", () =>
    Effect.gen(function* () {
      const redis = yield* server
      yield* Layer.build(on(redis.url))
      const raw = new Redis(redis.url)
      yield* Effect.promise(async () => {
        await raw.flushall()
        await raw.call("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
        await waitUntil(async () => (await raw.get("{aicr}:queue:layout")) === "7", { describe: () => "it is marked" })
      })
      raw.disconnect()
    }).pipe(Effect.scoped)
  )
})
