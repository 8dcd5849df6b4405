import { Clock, Effect, Layer, Logger } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { describe, expect, it } from "@effect/vitest"
import { adjust, layer as storeClock } from "../../../src/database/sql/StoreClock.ts"

describe("offset of the clock after a reading", () => {
  it.each<[what: string, current: number | undefined, reading: Parameters<typeof adjust>[1], expected: number]>([
    ["the first reading is used", undefined, { offset: 500, error: 400 }, 500],
    ["a reading within its error keeps the offset", 1000, { offset: 1300, error: 400 }, 1000],
    ["a reading within the tolerance keeps the offset", 1000, { offset: 1049, error: 0 }, 1000],
    ["a database that moved forward moves it", 1000, { offset: 3_601_000, error: 5 }, 3_601_000],
    ["a database that moved back moves it", 1000, { offset: -3_599_000, error: 5 }, -3_599_000]
  ])("%s", (_, current, reading, expected) => {
    expect(adjust(current, reading)).toBe(expected)
  })
})

describe("the clock of a node", () => {
  it.effect("is that of the database, is read again, and a difference to the clock of the machine is a warning", () => {
    const database = { millis: 3_600_000, readings: 0 }
    const query = () =>
      Effect.sync(() => {
        database.readings++
        return [{ millis: database.millis }]
      })
    const logged: Array<unknown> = []
    const logger = Logger.make(({ message }) => void logged.push(message))
    // The layer uses the client for one query only.
    // eslint-disable-next-line typescript/no-unsafe-type-assertion
    const client = Layer.succeed(SqlClient.SqlClient, query as never)
    const text = "clock of this machine differs from the clock of the database, which is used"
    const node = Effect.fnUntraced(function* (machine: Clock.Clock) {
      const pass = (seconds: number) => Effect.provideService(TestClock.adjust(seconds * 1000), Clock.Clock, machine)
      expect(Math.abs((yield* Clock.currentTimeMillis) - 3_600_000)).toBeLessThan(60_000)
      expect(logged).toEqual([[text, { seconds: expect.any(Number) }]])
      expect(Math.abs(Object(logged[0])[1].seconds - 3600)).toBeLessThan(60)
      database.millis = 10_000
      yield* pass(10)
      expect(database.readings).toBe(2)
      expect(Math.abs((yield* Clock.currentTimeMillis) - 10_000)).toBeLessThan(60_000)
      expect(logged).toHaveLength(2)
      yield* pass(20)
      expect(database.readings).toBe(4)
    })
    const layer = storeClock({ failed: () => Effect.void, connected: Effect.void }).pipe(Layer.provide(client))
    return Effect.flatMap(Clock.Clock, (machine) => Effect.provide(node(machine), layer)).pipe(
      Effect.provide(Logger.layer([logger]))
    )
  })
})
