/** One contract over every kind of cache, and that an unavailable Redis costs neither an error nor time. */
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer, Logger, Option, Redacted, Schema } from "effect"
import type { Scope } from "effect"
import { Redis } from "ioredis"
import { Cache, maxValueLength, remembering } from "../../src/store/Cache.ts"
import type { Lookup } from "../../src/store/Cache.ts"
import { layerMemory } from "../../src/store/cache/MemoryCache.ts"
import { layerRedis } from "../../src/store/cache/RedisCache.ts"
import type { RedisCacheOptions } from "../../src/store/cache/RedisCache.ts"
import { freePort } from "../harness/FreePort.ts"
import { RedisServer } from "../harness/Redis.ts"

const Person = Schema.Struct({ account: Schema.optionalKey(Schema.String), seen: Schema.Int })
const person: Lookup<typeof Person.Type> = { name: "person", schema: Person }
const number: Lookup<number> = { name: "number", schema: Schema.Int }

/** One server for this file, ended with the process. */
let server: Promise<RedisServer> | undefined
let places = 0
const redis = (options: Omit<Partial<RedisCacheOptions>, "url"> = {}) =>
  Layer.unwrap(
    Effect.map(
      Effect.promise(() => (server ??= RedisServer.start())),
      ({ url }) =>
        layerRedis({
          url: Redacted.make(url),
          prefix: `place${++places}`,
          ttlMillis: 60_000,
          // This test covers what it stores.
          timeoutMillis: 10_000,
          ...options
        })
    )
  )

interface Kind {
  readonly name: string
  readonly keeps: boolean
  readonly layer: (ttlMillis?: number) => Layer.Layer<Cache>
}

const kinds: ReadonlyArray<Kind> = [
  { name: "none", keeps: false, layer: () => Cache.layerNone },
  { name: "memory", keeps: true, layer: (ttlMillis = 60_000) => layerMemory({ ttlMillis }) },
  { name: "redis", keeps: true, layer: (ttlMillis = 60_000) => redis({ ttlMillis }) }
]

const until = (condition: Effect.Effect<boolean>, from = Date.now()): Effect.Effect<void> =>
  Effect.flatMap(condition, (met) => {
    if (met) return Effect.void
    if (Date.now() - from > 20_000) return Effect.die("never")
    return Effect.andThen(
      Effect.promise(() => new Promise<void>((resolve) => setTimeout(resolve, 10))),
      until(condition, from)
    )
  })

