/** A watched bucket shows the changes of others, and requests nothing again that has not changed. */
import { Effect } from "effect"
import { afterAll, beforeAll, expect, it } from "vitest"
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

const connect = (name: string) =>
  NatsConnection.layer({ settings: toSettings({ SVC_NATS_URL: server.url, SVC_NATS_PREFIX: "watched" }), name })

it("reads values that another connection changed, and each value once", () =>
  Effect.runPromise(
    Effect.gen(function* () {
      const bucket = yield* makeBucket(streams.shards)
      const reads: Array<string> = []
      const counted: NatsBucket = {
        ...bucket,
        last: (key) => Effect.suspend(() => (reads.push(key), bucket.last(key)))
      }
      const read = yield* watchValues(counted, streams.shards, "a.*")
      const values = Effect.map(read, (found) => Object.fromEntries(found.map(({ key, value }) => [key, value])))
      yield* Effect.gen(function* () {
        const other = yield* makeBucket(streams.shards)
        expect(yield* values).toEqual({})
        const revision = yield* other.put("a.one", "1")
        yield* other.put("a.two", "2")
        yield* other.put("b.three", "3")
        expect(yield* values).toEqual({ "a.one": "1", "a.two": "2" })
        expect(reads.splice(0)).toEqual(["a.one", "a.two"])
        // The messages about these writes may arrive during the read, which then reads their values once more.
        do {
          reads.length = 0
          yield* values
        } while (reads.length > 0)
        // The same value again, which extends a lease.
        yield* other.put("a.two", "2")
        expect(yield* values).toEqual({ "a.one": "1", "a.two": "2" })
        expect(reads).toEqual([])
        // Writes that the server refuses change nothing.
        yield* Effect.flip(other.update("a.one", "refused", revision + 10))
        yield* Effect.flip(other.delete("a.two", revision))
        expect(yield* values).toEqual({ "a.one": "1", "a.two": "2" })
        reads.length = 0
        yield* other.update("a.one", "changed", revision)
        yield* other.delete("a.two")
        expect(yield* values).toEqual({ "a.one": "changed" })
        expect(reads).toEqual(["a.one", "a.two"])
        // A deleted key stays in the bucket. The message about it may arrive after it was read.
        yield* values
        reads.length = 0
        expect(yield* values).toEqual({ "a.one": "changed" })
        expect(reads).toEqual([])
      }).pipe(Effect.provide(connect("other"), { local: true }))
    }).pipe(Effect.scoped, Effect.provide(connect("reader")))
  ))
