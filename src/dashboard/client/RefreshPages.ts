/** Keeps lists current: reads their first page and those in view again, whatever their depth, and leaves the other rows where they are. */
import type { InfiniteData, Query, QueryClient } from "@tanstack/react-query"
import { call } from "./Call.ts"
import type { Endpoint, Input } from "./Endpoints.ts"
import { isItemPage, mergeFirstPage, pagesInView } from "./MergePages.ts"
import type { ItemPage } from "./MergePages.ts"

/** Length of a page. */
export const pageSize = 100

/** Pages that are kept while the user is at the top of a list. */
const keptAtTop = 2

interface Range {
  readonly first: number
  readonly last: number
}

/** Rows in view of each list that is shown, by the hash of its query. */
const views = new Map<string, Range>()

export const watchView = (hash: string, range: Range): void => {
  views.set(hash, range)
}
export const forgetView = (hash: string): void => {
  views.delete(hash)
}

export const readPage = (
  endpoint: Endpoint,
  input: Input<Endpoint>,
  cursor: unknown,
  signal?: AbortSignal
): Promise<unknown> =>
  call<Endpoint>(
    endpoint,
    {
      ...input,
      query: { ...input.query, limit: pageSize, ...(cursor === "" ? undefined : { cursor: String(cursor) }) }
    } as Input<Endpoint>,
    signal === undefined ? {} : { signal }
  )

type Pages = InfiniteData<unknown>

const isPages = (data: unknown): data is Pages =>
  typeof data === "object" && data !== null && "pages" in data && Array.isArray(data.pages)

/** Reads the pages in view again: a cursor always continues after the same row. */
const readInView = async (endpoint: Endpoint, input: Input<Endpoint>, data: Pages, range: Range) => {
  const shown = data.pages.filter(isItemPage)
  const read = await Promise.all(
    pagesInView(shown, range).map(
      async (index) => [index, await readPage(endpoint, input, data.pageParams[index])] as const
    )
  )
  return new Map(read)
}

/** Combines what was read with what is shown at that time. */
const combine = (data: Pages, fresh: ItemPage, inView: ReadonlyMap<number, unknown>, isAtTop: boolean): Pages => {
  const [first] = data.pages
  const merged = isItemPage(first) ? mergeFirstPage(first, fresh) : fresh
  if (merged === undefined) return { pages: [fresh], pageParams: [""] }
  const next = data.pages.map((page, index) => (index === 0 ? merged : (inView.get(index) ?? page)))
  // A first page that ends the list has no others after it.
  const count = merged.next_cursor === null ? 1 : isAtTop ? keptAtTop : next.length
  return { pages: next.slice(0, count), pageParams: data.pageParams.slice(0, count) }
}

export const refreshPages = async (query: Query): Promise<void> => {
  const [endpoint, input] = query.queryKey
  const data = query.state.data
  if (!isPages(data) || query.state.fetchStatus === "fetching") return
  const range = views.get(query.queryHash) ?? { first: 0, last: 0 }
  // Keys of lists begin with the endpoint and its input, see `usePages`.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const [name, given] = [endpoint, input] as [Endpoint, Input<Endpoint>]
  const [fresh, inView] = await Promise.all([readPage(name, given, ""), readInView(name, given, data, range)])
  const current = query.state.data
  if (!isItemPage(fresh) || !isPages(current)) return
  // More pages may have arrived; those in view are the same ones.
  query.setData(combine(current, fresh, inView, range.first === 0))
}

/**
 * Reads the shown values of some endpoints again: lists by their pages in view, other values as a whole. Values that are not shown are read again when
 * they are.
 */
export const refreshEndpoints = async (client: QueryClient, endpoints: ReadonlySet<string>): Promise<void> => {
  const concerned = client.getQueryCache().findAll({ predicate: ({ queryKey }) => endpoints.has(String(queryKey[0])) })
  await Promise.all(
    concerned.map((query) =>
      query.isActive() && isPages(query.state.data)
        ? // A failed read is repeated with the next event.
          refreshPages(query).catch(() => {})
        : client.invalidateQueries({ queryKey: query.queryKey, exact: true, refetchType: "active" })
    )
  )
}

const maxReloaded = 2

/** Returns whether a list is short enough to be read again as a whole. */
export const isShort = (data: unknown): boolean => !isPages(data) || data.pages.length <= maxReloaded
