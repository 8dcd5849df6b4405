import { Effect, Fiber, Layer, Logger, Schedule, Stream } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { makeBucket } from "../../nats/NatsBucket.ts"
import type { BucketChange, NatsBucket } from "../../nats/NatsBucket.ts"
import { NatsConnection } from "../../nats/NatsConnection.ts"
import { NatsEvents } from "../../nats/NatsEvents.ts"
import { NatsNodes } from "../../nats/NatsNodes.ts"
import { ensure, streamName, streams } from "../../nats/NatsStreams.ts"
import { NatsServer } from "../harness/Nats.ts"
import { newPrefix, withBus } from "./Bus.ts"

let server: NatsServer
beforeAll(async () => {
  server = await NatsServer.start()
})
afterAll(() => server[Symbol.asyncDispose]())

const run = <A, E>(effect: Effect.Effect<A, E, NatsConnection>, prefix = newPrefix()) =>
  Effect.runPromise(withBus(server, prefix, effect))

/** Retries until a restarted server accepts writes. */
const soon = { times: 200, schedule: Schedule.spaced("50 millis") }

const bucket = makeBucket({ kind: "bucket", name: "values", durable: true })

describe("bucket", () => {
  it("compare-and-set: one writer wins, the others get a conflict", () =>
    run(
      Effect.gen(function* () {
        const { create, update, get, delete: remove, last } = yield* bucket
        const made = yield* Effect.forEach([1, 2, 3, 4], (n) => Effect.result(create("k", `${n}`)), {
          concurrency: "unbounded"
        })
        expect(made.filter(({ _tag }) => _tag === "Success").length).toBe(1)
        const revision = (yield* get("k"))?.revision ?? 0
        const next = yield* update("k", "new", revision)
        expect(next).toBeGreaterThan(revision)
        expect(yield* Effect.flip(update("k", "late", revision))).toMatchObject({ reason: "conflict" })
        expect(yield* Effect.flip(remove("k", revision))).toMatchObject({ reason: "conflict" })
        yield* remove("k", next)
        expect(yield* get("k")).toBeUndefined()
        expect((yield* last("k"))?.revision).toBe(next + 1)
        expect(yield* create("k", "reborn")).toBe(next + 2)
        expect(yield* get("nothing")).toBeUndefined()
      })
    ))

  it("keys and entries, all or those of a part", () =>
    run(
      Effect.gen(function* () {
        const { put, entries, keys, delete: remove } = yield* bucket
        yield* Effect.forEach(["a.1", "a.2", "b.1"], (key) => put(key, `of ${key}`), { discard: true })
        yield* remove("a.2")
        expect((yield* keys()).toSorted()).toEqual(["a.1", "b.1"])
        expect((yield* entries("a.*")).map(({ key, value }) => [key, value])).toEqual([["a.1", "of a.1"]])
        expect(yield* Effect.flip(put("no good", ""))).toMatchObject({
          message: expect.stringContaining("invalid bucket key")
        })
      })
    ))

  it.each<[call: string, use: (values: NatsBucket) => Effect.Effect<unknown, unknown>, result: unknown]>([
    ["get", ({ get }) => get("k"), undefined],
    ["last", ({ last }) => last("k"), undefined],
    ["put", ({ put }) => put("k", "new"), 1],
    ["create", ({ create }) => create("k", "new"), 1],
    ["update", ({ update }) => update("k", "new", 0), 1],
    ["delete", ({ delete: remove }) => remove("k"), undefined],
    ["entries", ({ entries }) => entries(), []]
  ])("a bucket that the server has lost is created again: %s", (_, use, result) => {
    const prefix = newPrefix()
    const warnings: Array<string> = []
    return run(
      Effect.gen(function* () {
        const values = yield* bucket
        yield* values.put("k", "lost")
        const { manager } = yield* NatsConnection
        yield* Effect.promise(() => manager.streams.delete(`KV_${prefix}_values`))
        // Calls that fail together create it once.
        const [first] = yield* Effect.all([use(values), values.get("other")], { concurrency: "unbounded" })
        expect(first).toEqual(result)
        expect(warnings).toEqual([expect.stringContaining("stream was missing on the NATS server, created again")])
      }).pipe(Effect.provide(Logger.layer([Logger.make(({ message }) => warnings.push(JSON.stringify(message)))]))),
      prefix
    )
  })

  it("an invalid value is refused immediately, and an unavailable server in time", () =>
    run(
      Effect.gen(function* () {
        const { put } = yield* bucket
        expect(yield* Effect.flip(put("k", "x".repeat(9_000_000)))).toMatchObject({ reason: "too_large" })
        yield* Effect.promise(() => server.kill())
        // The client's own limit is 5 s.
        const at = performance.now()
        expect(yield* Effect.flip(put("k", "x"))).toMatchObject({ reason: "unavailable" })
        expect(performance.now() - at).toBeLessThan(4500)
        yield* Effect.promise(() => server.start())
        yield* Effect.retry(put("k", "y"), soon)
      })
    ))

  it("a watch emits current values and changes, through a restart of the server", () =>
    run(
      Effect.gen(function* () {
        const { put, watch, delete: remove } = yield* bucket
        yield* put("a", "1")
        const seen: Array<BucketChange> = []
        const watching = yield* Effect.forkChild(
          Stream.runForEach(watch(), (change) => Effect.sync(() => void seen.push(change))),
          { startImmediately: true }
        )
        const until = (key: string, value: string | undefined) =>
          Effect.timeout(
            Effect.repeat(Effect.sleep(5), {
              until: () => {
                const last = seen.findLast((change) => change.key === key)
                return last !== undefined && last.value === value
              }
            }),
            "30 seconds"
          )
        yield* until("a", "1")
        yield* put("b", "2")
        yield* until("b", "2")
        yield* remove("a")
        yield* until("a", undefined)
        const { reconnected } = yield* NatsConnection
        const back = yield* Effect.forkChild(reconnected, { startImmediately: true })
        yield* Effect.promise(() => server.kill())
        yield* Effect.promise(() => server.start())
        yield* Fiber.join(back)
        yield* Effect.retry(put("b", "3"), soon)
        yield* until("b", "3")
        expect(seen.map(({ key, value }) => `${key} ${value}`)).toEqual(
          expect.arrayContaining(["a 1", "b 2", "a undefined", "b 3"])
        )
        yield* Fiber.interrupt(watching)
      })
    ))
})

