import { Effect, Fiber, Layer, Logger, Schedule, Stream } from "effect"
import { describe, expect, it } from "vitest"
import { makeBucket } from "../../nats/NatsBucket.ts"
import type { NatsBucket } from "../../nats/NatsBucket.ts"
import { NatsConnection } from "../../nats/NatsConnection.ts"
import { NatsEvents } from "../../nats/NatsEvents.ts"
import { newPrefix, startBus, withBus } from "./Bus.ts"

const { run, server } = startBus()

/** Retries until a restarted server accepts writes. */
const soon = { times: 200, schedule: Schedule.spaced("50 millis") }

const bucket = makeBucket({ kind: "bucket", name: "values", durable: true })

describe("bucket", () => {
  it("compare-and-set: one writer wins, the others get a conflict", () =>
    run(
      Effect.gen(function* () {
        const { update, get, delete: remove, last } = yield* bucket
        const made = yield* Effect.forEach([1, 2, 3, 4], (n) => Effect.result(update("k", `${n}`, 0)), {
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
        expect(yield* last("k")).toEqual({ key: "k", value: undefined, revision: next + 1 })
        // A deleted key has a revision of its own, so that two writers cannot both create it again.
        expect(yield* Effect.flip(update("k", "late", 0))).toMatchObject({ reason: "conflict" })
        expect(yield* update("k", "reborn", next + 1)).toBe(next + 2)
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
        yield* Effect.promise(() => server().kill())
        // The client's own limit is 5 s.
        const at = performance.now()
        expect(yield* Effect.flip(put("k", "x"))).toMatchObject({ reason: "unavailable" })
        expect(performance.now() - at).toBeLessThan(4500)
        yield* Effect.promise(() => server().start())
        yield* Effect.retry(put("k", "y"), soon)
      })
    ))
})

describe("events", () => {
  it("reach those who listen, of their installation and topic", () => {
    const prefix = newPrefix()
    const listenOn = (of: string) =>
      withBus(
        server(),
        of,
        Effect.gen(function* () {
          const { stream, publish } = yield* NatsEvents
          const received = yield* Effect.forkChild(Stream.runCollect(Stream.take(stream("runs/1"), 2)), {
            startImmediately: true
          })
          const all = yield* Effect.forkChild(
            Effect.forever(Effect.andThen(publish("runs/1", { from: of }), Effect.sleep(5)))
          )
          const found = yield* Fiber.join(received)
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
