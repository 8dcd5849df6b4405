import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { limitWarning, WarningLimits } from "../../src/observability/LimitedWarnings.ts"

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
})
