/**
 * A list of any length: only visible rows are in the document. `j` and `k` or the arrow keys move the focus between rows, Enter opens one. On a
 * narrow screen a row has two lines.
 */
import { useVirtualizer } from "@tanstack/react-virtual"
import { useEffect, useLayoutEffect, useRef } from "react"
import type { KeyboardEvent, ReactNode } from "react"
import { useNarrow } from "../layout/Narrow.ts"
import { formatCount } from "../text/Format.ts"
import { t } from "../text/T.ts"
import { Failure, Loading } from "./Panel.tsx"
import { usePlace } from "./Place.ts"
import { SortColumn, SortSelect } from "./Sorting.tsx"

export interface Column<Row> {
  readonly key: string
  readonly label: string
  readonly render: (row: Row) => ReactNode
  /** Track of the grid on a wide screen. */
  readonly width: string
  /** On the first line of a narrow screen: the main column and those marked `top`. */
  readonly top?: boolean
  /** Not shown on a narrow screen. */
  readonly wideOnly?: boolean
  readonly end?: boolean
  /** Key that the service sorts the list by. Absent: it does not, or not with the filters that are set. */
  readonly sort?: string | undefined
  /** The label is for screen readers only. */
  readonly hidesLabel?: boolean
}

interface ListProps<Row> {
  readonly label: string
  readonly rows: ReadonlyArray<Row>
  readonly columns: ReadonlyArray<Column<Row>>
  readonly rowKey: (row: Row) => string
  readonly query: {
    readonly isPending: boolean
    readonly error: unknown
    readonly refetch: () => unknown
    readonly hasNextPage: boolean
    readonly isFetchingNextPage: boolean
    readonly fetchNextPage: () => unknown
    /** Called with the positions of the rows in view. */
    readonly view?: (first: number, last: number) => void
    /** Number of rows that precede the shown ones. */
    readonly newer?: number
  }
  readonly empty: ReactNode
  /** Order of the list if the address names none. */
  readonly standardSort?: string
}

const wideHeight = 37
const narrowHeight = 62

/** Rows of a list that the keys act on: the newest one that was rendered. */
const focusRow = (container: HTMLElement, index: number): void => {
  const row = container.querySelector(`[data-index="${index}"]`)
  const target = row?.querySelector<HTMLElement>("a.row-link, button.row-link")
  target?.focus({ preventScroll: true })
}

const focusedIndex = (container: HTMLElement | null): number => {
  const row = document.activeElement?.closest("[data-index]")
  return row !== null && row !== undefined && container?.contains(row) === true
    ? Number(row.getAttribute("data-index"))
    : -1
}

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && target.closest("input, textarea, select, [contenteditable], dialog") !== null

const steps: Readonly<Record<string, number>> = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1 }

/** Returns the handler of a key that moves the focus. */
const useRowKeys = (
  container: React.RefObject<HTMLDivElement | null>,
  count: number,
  show: (index: number) => void
) => {
  const pending = useRef<number>(undefined)
  const move = (event: KeyboardEvent | globalThis.KeyboardEvent): void => {
    const step = steps[event.key]
    const element = container.current
    if (step === undefined || element === null || event.ctrlKey || event.metaKey || event.altKey) return
    if (isTyping(event.target)) return
    // A key may follow before the row of the one before it has the focus.
    const current = pending.current ?? focusedIndex(element)
    // Arrow keys scroll the page until a row has the focus.
    if (current === -1 && event.key.startsWith("Arrow")) return
    event.preventDefault()
    const next = Math.min(Math.max(current + step, 0), count - 1)
    show(next)
    pending.current = next
    requestAnimationFrame(() =>
      requestAnimationFrame(() => {
        if (pending.current === next) pending.current = undefined
        focusRow(element, next)
      })
    )
  }
  const latest = useRef(move)
  useEffect(() => {
    latest.current = move
  })
  useEffect(() => {
    const listener = (event: globalThis.KeyboardEvent) => latest.current(event)
    document.addEventListener("keydown", listener)
    return () => document.removeEventListener("keydown", listener)
  }, [])
}

/** Keeps the rows in view where they are when others arrive above them. At the top of the list, new rows come into view. */
const useAnchor = <Row,>(
  container: React.RefObject<HTMLDivElement | null>,
  rows: ReadonlyArray<Row>,
  rowKey: (row: Row) => string,
  height: number
) => {
  const shown = useRef(rows)
  useLayoutEffect(() => {
    const before = shown.current
    shown.current = rows
    const element = container.current
    if (element === null || before === rows || element.scrollTop < height) return
    const top = Math.floor(element.scrollTop / height)
    const positions = new Map(rows.map((row, index) => [rowKey(row), index]))
    for (const [offset, row] of before.slice(top, top + anchors).entries()) {
      const position = positions.get(rowKey(row))
      if (position === undefined) continue
      // It may return a promise, which an effect must not return.
      element.scrollBy(0, (position - top - offset) * height)
      return
    }
  })
}
/** Rows that are tried: the first one in view may be gone. */
const anchors = 50

/** From here, rows are counted by pages. */
const maxCounted = 100

