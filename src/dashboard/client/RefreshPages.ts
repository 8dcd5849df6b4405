/**
 * Keeps lists current. At the top of a list, its first page is read again, and new rows come into view. Once the user has scrolled, the pages in view are
 * read again from where they begin, and rows that precede them are only counted: what a user reads never moves.
 */
import type { Query, QueryClient } from "@tanstack/react-query"
import { call } from "./Call.ts"
import type { Endpoint, Input } from "./Endpoints.ts"
import { countBefore, isItemPage, itemKey, pagesInView, replacePage, replaceTop } from "./MergePages.ts"
import type { ItemPage, ShownPages } from "./MergePages.ts"

/** Length of a page. */
export const pageSize = 100

interface Range {
  readonly first: number
  readonly last: number
}

/** Rows in view of each list that is shown, by the hash of its query. */
const views = new Map<string, Range>()
const top: Range = { first: 0, last: 0 }

/** Returns whether the user came back to the top of the list. */
export const watchView = (hash: string, range: Range): boolean => {
  const before = views.get(hash)
  views.set(hash, range)
  return range.first === 0 && before !== undefined && before.first > 0
}
export const forgetView = (hash: string): void => {
  views.delete(hash)
}

export const readPage = async (
  endpoint: Endpoint,
  input: Input<Endpoint>,
  cursor: unknown,
  { limit = pageSize, signal }: { readonly limit?: number; readonly signal?: AbortSignal } = {}
): Promise<ItemPage> => {
  const page: unknown = await call<Endpoint>(
    endpoint,
    {
      ...input,
      query: { ...input.query, limit, ...(cursor === "" ? undefined : { cursor: String(cursor) }) }
    } as Input<Endpoint>,
    signal === undefined ? {} : { signal }
  )
  if (isItemPage(page)) return page
  throw new Error(`${endpoint} returned no list`)
}

type Read = (cursor: string, limit?: number) => Promise<ItemPage>

export const isPages = (data: unknown): data is ShownPages =>
  typeof data === "object" && data !== null && "pages" in data && Array.isArray(data.pages)

/** Returns whether the first page of a list begins at a row, and not at the start of the list. */
export const isPinned = (data: unknown): boolean => isPages(data) && data.pageParams[0] !== ""

/** Pages among which the first shown row is searched. */
const maxSearched = 10

/**
 * Returns the shown pages with the number of rows before them. From the first of those, the first page begins after a cursor, which is read as that of a
 * page with as many rows.
 */
const countNewer = async (shown: ShownPages, fresh: ItemPage, read: Read): Promise<ShownPages> => {
  const [first] = shown.pages
  if (first === undefined) return shown
  const mark = (newer: number, cursor?: string): ShownPages => ({
    pages: shown.pages.with(0, { ...first, newer }),
    pageParams: cursor === undefined ? shown.pageParams : shown.pageParams.with(0, cursor)
  })
  if (isPinned(shown)) return mark(countBefore(first, fresh) ?? fresh.items.length)
  let [cursor, page, before] = ["", fresh, 0]
  for (let searched = 0; searched < maxSearched; searched++) {
    const index = countBefore(first, page)
    if (index === 0) return cursor === "" ? mark(0) : mark(before, cursor)
    if (index !== undefined) {
      const above = await read(cursor, index)
      const isSame = itemKey(above.items.at(-1)) === itemKey(page.items[index - 1])
      // If another row arrived since, its event repeats this. Until then the first page is not read from the start of the list.
      return above.next_cursor === null || !isSame ? mark(before + index) : mark(before + index, above.next_cursor)
    }
    // Nothing that is shown exists any more.
    if (page.next_cursor === null) return replaceTop(shown, fresh)
    before += page.items.length
    cursor = page.next_cursor
    page = await read(cursor)
  }
  return mark(before + page.items.length)
}