describe("streams", () => {
  // Of two that make a stream at the same time the server refuses the second one for its name or for its subjects, or not at all.
  it("are made once by however many start together", async () => {
    const nodes = Array.from({ length: 12 })
    const plans = Object.values(streams)
    for (let installation = 0; installation < 60; installation++) {
      const prefix = newPrefix()
      await Promise.all(nodes.map(() => run(ensure(plans), prefix)))
      const made = Effect.flatMap(NatsConnection, ({ manager }) =>
        Effect.promise(() => Promise.all(plans.map((plan) => manager.streams.info(streamName(prefix, plan)))))
      )
      expect((await run(made, prefix)).map(({ config }) => config.num_replicas)).toEqual(plans.map(() => 1))
    }
  })

  it("are changed when the plan is", () => {
    const prefix = newPrefix()
    const plans = Object.values(streams)
    return run(
      Effect.gen(function* () {
        yield* ensure(plans)
        const { manager } = yield* NatsConnection
        const age = (plan: (typeof plans)[number]) =>
          Effect.map(
            Effect.promise(() => manager.streams.info(streamName(prefix, plan))),
            ({ config }) => config.max_age / 1_000_000
          )
        expect(yield* Effect.forEach(plans, age)).toEqual([9000, 0, 9000])
        yield* ensure([{ ...streams.leases, ttlMillis: 5000 }])
        expect(yield* age(streams.leases)).toBe(5000)
      }),
      prefix
    )
  })
})

describe("events", () => {
  it("reach those who listen, of their installation and topic", () => {
    const prefix = newPrefix()
    const listenOn = (of: string) =>
      withBus(
        server,
        of,
        Effect.gen(function* () {
          const { stream, publish } = yield* NatsEvents
          const heard = yield* Effect.forkChild(Stream.runCollect(Stream.take(stream("runs/1"), 2)), {
            startImmediately: true
          })
          const all = yield* Effect.forkChild(
            Effect.forever(Effect.andThen(publish("runs/1", { from: of }), Effect.sleep(5)))
          )
          const found = yield* Fiber.join(heard)
          yield* Fiber.interrupt(all)
          return found
        }).pipe(Effect.provide(Layer.fresh(NatsEvents.layer)))
      )
    return run(
      Effect.gen(function* () {
        const [one, other] = yield* Effect.all([listenOn(prefix), listenOn(newPrefix())], { concurrency: 2 })
        expect(one).toEqual([{ from: prefix }, { from: prefix }])
        expect(other).not.toEqual(one)
        const { publish } = yield* NatsEvents
        expect(yield* Effect.flip(publish("runs/1", "x".repeat(70_000)))).toMatchObject({
          message: expect.stringContaining("at most 65536")
        })
      }).pipe(Effect.provide(NatsEvents.layer)),
      prefix
    )
  })
})

describe("nodes", () => {
  const self = (name: string) => ({ name, roles: ["executor"], version: "1.2.3", startedAt: 1000, more: { slots: 8 } })

  it("a starting node is listed even if the server responds slowly", () =>
    run(
      Effect.gen(function* () {
        const { jetstream } = yield* NatsConnection
        const publish = jetstream.publish.bind(jetstream)
        let calls = 0
        jetstream.publish = async (...args) => {
          if (calls++ > 0) return publish(...args)
          server.freeze()
          return publish(...args).finally(() => server.thaw())
        }
        const list = Effect.flatMap(NatsNodes, (nodes) => nodes.list)
        expect(yield* Effect.provide(list, NatsNodes.layer(self("a")))).toEqual([self("a")])
      })
    ))

  it("live nodes are listed with their properties; nodes that left are not", () => {
    const prefix = newPrefix()
    return run(
      Effect.gen(function* () {
        const { list, update } = yield* NatsNodes
        const namesWhile = withBus(
          server,
          prefix,
          Effect.provide(
            Effect.flatMap(NatsNodes, (nodes) => nodes.list),
            NatsNodes.layer(self("b"))
          )
        )
        expect(yield* namesWhile).toEqual([self("a"), self("b")])
        yield* update({ slots: 4, draining: true })
        expect(yield* list).toEqual([{ ...self("a"), more: { slots: 4, draining: true } }])
      }).pipe(Effect.provide(NatsNodes.layer(self("a")))),
      prefix
    )
  })
})
