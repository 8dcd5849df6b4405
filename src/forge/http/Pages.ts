/** Lists of hosts, which return them in pages and say in different headers whether another one follows. */
import { Effect } from "effect"
import { isTooLarge } from "../ForgeError.ts"
import type { ForgeError } from "../ForgeError.ts"
import type { HostResponse } from "../HostResponse.ts"

export interface PageSize {
  readonly name: "limit" | "per_page"
  readonly value: number
  /** Maximum number of items to return. */
  readonly max?: number
  /** Whether the next page is named by the `cursor` in the `Link` of the one before it, instead of by its number. */
  readonly byCursor?: boolean
}

export interface ListedItems<A> {
  readonly items: ReadonlyArray<A>
  /** Number of items in the list, as the host returns it. */
  readonly total: number | undefined
  /** Number of items that were not read; a lower bound where the host returns no total. */
  readonly more: number
}

const maxPages = 100
/** Sizes of the pages that are read in place of one that is too large. Each one divides those before it. */
const smallerPages = [50, 25, 5, 1]

/** Leaves out the items that are undefined. */
export const presentIn = <A>({ items, ...rest }: ListedItems<A | undefined>): ListedItems<A> => ({
  ...rest,
  items: items.flatMap((item) => (item === undefined ? [] : [item]))
})

/** Reads the pages of a list, at most `maxPages`, until its end, until `max` items, or until a page with which it is enough. */
export const readPages = Effect.fnUntraced(function* <A, E extends { readonly response: HostResponse }>(
  send: (query: Readonly<Record<string, number | string>>) => Effect.Effect<E, ForgeError>,
  decodePage: (exchanged: E) => Effect.Effect<ReadonlyArray<A>, ForgeError>,
  { byCursor = false, max = Number.POSITIVE_INFINITY, name, value: standard }: PageSize,
  isEnough: (list: ListedItems<A>) => boolean = () => false
): Effect.fn.Return<ListedItems<A>, ForgeError> {
  const items: Array<A> = []
  let value = standard
  let page = 1
  let cursor: string | undefined
  let rest: Omit<ListedItems<A>, "items"> = { total: undefined, more: 0 }
  for (let reads = 0; reads < maxPages; reads++) {
    const place = byCursor ? (cursor === undefined ? {} : { cursor }) : { page }
    const result = yield* Effect.result(send({ [name]: value, ...place }))
    if (result._tag === "Failure") {
      const smaller = isTooLarge(result.failure) ? smallerPages.find((candidate) => candidate < value) : undefined
      if (smaller === undefined) return yield* result.failure
      page = ((page - 1) * value) / smaller + 1
      value = smaller
      continue
    }
    const { headers } = result.success.response
    const read = yield* decodePage(result.success)
    for (const item of read) items.push(item)
    const total = readTotal(headers)
    const follows = hasMore(headers, read.length, items.length, value)
    const unread = follows ? Math.max(1, (total ?? 0) - items.length) : 0
    rest = { total, more: unread + Math.max(0, items.length - max) }
    if (!follows || items.length >= max || isEnough({ items, ...rest })) break
    page++
    cursor = readCursor(headers)
    if (byCursor && cursor === undefined) break
  }
  return { items: items.slice(0, max), ...rest }
})

/** Returns the cursor of the next page. */
const readCursor = (headers: HostResponse["headers"]): string | undefined => {
  const [, url = ""] = /<([^<>]*)>;\s*rel="?next"?/.exec(headers["link"] ?? "") ?? []
  return URL.canParse(url) ? (new URL(url).searchParams.get("cursor") ?? undefined) : undefined
}

/** Returns the number of items of a list that the host states. */
const readTotal = (headers: HostResponse["headers"]): number | undefined => {
  const total = headers["x-total-count"] ?? headers["x-total"]
  return total !== undefined && /^\d{1,9}$/.test(total) ? Number(total) : undefined
}

/**
 * Returns whether another page follows: by `Link` or `X-Next-Page` where the host sends them, else by its total, else by whether
 * the page is full (a host may return fewer items than requested, so a short page ends the list only without other information).
 */
const hasMore = (headers: HostResponse["headers"], count: number, sum: number, pageSize: number): boolean => {
  if (count === 0) return false
  const link = headers["link"]
  if (link !== undefined) return /;\s*rel="?next"?/.test(link)
  const next = headers["x-next-page"]
  if (next !== undefined) return next !== ""
  const total = readTotal(headers)
  return total === undefined ? count >= pageSize : sum < total
}
