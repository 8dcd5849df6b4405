/** Lists that change while they are shown: every row once, in order, none missing between the fresh page and the others. */
import { describe, expect, it } from "vitest"
import { maxFirstPage, mergeFirstPage, pagesInView } from "../../../src/dashboard/client/MergePages.ts"

const page = (ids: ReadonlyArray<number>, next: string | null, extra: object = {}) => ({
  items: ids.map((id) => ({ id, ...extra })),
  next_cursor: next
})
const ids = (merged: { readonly items: ReadonlyArray<unknown> } | undefined) =>
  merged?.items.map((item) => Object(item).id)

describe("a fresh first page", () => {
  it("puts new rows before the shown ones and replaces those that changed", () => {
    const merged = mergeFirstPage(page([5, 4, 3], "3"), page([7, 6, 5], "5", { status: "done" }))
    expect(ids(merged)).toEqual([7, 6, 5, 4, 3])
    expect(merged?.items[2]).toEqual({ id: 5, status: "done" })
    expect(merged?.next_cursor).toBe("3")
  })

  it("removes rows that are gone from its part", () => {
    expect(ids(mergeFirstPage(page([5, 4, 3, 2], "2"), page([6, 5, 3], "3")))).toEqual([6, 5, 3, 2])
  })

  it("continues with its own cursor if nothing follows", () => {
    expect(mergeFirstPage(page([3, 2], "2"), page([3, 2, 1], "1"))?.next_cursor).toBe("1")
  })

  it("that ends the list is the list", () => {
    expect(ids(mergeFirstPage(page([3, 2], "2"), page([1], null)))).toEqual([1])
  })

  it("without a row in common, or with too many, cannot be merged", () => {
    expect(mergeFirstPage(page([3, 2], "2"), page([9, 8], "8"))).toBeUndefined()
    const long = Array.from({ length: maxFirstPage }, (_, index) => maxFirstPage - index)
    expect(mergeFirstPage(page(long, "1"), page([2000, maxFirstPage], "x"))).toBeUndefined()
  })
})

it("the pages in view are those with a visible row, without the first", () => {
  const pages = [page([9, 8], "8"), page([7, 6], "6"), page([5, 4], "4")]
  expect(
    [
      [0, 1],
      [1, 2],
      [3, 4],
      [4, 9]
    ].map(([first = 0, last = 0]) => pagesInView(pages, { first, last }))
  ).toEqual([[], [1], [1, 2], [2]])
})
