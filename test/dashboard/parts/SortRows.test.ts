/** Rows by a column. */
import { expect, it } from "vitest"
import { sortRows } from "../../../src/dashboard/parts/SortRows.ts"

const rows = [
  { name: "b", cost: 2 },
  { name: "a", cost: null },
  { name: "c", cost: 10 }
]
const values = { name: (row: (typeof rows)[number]) => row.name, cost: (row: (typeof rows)[number]) => row.cost }

it.each([
  [undefined, "bac"],
  ["name", "abc"],
  ["-name", "cba"],
  ["cost", "bca"],
  ["-cost", "cba"],
  ["unknown", "bac"],
  ["toString", "bac"]
])("sorted by %s", (sort, order) => {
  expect(
    sortRows(rows, sort, values)
      .map(({ name }) => name)
      .join("")
  ).toBe(order)
})
