import { expect, it } from "vitest"
import { mix } from "./MixedOrder.ts"

const count = (length: number) => Array.from({ length }, (_, at) => at)
/** Lengths of the runs of one kind, separate files first. */
const runs = (separate: number, shared: number): ReadonlyArray<number> => {
  const mixed = mix(
    count(separate).map(() => "|"),
    count(shared).map(() => ".")
  )
  expect(mixed).toHaveLength(separate + shared)
  return (
    mixed
      .join("")
      .match(/\|+|\.+/g)
      ?.map(({ length }) => length) ?? []
  )
}

it("files that share a process run in blocks between those with a process of their own", () => {
  expect(runs(9, 160)).toEqual([2, 64, 3, 64, 2, 32, 2])
  expect(runs(3, 0)).toEqual([3])
  expect(runs(0, 160)).toEqual([160])
  expect(runs(1, 4)).toEqual([1, 4])
})

it("the order of each kind is kept", () => {
  const mixed = mix(
    count(7).map((at) => -at - 1),
    count(200)
  )
  expect(mixed.filter((at) => at >= 0)).toEqual(count(200))
  expect(mixed.filter((at) => at < 0)).toEqual(count(7).map((at) => -at - 1))
})
