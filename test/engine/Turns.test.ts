/** Who gets how much of a turn of the event loop, by a clock that only the work itself moves. */
import { Effect, Fiber } from "effect"
import { afterEach, beforeEach, expect, it, vi } from "vitest"
import { runInTurns } from "../../src/engine/Turns.ts"

let millis = 0
beforeEach(() => {
  vi.spyOn(performance, "now").mockImplementation(() => millis)
})
afterEach(() => vi.restoreAllMocks())

/** Steps of `each` milliseconds; says what it did. */
const working = (log: Array<string>, name: string, steps: number, each: number) =>
  (function* () {
    for (let step = 0; step < steps; step++) {
      millis += each
      log.push(name)
      yield
    }
    return name
  })()

/** Calls back at every turn of the event loop until it is told to end. */
const everyTurn = (tick: () => void) => {
  let next = setImmediate(function again() {
    tick()
    next = setImmediate(again)
  })
  return () => clearImmediate(next)
}

const longest = (log: ReadonlyArray<string>): number =>
  Math.max(
    ...log
      .join("")
      .split("|")
      .map((turn) => turn.length)
  )

it("all work together gets a few milliseconds of each turn, and one after the other its turns", async () => {
  const log: Array<string> = []
  const end = everyTurn(() => log.push("|"))
  const names = await Effect.runPromise(
    Effect.all(
      ["a", "b", "c"].map((name) => runInTurns(working(log, name, 200, 1))),
      { concurrency: 3 }
    )
  )
  end()
  expect(names).toEqual(["a", "b", "c"])
  const turns = log
    .join("")
    .split("|")
    .filter((turn) => turn !== "")
  expect(Math.max(...turns.map((turn) => turn.length))).toBe(5)
  const order = turns.slice(3, 90).map((turn) => turn[0])
  expect(new Set(order.slice(0, 3)).size).toBe(3)
  expect(order.every((name, at) => name === order[at % 3])).toBe(true)
})

it("short work is done at once, in the time that the turn has left", async () => {
  const log: Array<string> = []
  const end = everyTurn(() => log.push("|"))
  await Effect.runPromise(
    Effect.gen(function* () {
      for (let time = 0; time < 40; time++) yield* runInTurns(working(log, "x", 1, 0.5))
    })
  )
  end()
  expect(longest(log)).toBe(10)
})

it("a step is as long as it is, and nothing follows it in its turn", async () => {
  const log: Array<string> = []
  const end = everyTurn(() => log.push("|"))
  await Effect.runPromise(runInTurns(working(log, "x", 4, 30)))
  end()
  expect(longest(log)).toBe(1)
  expect(log.filter((one) => one === "x")).toHaveLength(4)
})

it("what goes wrong is a defect of who asked, and of nobody else", async () => {
  const log: Array<string> = []
  const failing = function* (): Generator<void, never, void> {
    millis += 9
    yield
    throw new Error("broken")
  }
  const [failed, other] = await Effect.runPromise(
    Effect.all([Effect.exit(runInTurns(failing())), runInTurns(working(log, "b", 20, 1))], { concurrency: 2 })
  )
  expect(String(failed)).toContain("broken")
  expect(other).toBe("b")
})

it("what nobody waits for any more is not gone on with", async () => {
  const log: Array<string> = []
  await Effect.runPromise(
    Effect.gen(function* () {
      const fiber = yield* Effect.forkChild(runInTurns(working(log, "x", 1_000_000, 1)))
      yield* Effect.yieldNow
      yield* Fiber.interrupt(fiber)
      const done = log.length
      yield* runInTurns(working([], "y", 20, 1))
      expect(log.length).toBe(done)
      expect(done).toBeGreaterThan(0)
    })
  )
})