/** Goes to the top of the list, where rows that arrived since the user scrolled are shown. */
const Newer = ({ count, onClick }: { readonly count: number; readonly onClick: () => void }) => (
  <div className="list-newer" role="status">
    {count === 0 ? null : (
      <button type="button" onClick={onClick}>
        <span aria-hidden="true">↑ </span>
        {count >= maxCounted
          ? t("list.newer.many", { count: formatCount(maxCounted) })
          : t("list.newer", { count: formatCount(count) })}
      </button>
    )}
  </div>
)

const Cell = <Row,>({ column, row }: { readonly column: Column<Row>; readonly row: Row }) => (
  <div
    role="cell"
    className={[
      "cell",
      column.top === true ? "top" : "",
      column.wideOnly === true ? "wide-only" : "",
      column.end === true ? "end" : ""
    ]
      .filter(Boolean)
      .join(" ")}
  >
    {column.render(row)}
  </div>
)

const Head = <Row,>({ column, standard }: { readonly column: Column<Row>; readonly standard: string }) => {
  const { end = false, hidesLabel = false, label, sort } = column
  const className = end ? "cell end" : "cell"
  if (sort !== undefined) return <SortColumn className={className} name={sort} label={label} standard={standard} />
  return (
    <div role="columnheader" className={className}>
      <span className={hidesLabel ? "hidden" : ""}>{label}</span>
    </div>
  )
}

interface RowsProps<Row> extends Pick<ListProps<Row>, "columns" | "rowKey" | "rows"> {
  readonly visible: ReadonlyArray<{ readonly index: number; readonly start: number }>
  readonly style: React.CSSProperties
}

const Rows = <Row,>({ columns, rowKey, rows, style, visible }: RowsProps<Row>) =>
  visible.map(({ index, start }) => {
    const row = rows[index]
    if (row === undefined) return null
    return (
      <div
        role="row"
        className="row"
        key={rowKey(row)}
        data-index={index}
        aria-rowindex={index + 2}
        style={{ ...style, transform: `translateY(${start}px)` }}
      >
        {columns.map((column) => (
          <Cell key={column.key} column={column} row={row} />
        ))}
      </div>
    )
  })

export const List = <Row,>({ columns, empty, label, query, rowKey, rows, standardSort = "" }: ListProps<Row>) => {
  const container = useRef<HTMLDivElement>(null)
  const isNarrow = useNarrow()
  const height = isNarrow ? narrowHeight : wideHeight
  useAnchor(container, rows, rowKey, height)
  const initialOffset = usePlace(container, !query.isPending && rows.length > 0)
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => container.current,
    estimateSize: () => height,
    overscan: 12,
    initialOffset
  })
  useEffect(() => virtual.measure(), [height, virtual])
  useRowKeys(container, rows.length, (index) => virtual.scrollToIndex(index))
  const visible = virtual.getVirtualItems()
  const lastIndex = visible.at(-1)?.index ?? 0
  const { fetchNextPage, hasNextPage, isFetchingNextPage, view } = query
  const { endIndex = 0, startIndex = 0 } = virtual.range ?? {}
  useEffect(() => view?.(startIndex, endIndex))
  useEffect(() => {
    if (hasNextPage && !isFetchingNextPage && lastIndex >= rows.length - 20) void fetchNextPage()
  }, [fetchNextPage, hasNextPage, isFetchingNextPage, lastIndex, rows.length])
  if (query.isPending) return <Loading rows={12} />
  const failure = query.error === null ? null : <Failure error={query.error} retry={() => void query.refetch()} />
  // A page of a search may be empty and still have a next one.
  if (rows.length === 0) return failure ?? (hasNextPage ? <Loading rows={12} /> : empty)
  const style = { gridTemplateColumns: columns.map(({ width }) => width).join(" "), height }
  return (
    <>
      {failure}
      {isNarrow ? <SortSelect columns={columns} /> : null}
      <div className="list-frame">
        <Newer
          count={query.newer ?? 0}
          onClick={() => {
            virtual.scrollToOffset(0)
            container.current?.focus()
          }}
        />
        {/* A region that scrolls must be reachable by keyboard. */}
        {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
        <div className="list" ref={container} tabIndex={0} role="region" aria-label={label}>
          <div role="table" aria-label={label} aria-rowcount={hasNextPage ? -1 : rows.length + 1}>
            <div role="rowgroup" className="list-head">
              <div role="row" className="row head" style={{ gridTemplateColumns: style.gridTemplateColumns }}>
                {columns.map((column) => (
                  <Head key={column.key} column={column} standard={standardSort} />
                ))}
              </div>
            </div>
            <div role="rowgroup" className="list-rows" style={{ height: virtual.getTotalSize() }}>
              <Rows rows={rows} columns={columns} rowKey={rowKey} visible={visible} style={style} />
            </div>
          </div>
        </div>
      </div>
      <p className="list-foot quiet">
        {hasNextPage
          ? t("list.more", { count: formatCount(rows.length) })
          : t("list.all", { count: formatCount(rows.length) })}
      </p>
    </>
  )
}
