import { assert, describe, it } from "@effect/vitest"
import { Effect, Logger } from "effect"
import { TestClock } from "effect/testing"
import { limitWarning, logFailure, onFirst, WarningLimits } from "../../src/observability/LimitedWarnings.ts"

describe("a limited warning", () => {
  it.effect("runs once a minute for each name, with the number of those since the last", () => {
    const warned: Array<string> = []
    const warn = (name: string) =>
      limitWarning(name, (suppressed) => Effect.sync(() => void warned.push(`${name} ${suppressed}`)))
    return Effect.gen(function* () {
      for (const name of ["a", "a", "b", "a", "b"]) yield* warn(name)
      yield* TestClock.adjust("59 seconds")
      yield* warn("a")
      assert.deepStrictEqual(warned, ["a 0", "b 0"])
      yield* TestClock.adjust("1 second")
      yield* Effect.forEach(["a", "b"], warn)
      assert.deepStrictEqual(warned.slice(2), ["a 3", "b 1"])
    }).pipe(Effect.provideService(WarningLimits, new Map()))
  })

  it.effect("runs once a minute for each of the 20 first things that it is about", () => {
    const warned: Array<string> = []
    const warn = (key: string) =>
      limitWarning("many", (suppressed) => Effect.sync(() => void warned.push(`${key} ${suppressed}`)), key)
    return Effect.gen(function* () {
      const keys = Array.from({ length: 30 }, (_, at) => `thing-${at}`)
      yield* Effect.forEach([...keys, ...keys], warn)
      assert.deepStrictEqual(
        warned,
        keys.slice(0, 20).map((key) => `${key} 0`)
      )
      yield* TestClock.adjust("1 minute")
      yield* warn("thing-29")
      assert.strictEqual(warned.at(-1), "thing-29 40")
    }).pipe(Effect.provideService(WarningLimits, new Map()))
  })
})

describe("a failure after which its caller continues", () => {
  const failure = { message: "disconnected" }

  it.effect("is logged with its fields and level, once a minute for each thing that it is about", () => {
    const lines: Array<unknown> = []
    const logger = Logger.make(({ logLevel, message }) => lines.push([logLevel, message]))
    const log = (about: string) => logFailure("not stored", { part: about }, { about, level: "Error" })(failure)
    return Effect.gen(function* () {
      for (const about of ["a", "a", "b"]) yield* log(about)
      yield* logFailure("not read")(failure)
      assert.deepStrictEqual(lines, [
        ["Error", ["not stored", { part: "a", error: "disconnected", suppressed: 0 }]],
        ["Error", ["not stored", { part: "b", error: "disconnected", suppressed: 1 }]],
        ["Warn", ["not read", { error: "disconnected", suppressed: 0 }]]
      ])
    }).pipe(Effect.provide(Logger.layer([logger])), Effect.provideService(WarningLimits, new Map()))
  })

  it.effect("is handled once where the first one is enough", () => {
    let handled = 0
    const handle = onFirst(() => Effect.sync(() => void handled++))
    return Effect.map(Effect.forEach([failure, failure, failure], handle), () => assert.strictEqual(handled, 1))
  })
})
