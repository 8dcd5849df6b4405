/** Merges the newest first page of a list into the pages that are shown, so that a list of any depth stays current at the cost of one page. Pure. */

export interface ItemPage {
  readonly items: ReadonlyArray<unknown>
  readonly next_cursor: string | null
}

export const isItemPage = (value: unknown): value is ItemPage =>
  typeof value === "object" && value !== null && "items" in value && Array.isArray(value.items)

/** Records have an id; a change is identified by its target. */
export const itemKey = (item: unknown): string => {
  const { id, target_key: target } = Object(item)
  return String(id ?? target)
}

/** Rows that a first page may grow to before its older rows are left to the next reload. */
export const maxFirstPage = 1000

/**
 * Returns the first page with the rows of the shown one that follow the fresh rows. Undefined: they have no row in common, so that rows between them
 * are missing, or there would be too many.
 */
export const mergeFirstPage = (shown: ItemPage, fresh: ItemPage): ItemPage | undefined => {
  if (fresh.next_cursor === null) return fresh
  const positions = new Map(shown.items.map((item, index) => [itemKey(item), index]))
  const last = fresh.items.map((item) => positions.get(itemKey(item))).findLast((index) => index !== undefined)
  if (last === undefined) return undefined
  const freshKeys = new Set(fresh.items.map(itemKey))
  const rest = shown.items.slice(last + 1).filter((item) => !freshKeys.has(itemKey(item)))
  // Without more rows, the cursor of the fresh page continues where it ends.
  if (rest.length === 0) return { ...shown, ...fresh, items: fresh.items, next_cursor: fresh.next_cursor }
  const items = [...fresh.items, ...rest]
  return items.length > maxFirstPage ? undefined : { ...shown, ...fresh, items, next_cursor: shown.next_cursor }
}

interface Range {
  readonly first: number
  readonly last: number
}

/** Returns the positions of the pages, without the first one, that hold these rows. */
export const pagesInView = (pages: ReadonlyArray<ItemPage>, { first, last }: Range): ReadonlyArray<number> => {
  let start = 0
  return pages.flatMap(({ items }, index) => {
    const from = start
    start += items.length
    return index > 0 && from <= last && start > first ? [index] : []
  })
}
