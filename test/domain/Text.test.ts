import * as fc from "fast-check"
import { assert, it } from "vitest"
import { isStorable, showName, toStorable, truncate, withoutInvisible } from "../../src/domain/Text.ts"

/** Any sequence of UTF-16 code units. */
const anything = fc.array(fc.integer({ min: 0, max: 0xffff })).map((units) => String.fromCharCode(...units))

it("repaired text can be stored and read back unchanged, and valid text does not change", () => {
  fc.assert(
    fc.property(anything, (text) => {
      const repaired = toStorable(text)
      assert.isTrue(isStorable(repaired))
      assert.strictEqual(Buffer.from(repaired, "utf8").toString("utf8"), repaired)
      assert.strictEqual(repaired.length, text.length)
      if (isStorable(text)) assert.strictEqual(repaired, text)
    })
  )
})

it("a cut of good text is good text, as long as it may be", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }).map(toStorable), fc.nat(20), (text, max) => {
      const cut = truncate(text, max)
      assert.isTrue(cut.isWellFormed())
      assert.isTrue(text.startsWith(cut))
      assert.isAtMost(cut.length, max)
      assert.isAtLeast(cut.length, Math.min(text.length, max - 1))
    })
  )
})

it("a name with invisible characters is a JSON string of visible ones, which names the same file", () => {
  assert.strictEqual(showName("src/Größe 文 👩‍💻.ts"), "src/Größe 文 👩‍💻.ts")
  assert.strictEqual(showName("a\u200b.ts"), String.raw`"a\u200b.ts"`)
  assert.strictEqual(showName("a\u{e0041}\n\u202e.ts"), String.raw`"a\udb40\udc41\n\u202e.ts"`)
  assert.strictEqual(withoutInvisible("a\u200b\u{e0041}.ts"), "a\ufffd\ufffd.ts")
  fc.assert(
    fc.property(fc.string({ unit: "binary" }).map(toStorable), (name) => {
      const shown = showName(name)
      assert.notMatch(shown, /[\p{Cc}\p{Bidi_Control}\u200b\u2028\u2029\u2060-\u206f\u{e0000}-\u{e0fff}]/u)
      if (shown !== name) assert.strictEqual(JSON.parse(shown), name)
    })
  )
})
