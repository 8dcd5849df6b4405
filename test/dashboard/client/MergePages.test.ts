/** Lists that change while they are shown: every row once, in order, none missing between pages, and those in view where they are. */
import { describe, expect, it } from "vitest"
import { countBefore, pagesInView, replacePage, replaceTop } from "../../../src/dashboard/client/MergePages.ts"
import type { ShownPages } from "../../../src/dashboard/client/MergePages.ts"

const page = (ids: ReadonlyArray<number>, next: string | null) => ({
  items: ids.map((id) => ({ id })),
  next_cursor: next
})

const shown: ShownPages = {
  pages: [page([9, 8], "8"), page([7, 6], "6"), page([5, 4], "4"), page([3, 2], "2")],
  pageParams: ["", "8", "6", "4"]
}
const ids = ({ pages }: ShownPages) => pages.map(({ items }) => items.map((item) => Object(item).id))

describe("at the top", () => {
  it("a fresh first page replaces the shown one, and those that do not continue it", () => {
    const next = replaceTop(shown, page([10, 9], "9"))
    expect(next).toEqual({ pages: [page([10, 9], "9")], pageParams: [""] })
  })

  it("the second page stays if it continues the fresh one", () => {
    const next = replaceTop(shown, page([9, 8], "8"))
    expect(next).toEqual({ pages: [page([9, 8], "8"), page([7, 6], "6")], pageParams: ["", "8"] })
  })

  it("a fresh page that ends the list is the list", () => {
    expect(replaceTop({ pages: shown.pages.slice(0, 1), pageParams: [""] }, page([1], null)).pages).toEqual([
      page([1], null)
    ])
  })
})

describe("the number of rows before the shown ones", () => {
  it.each([
    ["no new row", [9, 8], 0],
    ["two new rows", [11, 10, 9], 2],
    ["a new row, and the first shown one is gone", [10, 8], 1],
    ["none in common", [20, 19], undefined]
  ])("%s", (_, fresh, count) => {
    expect(countBefore(page([9, 8], "8"), page(fresh, "x"))).toBe(count)
  })
})

describe("a page in view that is read again", () => {
  it("leaves the others if it ends where it did", () => {
    expect(replacePage(shown, 1, page([7, 6], "6"), 1)).toEqual(shown)
  })

  it("moves the start of the next page in view, and drops pages after those", () => {
    const moved = replacePage(shown, 1, page([7, 5], "5"), 2)
    expect(moved.pageParams).toEqual(["", "8", "5", "4"])
    const last = replacePage(moved, 2, page([4, 3], "3"), 2)
    expect(last.pageParams).toEqual(["", "8", "5"])
    expect(ids(last)).toEqual([
      [9, 8],
      [7, 5],
      [4, 3]
    ])
  })

  it("that ends the list drops what followed", () => {
    expect(ids(replacePage(shown, 1, page([7], null), 3))).toEqual([[9, 8], [7]])
  })
})

it("the pages in view are those with a visible row", () => {
  const pages = shown.pages.slice(0, 3)
  expect(
    [
      [0, 1],
      [1, 2],
      [3, 4],
      [4, 9]
    ].map(([first = 0, last = 0]) => pagesInView(pages, { first, last }))
  ).toEqual([
    { from: 0, to: 0 },
    { from: 0, to: 1 },
    { from: 1, to: 2 },
    { from: 2, to: 2 }
  ])
})
