/** Lists that are read again while events keep arriving. */
import { join } from "node:path"
import { afterAll, beforeAll, expect, it, vi } from "vitest"

interface Query {
  readonly queryHash: string
  readonly queryKey: ReadonlyArray<unknown>
  readonly state: { data: unknown; readonly fetchStatus: string }
  readonly setData: (data: unknown) => void
}
interface Module {
  readonly refreshPages: (query: Query) => Promise<void>
  readonly watchView: (hash: string, range: { readonly first: number; readonly last: number }) => boolean
}

// The module is for browsers, whose types this program does not have.
const file = join(import.meta.dirname, "../../../src/dashboard/client/RefreshPages.ts")
let refreshPages: Module["refreshPages"]
let watchView: Module["watchView"]
beforeAll(async () => {
  vi.stubGlobal("document", { querySelector: () => null })
  vi.stubGlobal("sessionStorage", { getItem: () => null, setItem: () => {}, removeItem: () => {} })
  ;({ refreshPages, watchView } = (await import(file)) as Module)
})
afterAll(() => vi.unstubAllGlobals())

const queryOf = (queryHash: string, first: unknown): Query => {
  const state = { data: { pages: [first], pageParams: [""] } as unknown, fetchStatus: "idle" }
  return { queryHash, queryKey: ["GET /events", {}], state, setData: (data) => void (state.data = data) }
}

it("shows the row of the last event, however many events arrive during reads", async () => {
  const page = (newest: number) => ({ items: [{ id: String(newest) }], next_cursor: null })
  const query = queryOf("deliveries", page(0))
  const rows = 12
  let newest = 1
  vi.stubGlobal("fetch", () => {
    const response = Response.json(page(newest))
    // Another row arrives after the list was read, and its event before the response has.
    if (newest < rows) {
      newest++
      void refreshPages(query)
    }
    return Promise.resolve(response)
  })
  await refreshPages(query)
  expect(newest).toBe(rows)
  expect(query.state.data).toMatchObject({ pages: [page(rows)] })
})

it("counts the rows above a list that was scrolled, also while others arrive between two reads", async () => {
  let newest = 300
  /** The rows after a cursor, newest first. */
  const page = (cursor: string | null, limit: number) => {
    const from = cursor === null ? newest : Number(cursor) - 1
    const ids = Array.from({ length: Math.min(limit, from) }, (_, at) => from - at)
    return { items: ids.map((id) => ({ id })), next_cursor: ids.at(-1) === 1 ? null : String(ids.at(-1)) }
  }
  const first = page(null, 100)
  const query = queryOf("scrolled", first)
  watchView("scrolled", { first: 60, last: 80 })
  let arriving = 1
  vi.stubGlobal("fetch", (url: string) => {
    const { searchParams } = new URL(url, "http://aicr.test")
    const response = Response.json(page(searchParams.get("cursor"), Number(searchParams.get("limit"))))
    newest += arriving
    return Promise.resolve(response)
  })
  newest += 3
  await refreshPages(query)
  expect(query.state.data).toEqual({ pages: [{ ...first, newer: 3 }], pageParams: [""] })
  arriving = 0
  const above = newest - 300
  await refreshPages(query)
  expect(query.state.data).toEqual({ pages: [{ ...first, newer: above }], pageParams: ["301"] })
})
