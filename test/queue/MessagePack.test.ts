/** Values sent to the queue's scripts in Redis and returned by them are the same on both sides. */
import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { Redis } from "ioredis"
import { pack, unpack, unpackBytes, unpackFirst } from "../../src/queue/MessagePack.ts"
import type { Packable } from "../../src/queue/MessagePack.ts"
import { redisUrl } from "./Stores.ts"

const leaf = fc.oneof(
  fc.boolean(),
  fc.maxSafeInteger(),
  fc.integer({ min: -200, max: 300 }),
  fc.constantFrom(0, 127, 128, 2 ** 16, 2 ** 32, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER, 1_785_000_000_000),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.string({ unit: "grapheme" }),
  fc.constantFrom("", "x".repeat(40), "ü".repeat(25_000), "line\nline\0")
)
const value = fc.letrec<{ value: Packable; list: ReadonlyArray<Packable> }>((tie) => ({
  value: fc.oneof({ depthSize: "small" }, leaf, tie("list")),
  list: fc.array(tie("value"), { maxLength: 40 })
})).value

/** Compares by JSON, because -0 is a number like 0. */
const same = (a: unknown, b: unknown) => assert.strictEqual(JSON.stringify(a), JSON.stringify(b))

describe("MessagePack", () => {
  it("reads what it writes", () => {
    const once = fc.property(value, (one) =>
      assert.strictEqual(JSON.stringify(unpack(pack([one]))), JSON.stringify(one))
    )
    fc.assert(once)
  })

  it("reads texts as bytes", () => {
    const asText = (one: unknown): unknown =>
      Buffer.isBuffer(one) ? one.toString() : Array.isArray(one) ? one.map(asText) : one
    const once = fc.property(value, (one) => same(asText(unpackBytes(pack([one]))), one))
    fc.assert(once)
    const record = pack([["in a text", 200, 2 ** 40]])
    const bytes = Buffer.concat([Buffer.from([0x91, 0xa0 | record.length]), record])
    assert.deepStrictEqual(unpackBytes(bytes), [record])
    assert.throws(() => unpackBytes(bytes.subarray(0, -1)))
  })

  it("Redis reads what it writes, and it reads what Redis writes", async () => {
    const redis = new Redis(await redisUrl())
    const script = "return cmsgpack.pack(cmsgpack.unpack(ARGV[1]))"
    await fc.assert(
      fc.asyncProperty(value, async (one) => {
        const answer = await redis.callBuffer("EVAL", script, 0, pack([one]))
        assert.isTrue(Buffer.isBuffer(answer))
        if (Buffer.isBuffer(answer)) same(unpack(answer), one)
      })
    )
    redis.disconnect()
  })

  it("reads the first values of a list", () => {
    const some = fc.property(fc.array(value, { maxLength: 40 }), fc.nat(), (list, number) => {
      const count = number % (list.length + 1)
      same(unpackFirst(pack([list]), count), list.slice(0, count))
      assert.throws(() => unpackFirst(pack([list]), list.length + 1))
    })
    fc.assert(some)
    assert.throws(() => unpackFirst(pack(["no list"]), 0))
  })

  it("refuses what is cut off or unknown", () => {
    const whole = pack([["a", 1_785_000_000_000, "b".repeat(100)]])
    for (let length = 0; length < whole.length; length++) assert.throws(() => unpack(whole.subarray(0, length)))
    assert.throws(() => unpack(pack(["one", "two"])))
    assert.throws(() => unpack(Buffer.from([0xc1])))
  })
})
