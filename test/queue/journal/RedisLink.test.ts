/** Tests the queue over its connection to Redis: a server that disconnects, hangs, is too old, refuses a user, or is shared. */
import { once } from "node:events"
import { createServer } from "node:net"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { Redis } from "ioredis"
import { Queue } from "../../../src/queue/Queue.ts"
import { layerJournal } from "../../../src/queue/journal/JournalQueue.ts"
import { makeRedisJournal } from "../../../src/queue/journal/RedisJournal.ts"
import { explainVersion } from "../../../src/queue/journal/RedisLink.ts"
import { verbatimReason } from "../../../src/domain/Reason.ts"
import { RedisServer } from "../../harness/Redis.ts"
import { waitUntil } from "../../harness/Wait.ts"
import { admission, before } from "../Admissions.ts"
import { manyEntries } from "../Stores.ts"

const server = Effect.acquireRelease(
  Effect.promise(() => RedisServer.start()),
  (running) => Effect.promise(() => running[Symbol.asyncDispose]())
)
const on = (url: string, prefix = "aicr") =>
  Layer.fresh(layerJournal(makeRedisJournal(Redacted.make(url), prefix), manyEntries))

const eventually = (condition: Effect.Effect<boolean, unknown, Queue>, what: string) =>
  Effect.flatMap(Effect.context<Queue>(), (context) =>
    Effect.promise(() =>
      waitUntil(() => Effect.runPromiseWith(context)(Effect.catch(condition, () => Effect.succeed(false))), {
        describe: () => what
      })
    )
  )

/** Returns the error and the time until it occurred. */
const refusal = <A>(effect: Effect.Effect<A, { readonly message: string; readonly reason: string }, Queue>) =>
  Effect.gen(function* () {
    const began = performance.now()
    const error = yield* Effect.flip(effect)
    return { error, millis: performance.now() - began }
  })

const admit = (number: number) => Effect.flatMap(Queue, (queue) => queue.admit([admission({ number, head: "a" })]))

