import { Effect } from "effect"
import { describe, expect, it } from "vitest"
import { parseValueCursor, toPage } from "../../../src/admin/handlers/Paging.ts"

const records = (count: number) => Array.from({ length: count }, (_, at) => ({ id: `r${at + 1}`, cost: at }))

describe("a page", () => {
  it.each([
    [0, 0, null],
    [1, 1, null],
    [2, 2, null],
    // A record more than the page is selected to learn whether there is another page.
    [3, 2, "r2"]
  ])("of at most two records from %i selected ones has %i, and continues after %s", (selected, shown, next) => {
    const { items, next_cursor } = toPage(records(selected), { limit: 2 }, ({ id }) => id)
    expect(items).toEqual(records(shown).map(({ id }) => id))
    expect(next_cursor).toBe(next)
  })

  it("of a list by a value continues after that value and id", async () => {
    const { next_cursor } = toPage(
      records(3),
      { limit: 2 },
      ({ id }) => id,
      ({ cost }) => cost
    )
    expect(next_cursor).toBe("1~r2")
    expect(await Effect.runPromise(parseValueCursor(next_cursor ?? ""))).toEqual({ value: "1", id: "r2" })
  })
})
