/** The log on a real server: appends by compare-and-set, reads behind gaps, and a server that is disconnected or lost it. */
import { Effect } from "effect"
import { describe, expect, it } from "vitest"
import { NatsConnection } from "../../nats/NatsConnection.ts"
import { makeLog } from "../../nats/NatsLog.ts"
import type { NatsLog } from "../../nats/NatsLog.ts"
import { startBus } from "./Bus.ts"

const { run } = startBus()

const bytes = (text: string) => new TextEncoder().encode(text)
const toTexts = (messages: ReadonlyArray<{ readonly sequence: number; readonly payload: Uint8Array }>) =>
  messages.map(({ payload, sequence }) => `${sequence} ${new TextDecoder().decode(payload)}`)

/** A log with the messages a, b, c, d and e. */
const filled = Effect.gen(function* () {
  const log = yield* makeLog("test")
  for (const [index, text] of ["a", "b", "c", "d", "e"].entries()) yield* log.append(bytes(text), index)
  return log
})

describe("log", () => {
  it("of writers that have seen the same last message one appends, the others get a conflict", () =>
    run(
      Effect.gen(function* () {
        const log = yield* makeLog("test")
        expect((yield* log.last).sequence).toBe(0)
        const results = yield* Effect.forEach(["a", "b", "c"], (text) => Effect.result(log.append(bytes(text), 0)), {
          concurrency: "unbounded"
        })
        const outcomes = results.map((result) => (result._tag === "Success" ? result.success : result.failure.reason))
        expect(outcomes.toSorted()).toEqual([1, "conflict", "conflict"])
        expect(yield* log.append(bytes("d"), 1)).toBe(2)
        expect((yield* log.last).sequence).toBe(2)
      })
    ))

  it("reads without missing messages, and the next one if all are missing", () =>
    run(
      Effect.gen(function* () {
        const log = yield* filled
        const { manager, prefix } = yield* NatsConnection
        yield* Effect.promise(() => manager.streams.deleteMessage(`${prefix}_log_test`, 3))
        expect(toTexts(yield* log.read(2, 3))).toEqual(["2 b", "4 d"])
        expect(toTexts(yield* log.read(3, 1))).toEqual(["4 d"])
        expect(toTexts(yield* log.read(6, 2))).toEqual([])
        yield* log.removeBefore(5)
        expect(toTexts(yield* log.read(1, 3))).toEqual(["5 e"])
        expect((yield* log.last).sequence).toBe(5)
      })
    ))

  it("sends nothing while NATS is disconnected, also not later", () =>
    run(
      Effect.gen(function* () {
        const connection = yield* NatsConnection
        const status = Effect.map(connection.status, (now) => ({ ...now, connected: false }))
        const cut = yield* Effect.provideService(makeLog("test"), NatsConnection, { ...connection, status })
        for (const call of [cut.append(bytes("a"), 0), cut.last, cut.read(1, 1), cut.removeBefore(1)]) {
          expect(
            yield* Effect.flip<unknown, { readonly reason: string; readonly message: string }, never>(call)
          ).toMatchObject({
            reason: "unavailable",
            message: expect.stringContaining("is disconnected")
          })
        }
        expect((yield* (yield* makeLog("test")).last).sequence).toBe(0)
      })
    ))

  it.each<[call: string, use: (log: NatsLog) => Effect.Effect<unknown, unknown>, result: unknown]>([
    ["append", (log) => log.append(bytes("new"), 0), 1],
    ["append behind what was lost", (log) => Effect.flip(log.append(bytes("new"), 5)), { reason: "conflict" }],
    ["last", (log) => log.last, { sequence: 0 }],
    ["read", (log) => log.read(1, 2), []],
    ["removeBefore", (log) => log.removeBefore(3), undefined]
  ])("is created again, with another creation time, when the server lost it: %s", (_, use, result) =>
    run(
      Effect.gen(function* () {
        const log = yield* filled
        const { created } = yield* log.last
        const { manager, prefix } = yield* NatsConnection
        yield* Effect.promise(() => manager.streams.delete(`${prefix}_log_test`))
        const found = yield* use(log)
        if (typeof result === "object") expect(found).toMatchObject(result ?? {})
        else expect(found).toBe(result)
        expect((yield* log.last).created).not.toBe(created)
      })
    )
  )
})