/** Reads the pages in view again, each from the end of the one before it. */
const readInView = async (shown: ShownPages, range: Range, read: Read): Promise<ShownPages> => {
  const { from, to } = pagesInView(shown.pages, range)
  let next = shown
  for (let index = from; index <= to && index < next.pages.length; index++) {
    // The start of the list is not where its first page begins: the cursor of that is not known yet.
    if (index === 0 && !isPinned(next) && (next.pages[0]?.newer ?? 0) > 0) continue
    const { newer } = next.pages[index] ?? {}
    const page = await read(next.pageParams[index] ?? "")
    next = replacePage(next, index, newer === undefined ? page : { ...page, newer }, to)
  }
  return next
}

const rangeOf = (query: Query): Range => views.get(query.queryHash) ?? top

/** Waits until no page is being read: its result would replace what is set before it arrives. */
const settled = async (query: Query): Promise<void> => {
  while (query.state.fetchStatus === "fetching") await query.promise?.catch(() => {})
}

const refreshOnce = async (query: Query, read: Read): Promise<"done" | "again"> => {
  await settled(query)
  const shown: unknown = query.state.data
  if (!isPages(shown)) return "done"
  const range = rangeOf(query)
  const isAtTop = range.first === 0
  const fresh = await read("")
  const reread: Read = (cursor, limit) =>
    cursor === "" && limit === undefined ? Promise.resolve(fresh) : read(cursor, limit)
  const next = isAtTop
    ? replaceTop(shown, fresh)
    : await readInView(await countNewer(shown, fresh, reread), range, reread)
  if (query.state.fetchStatus === "fetching" || query.state.data !== shown) return "again"
  // The user may have scrolled since.
  if ((rangeOf(query).first === 0) !== isAtTop) return "again"
  query.setData(next)
  return "done"
}

/** Lists that are being read again, and whether an event has arrived since the last read began. */
const refreshing = new Map<string, boolean>()
/** Attempts in a row that the user prevents by scrolling. Each event may be the last one, so that a read after it does not count. */
const maxAttempts = 5

const readAgain = async (query: Query): Promise<void> => {
  const { queryHash, queryKey } = query
  if (refreshing.has(queryHash)) {
    refreshing.set(queryHash, true)
    return
  }
  // Keys of lists begin with the endpoint and its input, see `usePages`.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const [endpoint, input] = queryKey as unknown as [Endpoint, Input<Endpoint>]
  const read: Read = (cursor, limit = pageSize) => readPage(endpoint, input, cursor, { limit })
  try {
    let attempts = 0
    do {
      refreshing.set(queryHash, false)
      attempts = (await refreshOnce(query, read)) === "done" ? 0 : attempts + 1
    } while (refreshing.get(queryHash) === true || (attempts > 0 && attempts < maxAttempts))
  } finally {
    refreshing.delete(queryHash)
  }
}

/** Reads the pages in view of a list again. A failed read is repeated with the next event. */
export const refreshPages = (query: Query): Promise<void> =>
  readAgain(query).catch(() => {
    // The list keeps what it shows.
  })

/**
 * Reads the shown values of some endpoints again: lists by their pages in view, other values as a whole. Values that are not shown are read again when
 * they are.
 */
export const refreshEndpoints = async (client: QueryClient, endpoints: ReadonlySet<string>): Promise<void> => {
  const concerned = client.getQueryCache().findAll({ predicate: ({ queryKey }) => endpoints.has(String(queryKey[0])) })
  await Promise.all(
    concerned.map((query) =>
      query.isActive() && isPages(query.state.data)
        ? refreshPages(query)
        : client.invalidateQueries({ queryKey: query.queryKey, exact: true, refetchType: "active" })
    )
  )
}

const maxReloaded = 2

/** Returns whether a list may be read again as a whole: it is short and begins at its start. */
export const isShort = (data: unknown): boolean =>
  !isPages(data) || (data.pages.length <= maxReloaded && !isPinned(data))
