/**
 * Decides how pages that were read again replace those of a list. Pages are read with a cursor, which always continues after the same row, so that rows
 * in view stay where they are. Pure.
 */

export interface ItemPage {
  readonly items: ReadonlyArray<unknown>
  readonly next_cursor: string | null
  /** Number of rows that precede the first page and are not shown, because the user has scrolled. */
  readonly newer?: number
}

export interface ShownPages {
  readonly pages: ReadonlyArray<ItemPage>
  /** Cursor of each page; empty: the start of the list. */
  readonly pageParams: ReadonlyArray<string>
}

export const isItemPage = (value: unknown): value is ItemPage =>
  typeof value === "object" && value !== null && "items" in value && Array.isArray(value.items)

/** Records have an id; a change is identified by its target. */
export const itemKey = (item: unknown): string => {
  const { id, target_key: target } = Object(item)
  return String(id ?? target)
}

/** Pages that are kept while the user is at the top of a list. */
const keptAtTop = 2

/** Returns the pages with a fresh first one. Pages that no longer continue it are left to be read when they are scrolled to. */
export const replaceTop = ({ pageParams, pages }: ShownPages, fresh: ItemPage): ShownPages => {
  const continues = fresh.next_cursor !== null && pageParams[1] === fresh.next_cursor
  const kept = continues ? keptAtTop : 1
  return { pages: [fresh, ...pages.slice(1, kept)], pageParams: ["", ...pageParams.slice(1, kept)] }
}

/** Returns the number of fresh rows before the first shown one that is among them; undefined if none is. */
export const countBefore = (shown: ItemPage | undefined, fresh: ItemPage): number | undefined => {
  const positions = new Map(fresh.items.map((item, index) => [itemKey(item), index]))
  for (const item of shown?.items ?? []) {
    const position = positions.get(itemKey(item))
    if (position !== undefined) return position
  }
  return undefined
}

interface Range {
  readonly first: number
  readonly last: number
}

/** Returns the positions of the pages that hold these rows. */
export const pagesInView = (
  pages: ReadonlyArray<ItemPage>,
  { first, last }: Range
): { readonly from: number; readonly to: number } => {
  let start = 0
  const inView = pages.flatMap(({ items }, index) => {
    const from = start
    start += items.length
    return from <= last && start > first ? [index] : []
  })
  return { from: inView[0] ?? 0, to: inView.at(-1) ?? 0 }
}

/**
 * Returns the shown pages with one of them read again. If it ends at another row than before, the next page continues there, and those after `lastInView`
 * are left to be read when they are scrolled to.
 */
export const replacePage = (shown: ShownPages, index: number, page: ItemPage, lastInView: number): ShownPages => {
  const pages = shown.pages.with(index, page)
  const { pageParams } = shown
  const next = page.next_cursor
  if (index + 1 >= pages.length || pageParams[index + 1] === next) return { pages, pageParams }
  if (next === null || index >= lastInView)
    return { pages: pages.slice(0, index + 1), pageParams: pageParams.slice(0, index + 1) }
  return { pages, pageParams: pageParams.with(index + 1, next) }
}
