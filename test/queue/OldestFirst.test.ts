import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import * as OldestFirst from "../../src/queue/OldestFirst.ts"

describe("OldestFirst", () => {
  it("answers as a sorted list of the current items does, while items come, change and go", () => {
    const step = fc.record({ id: fc.nat({ max: 40 }), at: fc.option(fc.nat({ max: 100 })), ask: fc.nat({ max: 100 }) })
    const details = fc.check(
      fc.property(fc.array(step, { maxLength: 3000, size: "max" }), (steps) => {
        const current = new Map<string, number>()
        const heap = OldestFirst.make(
          ({ id, admittedAt }) => current.get(id) === admittedAt,
          () => current.size
        )
        for (const { id, at, ask } of steps) {
          if (at === null) current.delete(String(id))
          else {
            current.set(String(id), at)
            heap.add({ id: String(id), admittedAt: at })
          }
          const ages = [...current.values()].toSorted((a, b) => a - b)
          assert.strictEqual(heap.oldest()?.admittedAt, ages[0])
          if (ask % 5 !== 0) continue
          const expected = [...current].filter(([, admittedAt]) => admittedAt < ask).map(([known]) => known)
          const found = heap.before(ask)
          assert.sameMembers(
            found.map((item) => item.id),
            expected
          )
          assert.deepStrictEqual(
            found.map((item) => item.admittedAt),
            found.map((item) => item.admittedAt).toSorted((a, b) => a - b)
          )
        }
      }),
      { numRuns: 50 }
    )
    assert.isFalse(details.failed, fc.defaultReportMessage(details) ?? "")
  })
})
