import { assert, describe, it } from "vitest"
import { MicroBatch } from "../../src/ingress/MicroBatch.ts"

const turn = () => new Promise<void>((next) => setImmediate(next))

describe("Gather", () => {
  it("flushes what arrived while iterations brought more, in order, and starts over", async () => {
    const flushed: Array<ReadonlyArray<number>> = []
    const gather = new MicroBatch<number>((items) => flushed.push(items))
    gather.add(1)
    gather.add(2)
    await turn()
    gather.add(3)
    assert.deepStrictEqual(flushed, [])
    for (let turns = 0; turns < 3; turns++) await turn()
    assert.deepStrictEqual(flushed, [[1, 2, 3]])
    gather.add(4)
    for (let turns = 0; turns < 3; turns++) await turn()
    assert.deepStrictEqual(flushed, [[1, 2, 3], [4]])
  })

  it("does not wait for ever for arrivals that do not end", async () => {
    const flushed: Array<ReadonlyArray<number>> = []
    const gather = new MicroBatch<number>((items) => flushed.push(items))
    for (let item = 0; item < 100; item++) {
      gather.add(item)
      await turn()
    }
    assert.isAbove(flushed.length, 5)
    assert.deepStrictEqual(
      flushed.flat(),
      Array.from({ length: flushed.flat().length }, (_, item) => item)
    )
  })

  it("flushes at most one batch of a store at a time", async () => {
    const flushed: Array<ReadonlyArray<number>> = []
    const gather = new MicroBatch<number>((items) => flushed.push(items))
    const items = Array.from({ length: 150 }, (_, item) => item)
    for (const item of items) gather.add(item)
    for (let turns = 0; turns < 3; turns++) await turn()
    assert.deepStrictEqual(
      flushed.map(({ length }) => length),
      [64, 64, 22]
    )
    assert.deepStrictEqual(flushed.flat(), items)
  })
})
