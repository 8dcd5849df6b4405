import * as fc from "fast-check"
import { expect, it } from "vitest"
import { DeliveryIndex } from "../../../src/store/events/IndexedDeliveries.ts"

type Step = { readonly add: string } | { readonly remove: string }

it("finds what was added and not removed, whatever the order", () => {
  const key = fc.integer({ min: 0, max: 300 }).map((n) => `gitea:${n}`)
  const step: fc.Arbitrary<Step> = fc.oneof(
    { weight: 3, arbitrary: fc.record({ add: key }) },
    { weight: 2, arbitrary: fc.record({ remove: key }) }
  )
  fc.assert(
    fc.property(fc.array(step, { maxLength: 4000, size: "max" }), (steps) => {
      const index = new DeliveryIndex()
      const model = new Map<string, Array<number>>()
      steps.forEach((each, n) => {
        const known = (name: string) => model.get(name) ?? []
        if ("add" in each) {
          index.add(each.add, n + 1)
          model.set(each.add, [...known(each.add), n + 1])
        } else {
          const [first, ...rest] = known(each.remove)
          if (first !== undefined) index.remove(each.remove, first)
          model.set(each.remove, rest)
        }
      })
      for (let n = 0; n <= 300; n++) {
        const name = `gitea:${n}`
        expect(index.find(name).toSorted((a, b) => a - b)).toEqual(model.get(name) ?? [])
      }
      expect(index.size).toBe([...model.values()].flat().length)
    }),
    { numRuns: 60 }
  )
})

it("distinguishes a hundred thousand keys, before and after half of them are removed", () => {
  const index = new DeliveryIndex()
  const name = (n: number) => `github:${n.toString(16).padStart(8, "0")}-72d3-4b2c-9f3e-000000000000`
  for (let n = 1; n <= 100_000; n++) index.add(name(n), n)
  for (let n = 1; n <= 100_000; n += 2) index.remove(name(n), n)
  const wrong = Array.from({ length: 200_000 }, (_, n) => n + 1).filter((n) => {
    const expected = n <= 100_000 && n % 2 === 0 ? [n] : []
    return String(index.find(name(n))) !== String(expected)
  })
  expect(wrong).toEqual([])
})