describe("queue in Redis", () => {
  it.live("finds the oldest that waits behind thousands that no longer do, and forgets those", () =>
    Effect.gen(function* () {
      const redis = yield* server
      const raw = new Redis(redis.url)
      yield* Effect.gen(function* () {
        const queue = yield* Queue
        const many = Array.from({ length: 4500 }, (_, index) =>
          admission({ number: index + 1, expires: true, admittedAt: index + 1, dueAt: index + 1 })
        )
        for (let at = 0; at < many.length; at += 500) yield* queue.admit(many.slice(at, at + 500))
        assert.strictEqual((yield* queue.expire(before(4400), verbatimReason("too old"))).length, 4399)
        assert.strictEqual((yield* queue.stats).oldestWaiting, 4400)
        yield* queue.expire(before(5000), verbatimReason("too old"))
        assert.strictEqual((yield* queue.stats).oldestWaiting, undefined)
        // Pruned entries leave nothing behind, with or without earlier reads.
        yield* queue.admit([admission({ number: 1, expires: true })])
        yield* queue.expire(before(5000), verbatimReason("too old"))
        yield* queue.prune({ maxCount: 0, before: 0 })
        assert.deepInclude((yield* queue.stats).byStatus, { waiting: 0, expired: 0 })
        // Hashes without fields do not exist.
        const left = yield* Effect.promise(() => raw.keys("*"))
        assert.sameMembers(left, ["{aicr}:queue:last", "{aicr}:queue:layout", "{aicr}:queue:log"])
        assert.deepStrictEqual(yield* queue.workspaces, [])
      }).pipe(Effect.provide(on(redis.url)), Effect.ensuring(Effect.sync(() => raw.disconnect())))
    })
  )

  it.live("is unavailable for ten seconds: fails immediately, and keeps all acknowledged entries", () =>
    Effect.gen(function* () {
      const redis = yield* server
      yield* Effect.gen(function* () {
        const queue = yield* Queue
        const answers = (yield* Effect.forEach([1, 2, 3], admit)).flat()
        yield* queue.promote([answers[0]?.entryId ?? ""], 100)
        const claimed = yield* queue.claim(answers[0]?.entryId ?? "", "node/1", 100, 60_000)
        assert.isDefined(claimed)

        yield* Effect.promise(() => redis.kill())
        yield* eventually(Effect.isFailure(queue.stats), "the connection is known to be gone")
        const killed = performance.now()
        while (performance.now() - killed < 10_000) {
          const { error, millis } = yield* refusal(admit(4))
          assert.strictEqual(error.reason, "unavailable")
          assert.isBelow(millis, 1000)
          assert.include(error.message, new URL(redis.url).host)
          yield* Effect.sleep("200 millis")
        }
        yield* Effect.promise(() => redis.start())
        yield* eventually(Effect.isSuccess(queue.stats), "it answers again")
        assert.deepInclude((yield* queue.stats).byStatus, { waiting: 2, running: 1 })
        assert.isTrue(claimed !== undefined && (yield* queue.finish(claimed.lease, { _tag: "Done" })))
        yield* admit(4)
        assert.strictEqual((yield* queue.load("app")).length, 3)
      }).pipe(Effect.provide(on(redis.url)))
    }).pipe(Effect.scoped)
  )

  it.live("forgets its scripts (restart, SCRIPT FLUSH) without harm", () =>
    Effect.gen(function* () {
      const redis = yield* server
      yield* Effect.gen(function* () {
        yield* admit(1)
        const other = new Redis(redis.url)
        yield* Effect.promise(() => other.script("FLUSH"))
        other.disconnect()
        yield* admit(2)
        assert.strictEqual((yield* (yield* Queue).load("app")).length, 2)
      }).pipe(Effect.provide(on(redis.url)))
    }).pipe(Effect.scoped)
  )

  it.live("another prefix is another queue", () =>
    Effect.gen(function* () {
      const redis = yield* server
      yield* Effect.provide(admit(1), on(redis.url))
      const elsewhere = Effect.flatMap(Queue, (queue) => queue.workspaces)
      assert.deepStrictEqual(yield* Effect.provide(elsewhere, on(redis.url, "other")), [])
      assert.deepStrictEqual(yield* Effect.provide(elsewhere, on(redis.url)), ["app"])
    }).pipe(Effect.scoped)
  )

  it.live("claims of one message bring each its own change, those that come too late none", () =>
    Effect.gen(function* () {
      const redis = yield* server
      yield* Effect.gen(function* () {
        const queue = yield* Queue
        const numbers = [1, 2, 3, 4, 5, 6]
        const ids = (yield* Effect.forEach(numbers, admit)).flat().map(({ entryId }) => entryId)
        yield* queue.promote(
          ids.filter((_, index) => index % 2 === 0),
          100
        )
        const claims = yield* Effect.forEach(ids, (id) => queue.claim(id, "node/1", 100, 60_000), {
          concurrency: "unbounded"
        })
        const claimed = claims.map((claim) => claim?.entry.change.target.number)
        assert.deepStrictEqual(claimed, [1, undefined, 3, undefined, 5, undefined])
      }).pipe(Effect.provide(on(redis.url)))
    })
  )

  it.live("a key of another type fails transitions with the reason, and writes nothing of them", () =>
    Effect.gen(function* () {
      const redis = yield* server
      const raw = new Redis(redis.url)
      yield* Effect.gen(function* () {
        const queue = yield* Queue
        yield* admit(1)
        yield* Effect.promise(() => raw.set("{aicr}:queue:details", "text"))
        const failed = yield* Effect.flip(admit(2))
        assert.strictEqual(failed.reason, "unavailable")
        assert.include(failed.message, "WRONGTYPE")
        assert.deepInclude((yield* queue.stats).byStatus, { waiting: 1 })
        yield* Effect.promise(() => raw.del("{aicr}:queue:details"))
        assert.strictEqual((yield* admit(2))[0]?.status, "queued")
      }).pipe(Effect.provide(on(redis.url)))
      raw.disconnect()
    }).pipe(Effect.scoped)
  )

  it.live("reclaims entries of more workspaces than one page", () =>
    Effect.gen(function* () {
      const redis = yield* server
      yield* Effect.gen(function* () {
        const queue = yield* Queue
        // More than a call of Lua takes arguments, in one admission.
        const items = Array.from({ length: 4500 }, (_, number) => admission({ number, workspace: `w${number % 1500}` }))
        const ids = (yield* queue.admit(items)).slice(0, 1500).map(({ entryId }) => entryId)
        yield* queue.promote(ids, 100)
        yield* Effect.forEach(ids, (id) => queue.claim(id, "node/1", 100, 1000), { concurrency: "unbounded" })
        assert.deepInclude((yield* queue.stats).byStatus, { running: 1500, waiting: 3000 })
        const back = yield* queue.reclaim(5000, () => false)
        assert.deepStrictEqual(new Set(back.map(({ id }) => id)), new Set(ids))
      }).pipe(Effect.provide(on(redis.url)))
    }).pipe(Effect.scoped)
  )

  it.live("a snapshot sees what another transition of its iteration ended", () =>
    Effect.gen(function* () {
      const redis = yield* server
      yield* Effect.gen(function* () {
        const queue = yield* Queue
        yield* queue.admit([
          admission({ number: 1, expires: true }),
          admission({ number: 2, admittedAt: 300, dueAt: 300, expires: true })
        ])
        const snapshot = queue.loadSnapshot("app", 1000, 4)
        const numbers = ({ eligible }: Effect.Success<typeof snapshot>) =>
          eligible.map(({ targetKey }) => targetKey.split(":").at(-1))
        assert.deepStrictEqual(numbers(yield* snapshot), ["1", "2"])
        const [ended, after] = yield* Effect.all(
          [queue.expire(before(200), verbatimReason("waited for long")), snapshot, snapshot, snapshot],
          {
            concurrency: "unbounded"
          }
        )
        assert.strictEqual(ended.length, 1)
        assert.deepStrictEqual(numbers(after), ["2"])
      }).pipe(Effect.provide(on(redis.url)))
    }).pipe(Effect.scoped)
  )

  it("a server older than 6.2 is too old", () => {
    const explain = (version: string) =>
      explainVersion(`# Server\r\nredis_version:${version}\r\nredis_mode:standalone\r\n`)
    for (const version of ["6.2.0", "6.10.1", "7.0.15", "8.0.0", "255.255.255"]) assert.isUndefined(explain(version))
    for (const version of ["5.0.14", "6.0.16"])
      assert.deepStrictEqual(explain(version), { _tag: "RedisTooOld", version })
  })

  it.live("does not start on a server that is too old", () =>
    Effect.gen(function* () {
      const info = "redis_version:6.0.16\r\nloading:0\r\n"
      const old = createServer((socket) => {
        socket.on("data", (bytes) => {
          for (const command of bytes.toString().match(/info|client|hello|setname/gi) ?? [])
            socket.write(
              /info/i.test(command) ? `$${info.length}\r\n${info}\r\n` : /client|hello/i.test(command) ? "+OK\r\n" : ""
            )
        })
      }).listen(0, "127.0.0.1")
      yield* Effect.addFinalizer(() => Effect.sync(() => old.close()))
      yield* Effect.promise(() => once(old, "listening"))
      const address = old.address()
      const port = typeof address === "object" ? address?.port : 0
      const { message } = yield* Effect.flip(Effect.scoped(Layer.build(on(`redis://127.0.0.1:${port}`))))
      assert.include(message, "it is Redis 6.0.16. Install Redis 6.2 or newer")
    }).pipe(Effect.scoped)
  )

  it.live("works for a user with the commands that the remedy names, and names them to one without", () =>
    Effect.gen(function* () {
      const redis = yield* server
      const raw = new Redis(redis.url)
      const commands = ["evalsha", "eval", "info", "multi", "exec", "del", "exists", "expire", "persist"]
      const rules = [
        "on",
        ">s3cret",
        "~{aicr}:queue:*",
        ...["@string", "@hash", "@list", "@stream", ...commands].map((name) => `+${name}`)
      ]
      yield* Effect.promise(() => raw.acl("SETUSER", "ada", ...rules))
      yield* Effect.promise(() => raw.acl("SETUSER", "eve", ...rules, "-@stream"))
      const at = (user: string) => on(redis.url.replace("redis://", `redis://${user}:s3cret@`))
      yield* Effect.gen(function* () {
        const queue = yield* Queue
        const many = Array.from({ length: 21_000 }, (_, number) => admission({ number, workspace: `w${number % 3}` }))
        for (let start = 0; start < many.length; start += 3000) yield* queue.admit(many.slice(start, start + 3000))
        yield* eventually(
          Effect.promise(async () => (await raw.exists("{aicr}:queue:snapshot")) === 1),
          "a snapshot is written"
        )
        assert.deepInclude((yield* queue.stats).byStatus, { waiting: 21_000 })
      }).pipe(Effect.provide(at("ada")))
      assert.lengthOf(
        yield* Effect.provide(
          Effect.flatMap(Queue, (queue) => queue.workspaces),
          at("ada")
        ),
        3
      )
      const refused = yield* Effect.flip(Effect.scoped(Layer.build(at("eve"))))
      for (const name of [...commands.map((command) => command.toUpperCase()), "streams"])
        assert.include(refused.message, name)
      raw.disconnect()
    }).pipe(Effect.scoped)
  )

  it.live("does not start if it is unreachable, and names neither user nor password", () =>
    Effect.gen(function* () {
      const unreachable = yield* Effect.flip(Effect.scoped(Layer.build(on("redis://ada:s3cret@127.0.0.1:1"))))
      assert.include(unreachable.message, "127.0.0.1:1")
      assert.notInclude(unreachable.message, "s3cret")
      const redis = yield* server
      const wrong = yield* Effect.flip(
        Effect.scoped(Layer.build(on(redis.url.replace("redis://", "redis://ada:s3cret@"))))
      )
      assert.include(wrong.message, "storage.cache.redis.url_env")
      assert.notInclude(wrong.message, "s3cret")
    }).pipe(Effect.scoped)
  )
})
