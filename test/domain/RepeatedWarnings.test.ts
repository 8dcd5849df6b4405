import { assert, describe, it } from "vitest"
import { RepeatedWarnings } from "../../src/domain/RepeatedWarnings.ts"

describe("repeated warnings", () => {
  it("are logged once per key and minute, and the next one carries the count", () => {
    const warnings = new RepeatedWarnings()
    assert.strictEqual(warnings.admit("a", 0), 0)
    assert.strictEqual(warnings.admit("a", 59_999), undefined)
    assert.strictEqual(warnings.admit("b", 59_999), 1)
    assert.strictEqual(warnings.admit("a", 60_000), 0)
  })

  it("of many keys are limited together", () => {
    const warnings = new RepeatedWarnings()
    const logged = Array.from({ length: 10_000 }, (_, key) => warnings.admit(String(key), 0))
    assert.strictEqual(logged.filter((one) => one !== undefined).length, 20)
    assert.strictEqual(warnings.admit("later", 60_000), 9980)
  })

  it("continue after the clock is set back", () => {
    const warnings = new RepeatedWarnings()
    assert.strictEqual(warnings.admit("a", 1_000_000), 0)
    assert.strictEqual(warnings.admit("a", 0), 0)
  })
})
