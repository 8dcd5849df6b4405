/** A watched bucket shows the changes of others, and requests nothing again that has not changed. */
import { isDeepStrictEqual } from "node:util"
import { Effect, Fiber } from "effect"
import { afterAll, afterEach, beforeAll, expect, it, vi } from "vitest"
import { makeBucket } from "../../nats/NatsBucket.ts"
import type { NatsBucket } from "../../nats/NatsBucket.ts"
import { NatsConnection } from "../../nats/NatsConnection.ts"
import { streams } from "../../nats/NatsStreams.ts"
import { watchValues } from "../../nats/NatsRunnerStorage.ts"
import { NatsServer } from "../harness/Nats.ts"
import { toSettings } from "./Cluster.ts"

let server: NatsServer
beforeAll(async () => {
  server = await NatsServer.start()
})
afterAll(() => server[Symbol.asyncDispose]())
afterEach(() => void vi.restoreAllMocks())

const connect = (name: string) =>
  NatsConnection.layer({ settings: toSettings({ SVC_NATS_URL: server.url, SVC_NATS_PREFIX: "watched" }), name })

/** Watches the keys `<name>.*`, and counts the reads of values and of the list of keys. */
const watch = Effect.fnUntraced(function* (name: string, writtenWithin?: number) {
  const bucket = yield* makeBucket(streams.shards)
  const reads: Array<string> = []
  const counted: NatsBucket = {
    ...bucket,
    last: (key) => Effect.suspend(() => (reads.push(key), bucket.last(key))),
    subjects: (filter) => Effect.suspend(() => (reads.push("list"), bucket.subjects(filter)))
  }
  const { changed, read } = yield* watchValues(counted, streams.shards, `${name}.*`, writtenWithin)
  const values = Effect.map(read, (found) => Object.fromEntries(found.map(({ key, value }) => [key, value])))
  /** Waits until the messages about changes have arrived. */
  const shows = (expected: Readonly<Record<string, string>>) =>
    Effect.repeat(values, { until: (found) => isDeepStrictEqual(found, expected) }).pipe(Effect.timeout("5 seconds"))
  /** Reads until a read requests nothing: messages that arrive during a read cause one more. */
  const rest = Effect.gen(function* () {
    do {
      reads.length = 0
      yield* values
    } while (reads.length > 0)
  })
  return { changed, reads, rest, shows, values }
})

const readClock = performance.now.bind(performance)
/** Sets the clock of this process ahead. */
const setAhead = (millis: number): void => {
  vi.spyOn(performance, "now").mockImplementation(() => readClock() + millis)
}

it("reads values that another connection changed, and each value once", () =>
  Effect.runPromise(
    Effect.gen(function* () {
      const { changed, reads, rest, shows, values } = yield* watch("a")
      yield* Effect.gen(function* () {
        const other = yield* makeBucket(streams.shards)
        expect(yield* values).toEqual({})
        const revision = yield* other.put("a.one", "1")
        yield* other.put("a.two", "2")
        yield* other.put("b.three", "3")
        yield* shows({ "a.one": "1", "a.two": "2" })
        expect(reads).not.toContain("b.three")
        yield* rest
        // The same value again, which extends a lease.
        yield* other.put("a.two", "2")
        expect(yield* values).toEqual({ "a.one": "1", "a.two": "2" })
        expect(reads).toEqual([])
        // Writes that the server refuses change nothing.
        yield* Effect.flip(other.update("a.one", "refused", revision + 10))
        yield* Effect.flip(other.delete("a.two", revision))
        yield* rest
        expect(yield* values).toEqual({ "a.one": "1", "a.two": "2" })
        const change = yield* Effect.forkChild(changed, { startImmediately: true })
        yield* other.update("a.one", "changed", revision)
        yield* Effect.timeout(Fiber.join(change), "5 seconds")
        yield* other.delete("a.two")
        yield* shows({ "a.one": "changed" })
        // A deleted key stays in the bucket. The message about it may arrive after it was read.
        yield* rest
        expect(yield* values).toEqual({ "a.one": "changed" })
        expect(reads).toEqual([])
      }).pipe(Effect.provide(connect("other"), { local: true }))
    }).pipe(Effect.scoped, Effect.provide(connect("reader")))
  ))

it("reads the keys again after thirty seconds, and each time while a key is not written as often as it has to be", () =>
  Effect.runPromise(
    Effect.gen(function* () {
      const written = yield* watch("c", 3500)
      const lasting = yield* watch("d")
      yield* Effect.gen(function* () {
        const other = yield* makeBucket(streams.shards)
        yield* other.put("c.one", "1")
        yield* other.put("d.one", "1")
        yield* written.shows({ "c.one": "1" })
        yield* lasting.shows({ "d.one": "1" })
        yield* written.rest
        yield* lasting.rest
        setAhead(3600)
        for (let read = 0; read < 3; read++) for (const { values } of [written, lasting]) yield* values
        expect([written.reads, lasting.reads]).toEqual([["list", "list", "list"], []])
        yield* other.put("c.one", "1")
        yield* written.rest
        setAhead(33_500)
        yield* lasting.values
        yield* lasting.values
        expect(lasting.reads).toEqual(["list"])
      }).pipe(Effect.provide(connect("other"), { local: true }))
    }).pipe(Effect.scoped, Effect.provide(connect("reader")))
  ))