for (const { name, keeps, layer } of kinds) {
  describe(`cache ${name}`, () => {
    const kept = <A>(answer: A): Option.Option<A> => (keeps ? Option.some(answer) : Option.none())
    const test = (what: string, body: Effect.Effect<void, unknown, Cache | Scope.Scope>, ttlMillis?: number) =>
      it.live(what, () => Effect.provide(Effect.scoped(body), Layer.fresh(layer(ttlMillis))))

    test(
      "gives what was set, by kind and by everything it is about",
      Effect.gen(function* () {
        const cache = yield* Cache
        assert.deepStrictEqual(yield* cache.get(person, ["a"]), Option.none())
        yield* cache.set(person, ["a", "b"], { account: "olga", seen: 1 })
        yield* cache.set(person, ["a", undefined], { seen: 2 })
        yield* cache.set(number, ["a", "b"], 3)
        assert.deepStrictEqual(yield* cache.get(person, ["a", "b"]), kept({ account: "olga", seen: 1 }))
        assert.deepStrictEqual(yield* cache.get(person, ["a", undefined]), kept({ seen: 2 }))
        assert.deepStrictEqual(yield* cache.get(number, ["a", "b"]), kept(3))
        for (const other of [["a"], ["ab"], ["a", ""], ["a", "b", undefined], ["b", "a"]])
          assert.deepStrictEqual(yield* cache.get(person, other), Option.none(), JSON.stringify(other))
        yield* cache.set(number, ["a", "b"], 4)
        assert.deepStrictEqual(yield* cache.get(number, ["a", "b"]), kept(4))
      })
    )

    test(
      "forgets after its time",
      Effect.gen(function* () {
        const cache = yield* Cache
        yield* cache.set(number, ["x"], 1)
        yield* until(Effect.map(cache.get(number, ["x"]), Option.isNone))
      }),
      300
    )

    test(
      "requests once what it caches, and caches no failure",
      Effect.gen(function* () {
        const cache = yield* Cache
        let asked = 0
        const failing: Effect.Effect<number, string> = Effect.suspend(() => (++asked, Effect.fail("away")))
        for (const _ of [1, 2])
          assert.strictEqual(yield* Effect.flip(remembering(cache, number, ["q"], failing)), "away")
        assert.strictEqual(asked, 2)
        const ask = Effect.sync(() => ++asked)
        yield* remembering(cache, number, ["q"], ask)
        assert.strictEqual(yield* remembering(cache, number, ["q"], ask), keeps ? 3 : 4)
      })
    )

    test(
      "keeps nothing large, and reads nothing of another form",
      Effect.gen(function* () {
        const cache = yield* Cache
        const text: Lookup<string> = { name: "number", schema: Schema.String }
        yield* cache.set(text, ["large"], "x".repeat(maxValueLength))
        assert.deepStrictEqual(yield* cache.get(text, ["large"]), Option.none())
        yield* cache.set(text, ["fits"], "x".repeat(maxValueLength - 2))
        assert.strictEqual(Option.isSome(yield* cache.get(text, ["fits"])), keeps)
        assert.deepStrictEqual(yield* cache.get(number, ["fits"]), Option.none())
      })
    )
  })
}

describe("in memory", () => {
  it.effect("what was used longest ago goes first", () =>
    Effect.gen(function* () {
      const cache = yield* Cache
      for (const at of [1, 2, 3]) yield* cache.set(number, [String(at)], at)
      yield* cache.get(number, ["1"])
      yield* cache.set(number, ["4"], 4)
      const there = yield* Effect.forEach([1, 2, 3, 4], (at) => cache.get(number, [String(at)]))
      assert.deepStrictEqual(there.map(Option.isSome), [true, false, true, true])
    }).pipe(Effect.provide(layerMemory({ ttlMillis: 1000, entries: 3 })))
  )
})

/** Collects warnings and messages, with a signal for the first. */
const listening = () => {
  const lines: Array<string> = []
  const layer = Logger.layer([
    Logger.make<unknown, void>(({ logLevel, message }) => {
      lines.push(`${logLevel} ${String([message].flat()[0])}`)
    })
  ])
  return { lines, layer }
}

/** Timeout of a call in tests of reconnection: long enough for a busy machine. */
const responseMillis = 1500
/** Upper bound for the duration of a call, including the delay of a loaded machine. */
const prompt = 4500

