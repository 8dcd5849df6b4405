/** Builds pages of lists: by id, the newest first unless the order is another one, or by a value. */
import { Effect } from "effect"
import { pageSize } from "../api/Parameters.ts"
import { invalid } from "../api/Problems.ts"

interface Query {
  readonly cursor?: string
  readonly limit?: number
  readonly sort?: string
}

/** Returns the key of an order, and whether it begins with the largest value. */
export const parseSort = (sort: string): { readonly key: string; readonly isDescending: boolean } =>
  sort.startsWith("-") ? { key: sort.slice(1), isDescending: true } : { key: sort, isDescending: false }

/** Returns the part of a store's filter that selects a page: one record more than the page, to learn whether there is another. */
export const pageFilter = (query: Query) => {
  const limit = pageSize(query) + 1
  const { cursor, sort } = query
  return sort === undefined || parseSort(sort).isDescending
    ? { before: cursor, limit }
    : { after: cursor, oldestFirst: true, limit }
}

/** Builds the page from the records that were selected. A list by a value continues after that value and id. */
export const toPage = <A extends { readonly id: string }, B>(
  found: ReadonlyArray<A>,
  query: Query,
  view: (record: A) => B,
  valueOf?: (record: A) => number | string
): { readonly items: ReadonlyArray<B>; readonly next_cursor: string | null } => {
  const size = pageSize(query)
  const items = found.slice(0, size)
  const last = items.at(-1)
  const more = found.length > size && last !== undefined
  const cursor = last === undefined || valueOf === undefined ? last?.id : `${valueOf(last)}~${last.id}`
  return { items: items.map(view), next_cursor: more ? (cursor ?? null) : null }
}

/** Adds to a page of a search where its next part begins. A page may be short, or empty, and still have a next one. */
export const continued = <A extends { readonly next_cursor: string | null }>(
  page: A,
  searchedTo: string | undefined
): A => ({
  ...page,
  next_cursor: page.next_cursor ?? searchedTo ?? null
})

/** Returns the time of a parameter in milliseconds since the epoch; undefined if it is not given. */
export const parseTime = (text: string | undefined): number | undefined =>
  text === undefined ? undefined : Date.parse(text)

export const otherCursor = invalid("cursor", { _tag: "CursorOfOrderExpected" })

/** Returns whether the value of a cursor is a number that a list can be ordered by; -1 means none. */
export const isCount = (value: string): boolean => /^(?:-1|\d{1,15})$/.test(value)

/** Reads the cursor of a list by a value. */
export const parseValueCursor = (cursor: string) => {
  const at = cursor.lastIndexOf("~")
  return at < 1 ? Effect.fail(otherCursor) : Effect.succeed({ value: cursor.slice(0, at), id: cursor.slice(at + 1) })
}
