/** Builds pages of lists that are sorted newest first by id. */
import { pageSize } from "./api/Parameters.ts"

interface Query {
  readonly cursor?: string
  readonly limit?: number
}

/** Returns the part of a store's filter that selects a page: one record more than the page, to learn whether there is another. */
export const pageFilter = (query: Query) => ({ before: query.cursor, limit: pageSize(query) + 1 })

/** Builds the page from the records that `pageFilter` selected. */
export const toPage = <A extends { readonly id: string }, B>(
  found: ReadonlyArray<A>,
  query: Query,
  view: (record: A) => B
): { readonly items: ReadonlyArray<B>; readonly next_cursor: string | null } => {
  const size = pageSize(query)
  const items = found.slice(0, size)
  return { items: items.map(view), next_cursor: found.length > size ? (items.at(-1)?.id ?? null) : null }
}
