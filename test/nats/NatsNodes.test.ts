/** The list of live nodes on a real server. NatsTickets.test.ts tests which processes count as connected. */
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { describe, expect, it } from "vitest"
import { makeBucket } from "../../nats/NatsBucket.ts"
import { NatsConnection } from "../../nats/NatsConnection.ts"
import { NatsNodes, listNodes } from "../../nats/NatsNodes.ts"
import { streams } from "../../nats/NatsStreams.ts"
import { waitUntil } from "../harness/Wait.ts"
import { newPrefix, startBus, withBus } from "./Bus.ts"

const { run, server } = startBus()

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
          server().freeze()
          return publish(...args).finally(() => server().thaw())
        }
        const list = Effect.flatMap(NatsNodes, (nodes) => nodes.list)
        expect(yield* Effect.provide(list, NatsNodes.layer(self("a")))).toEqual([self("a")])
      })
    ))

  it("live nodes are listed with their properties; nodes that left are not", () => {
    const prefix = newPrefix()
    return run(
      Effect.gen(function* () {
        const { list, update, updateLater } = yield* NatsNodes
        const namesWhile = withBus(
          server(),
          prefix,
          Effect.provide(
            Effect.flatMap(NatsNodes, (nodes) => nodes.list),
            NatsNodes.layer(self("b"))
          )
        )
        expect(yield* namesWhile).toEqual([self("a"), self("b")])
        yield* update({ slots: 4, draining: true })
        expect(yield* list).toEqual([{ ...self("a"), more: { slots: 4, draining: true } }])
        yield* updateLater({ slots: 5 })
        expect(yield* list).toEqual([{ ...self("a"), more: { slots: 4, draining: true } }])
        yield* Effect.promise(() =>
          waitUntil(async () => JSON.stringify(await Effect.runPromise(list)).includes('"slots":5'), {
            describe: () => "the next record has the property"
          })
        )
      }).pipe(Effect.provide(NatsNodes.layer(self("a")))),
      prefix
    )
  })

  it("two processes with one name are two entries, by their start; records of another layout are skipped", () => {
    const prefix = newPrefix()
    const join = (startedAt: number) => NatsNodes.layer({ ...self("a"), startedAt })
    return run(
      Effect.gen(function* () {
        const bucket = yield* makeBucket(streams.nodes)
        yield* bucket.put("other.layout", JSON.stringify({ name: "b", rôles: [] }))
        yield* bucket.put("other.text", "not JSON")
        const listed = yield* listNodes
        expect(listed.map(({ name, startedAt }) => [name, startedAt])).toEqual([
          ["a", 1000],
          ["a", 2000]
        ])
      }).pipe(Effect.provide(join(2000)), Effect.provide(join(1000))),
      prefix
    )
  })

  it("a node writes its record every three seconds, also after a failure, and immediately after a reconnect", () =>
    run(
      Effect.gen(function* () {
        const connection = yield* NatsConnection
        const { jetstream } = connection
        let [writes, ended] = [0, 0]
        const publish = jetstream.publish.bind(jetstream)
        jetstream.publish = (...args) =>
          (++writes === 2 ? Promise.reject(new Error("no")) : publish(...args)).finally(() => ended++)
        /** The write before has ended, and the node waits for the next one. */
        const waiting = Effect.promise(async () => {
          await waitUntil(() => ended === writes, { describe: () => `${ended} of ${writes} writes have ended` })
          await new Promise((resume) => setImmediate(resume))
        })
        let reconnect = (): void => {}
        const reconnected = Effect.callback<void>((resume) => {
          reconnect = () => resume(Effect.void)
        })
        const written = (count: number) =>
          Effect.promise(() => waitUntil(() => writes === count, { describe: () => `${writes} of ${count} writes` }))
        yield* Effect.gen(function* () {
          expect(writes).toBe(1)
          yield* TestClock.adjust("1 millis")
          yield* written(2)
          for (const count of [3, 4]) {
            yield* waiting
            yield* TestClock.adjust("2990 millis")
            expect(writes).toBe(count - 1)
            yield* TestClock.adjust("11 millis")
            yield* written(count)
          }
          yield* waiting
          reconnect()
          yield* TestClock.adjust("1 millis")
          yield* written(5)
        }).pipe(
          Effect.provide(NatsNodes.layer(self("a"))),
          Effect.provideService(NatsConnection, { ...connection, reconnected }),
          Effect.provide(TestClock.layer())
        )
      })
    ))
})
