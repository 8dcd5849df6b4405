import { Effect, Fiber } from "effect"
import { describe, expect, it } from "vitest"
import { NatsConnection } from "../../nats/NatsConnection.ts"
import { makeWorkQueue } from "../../nats/NatsWorkQueue.ts"
import { newPrefix, startBus, withBus } from "./Bus.ts"

const { run, server } = startBus()

/** A queue whose messages are not redelivered during a test. */
const queue = makeWorkQueue({ name: "work", doneWithin: "10 minutes" })
/** A queue whose messages are redelivered soon. */
const impatient = makeWorkQueue({ name: "soon", doneWithin: "1 second" })

describe("work queue", () => {
  it("a key has one message, until it is done", () =>
    run(
      Effect.gen(function* () {
        const { offer, take, size } = yield* queue
        expect(yield* offer("a", "1")).toBe(true)
        expect(yield* offer("a", "2")).toBe(false)
        const keyOfAnyKind = "owner/repo #7 * > .é"
        expect(yield* offer(keyOfAnyKind, "3")).toBe(true)
        expect(yield* size).toBe(2)
        const first = yield* take
        expect([first.key, first.payload]).toEqual(["a", "1"])
        expect(yield* offer("a", "4")).toBe(false)
        yield* first.done
        expect(yield* offer("a", "5")).toBe(true)
        const others = [yield* take, yield* take]
        expect(others.map(({ key, payload }) => [key, payload])).toEqual([
          [keyOfAnyKind, "3"],
          ["a", "5"]
        ])
      })
    ))

  it("unfinished messages are redelivered, requeued ones immediately", () =>
    run(
      Effect.gen(function* () {
        const patient = yield* queue
        yield* patient.offer("a", "1")
        yield* (yield* patient.take).again
        expect((yield* Effect.timeout(patient.take, "30 seconds")).payload).toBe("1")

        const { offer, take } = yield* impatient
        yield* offer("b", "2")
        const at = performance.now()
        yield* take
        const again = yield* take
        expect(performance.now() - at).toBeGreaterThan(900)
        expect(again.payload).toBe("2")
        yield* again.done
      })
    ))

  it("nothing is fetched ahead: who is free gets it", () => {
    const prefix = newPrefix()
    return run(
      Effect.gen(function* () {
        const [slow, quick] = [
          yield* queue,
          yield* Effect.provideContext(queue, yield* Effect.context<NatsConnection>())
        ]
        for (const key of ["1", "2", "3"]) yield* slow.offer(key, key)
        const taken = yield* slow.take
        const rest = [yield* quick.take, yield* quick.take]
        expect([taken, ...rest].map(({ key }) => key)).toEqual(["1", "2", "3"])
      }),
      prefix
    )
  })

  it("is created even if the server responds slowly", () =>
    run(
      Effect.gen(function* () {
        const { consumers } = (yield* NatsConnection).manager
        const add = consumers.add.bind(consumers)
        let calls = 0
        consumers.add = async (...args) => {
          if (calls++ > 0) return add(...args)
          server().freeze()
          return add(...args).finally(() => server().thaw())
        }
        const { offer, take } = yield* queue
        yield* offer("a", "1")
        expect([(yield* take).payload, calls]).toEqual(["1", 2])
      })
    ))

  it("a full queue reports it", () =>
    run(
      Effect.gen(function* () {
        const { offer } = yield* makeWorkQueue({ name: "small", maxMessages: 2 })
        yield* offer("a", "1")
        yield* offer("b", "2")
        expect(yield* Effect.flip(offer("c", "3"))).toMatchObject({
          reason: "refused",
          message: expect.stringMatching("full")
        })
      })
    ))

  it("who stops waiting takes nothing with it", () =>
    run(
      Effect.gen(function* () {
        const { offer, take } = yield* impatient
        for (let round = 0; round < 20; round++) {
          const waiting = yield* Effect.forkChild(take, { startImmediately: true })
          const offered = yield* Effect.forkChild(offer(`k${round}`, ""), { startImmediately: true })
          yield* Fiber.interrupt(waiting)
          yield* Fiber.join(offered)
        }
        const keys = new Set<string>()
        while (keys.size < 20) {
          const work = yield* Effect.timeout(take, "30 seconds")
          yield* work.done
          keys.add(work.key)
        }
        expect(keys).toEqual(new Set(Array.from({ length: 20 }, (_, round) => `k${round}`)))
      })
    ))

  it("nothing is lost or done twice while takers are cut off and the server restarts", async () => {
    const prefix = newPrefix()
    /** Started messages, and those whose completion the server confirmed: its response may be lost with its restart. */
    const begun = new Set<string>()
    const done: Array<string> = []
    // Longer than a restart.
    const steady = makeWorkQueue({ name: "steady", doneWithin: "4 seconds" })
    const takeFor = (count: number) =>
      withBus(
        server(),
        prefix,
        Effect.gen(function* () {
          const { take } = yield* steady
          for (let taken = 0; taken < count; taken++) {
            const work = yield* take
            begun.add(work.key)
            yield* work.done
            done.push(work.key)
          }
          // Interrupted while it holds a message.
          yield* take
        })
      )
    const keys = Array.from({ length: 120 }, (_, index) => `key-${index}`)
    const takers = Effect.runFork(
      Effect.forEach([1, 2, 3], () => Effect.forever(Effect.ignore(takeFor(9))), { concurrency: "unbounded" })
    )
    await run(
      Effect.gen(function* () {
        const { offer, size } = yield* steady
        for (const [index, key] of keys.entries()) {
          if (index === 40) yield* Effect.promise(() => server().stop())
          if (index === 40) yield* Effect.promise(() => server().start())
          yield* Effect.retry(offer(key, ""), { times: 50 })
        }
        yield* Effect.repeat(Effect.delay(size, "20 millis"), { while: (left) => left > 0 })
      }),
      prefix
    )
    await Effect.runPromise(Fiber.interrupt(takers))
    expect([...begun].toSorted()).toEqual(keys.toSorted())
    expect(done.toSorted()).toEqual([...new Set(done)].toSorted())
  })
})
