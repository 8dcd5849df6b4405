/** Lists that are read again while events keep arriving. */
import { join } from "node:path"
import { afterAll, beforeAll, expect, it, vi } from "vitest"

interface Query {
  readonly queryHash: string
  readonly queryKey: ReadonlyArray<unknown>
  readonly state: { data: unknown; readonly fetchStatus: string }
  readonly setData: (data: unknown) => void
}
type RefreshPages = (query: Query) => Promise<void>

// The module is for browsers, whose types this program does not have.
const file = join(import.meta.dirname, "../../../src/dashboard/client/RefreshPages.ts")
let refreshPages: RefreshPages
beforeAll(async () => {
  vi.stubGlobal("document", { querySelector: () => null })
  vi.stubGlobal("sessionStorage", { getItem: () => null, setItem: () => {}, removeItem: () => {} })
  ;({ refreshPages } = (await import(file)) as { readonly refreshPages: RefreshPages })
})
afterAll(() => vi.unstubAllGlobals())

it("shows the row of the last event, however many events arrive during reads", async () => {
  const page = (newest: number) => ({ items: [{ id: String(newest) }], next_cursor: null })
  const state = { data: { pages: [page(0)], pageParams: [""] } as unknown, fetchStatus: "idle" }
  const query = {
    queryHash: "deliveries",
    queryKey: ["GET /events", {}],
    state,
    setData: (data: unknown) => void (state.data = data)
  }
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
  expect(state.data).toMatchObject({ pages: [page(rows)] })
})