describe("Redis", () => {
  it.live("nodes share values; keys reveal nothing and expire", () =>
    Effect.gen(function* () {
      const { url } = yield* Effect.promise(() => (server ??= RedisServer.start()))
      const node = Layer.fresh(redis({ prefix: "shared" }))
      yield* Effect.provide(
        Effect.flatMap(Cache, (cache) => cache.set(number, ["jane@corp.test", "team/app"], 7)),
        node
      )
      const found = yield* Effect.provide(
        Effect.flatMap(Cache, (cache) => cache.get(number, ["jane@corp.test", "team/app"])),
        Layer.fresh(redis({ prefix: "shared" }))
      )
      assert.deepStrictEqual(found, Option.some(7))
      const client = new Redis(url)
      const keys = yield* Effect.promise(() => client.keys("{shared}:*"))
      assert.strictEqual(keys.length, 1)
      assert.match(keys[0] ?? "", /^\{shared\}:cache:number:[0-9a-f]{64}$/)
      const left = yield* Effect.promise(() => client.pttl(keys[0] ?? ""))
      assert.isTrue(left > 0 && left <= 60_000, String(left))
      client.disconnect()
    })
  )

  it.live(
    "an unavailable, dying or hanging server is a miss, logged once, and costs no time",
    () =>
      Effect.gen(function* () {
        const own = yield* Effect.promise(() => RedisServer.start())
        yield* Effect.addFinalizer(() => Effect.promise(() => own[Symbol.asyncDispose]()))
        yield* Effect.promise(() => own.kill())
        const { lines, layer } = listening()
        const retryAfter = 50
        const timed = <A>(call: Effect.Effect<A>) =>
          Effect.gen(function* () {
            const from = Date.now()
            const value = yield* call
            assert.isBelow(Date.now() - from, prompt)
            return value
          })
        yield* Effect.gen(function* () {
          const cache = yield* Cache
          for (const at of [1, 2, 3]) {
            yield* timed(cache.set(number, ["a"], at))
            assert.deepStrictEqual(yield* timed(cache.get(number, ["a"])), Option.none())
          }
          const works = (at: number) =>
            until(
              Effect.andThen(
                cache.set(number, ["a"], at),
                Effect.map(cache.get(number, ["a"]), (kept) => Option.isSome(kept) && kept.value === at)
              )
            )
          assert.deepStrictEqual(
            lines.map((line) => line.replace(/:\d+ /, " ").replace(/\(.*\)/, "()")),
            ["Warn Redis cache unavailable, requests go to hosts and models"]
          )
          yield* Effect.promise(() => own.start())
          yield* works(4)
          assert.strictEqual(lines[1], "Info Redis cache available")

          own.freeze()
          for (const _ of [1, 2, 3]) assert.deepStrictEqual(yield* timed(cache.get(number, ["a"])), Option.none())
          own.thaw()
          assert.lengthOf(lines, 3)
          yield* works(5)

          yield* Effect.promise(() => own.kill())
          for (const _ of [1, 2, 3]) assert.deepStrictEqual(yield* timed(cache.get(number, ["a"])), Option.none())
          yield* Effect.promise(() => own.start())
          yield* works(6)
          assert.deepStrictEqual(
            lines.map((line) => line.split(" ")[0]),
            ["Warn", "Info", "Warn", "Info", "Warn", "Info"]
          )
        }).pipe(
          Effect.provide(
            layerRedis({ url: Redacted.make(own.url), ttlMillis: 60_000, timeoutMillis: responseMillis, retryAfter })
          ),
          Effect.provide(layer)
        )
      }).pipe(Effect.scoped),
    60_000
  )

  it.live("one that hangs is left alone: the next calls do not wait at all", () =>
    Effect.gen(function* () {
      const own = yield* Effect.promise(() => RedisServer.start())
      yield* Effect.addFinalizer(() => Effect.promise(() => own[Symbol.asyncDispose]()))
      const built = yield* Layer.build(layerRedis({ url: Redacted.make(own.url), ttlMillis: 60_000 }))
      const { get } = Context.get(built, Cache)
      own.freeze()
      const from = Date.now()
      for (let at = 0; at < 50; at++) yield* get(number, [String(at)])
      own.thaw()
      assert.isBelow(Date.now() - from, prompt)
    }).pipe(Effect.scoped, Effect.provide(Logger.layer([])))
  )

  it.live("credentials of its address are in no log, and an address that is none keeps nothing", () =>
    Effect.gen(function* () {
      const port = yield* Effect.promise(() => freePort())
      for (const url of [`redis://user:hidden@127.0.0.1:${port}`, "hidden", "redis://%zz:hidden@h"]) {
        const { lines, layer } = listening()
        const found = yield* Effect.flatMap(Cache, (cache) =>
          remembering(cache, number, ["a"], Effect.succeed(1))
        ).pipe(Effect.provide(layerRedis({ url: Redacted.make(url), ttlMillis: 1000 })), Effect.provide(layer))
        assert.strictEqual(found, 1)
        assert.lengthOf(lines, 1)
        assert.notInclude(lines.join("\n"), "hidden")
      }
    })
  )
})
