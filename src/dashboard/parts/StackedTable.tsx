/**
 * A table that scrolls where it is wider than its place. On a narrow screen each row is a list of its values with the heads of their columns,
 * which the style reads from `--head-1` and so on.
 */
import type { CSSProperties, ReactNode } from "react"
import { Scroll } from "./Scroll.tsx"
import { SortHeader } from "./Sorting.tsx"

export interface TableHead {
  readonly label: string
  readonly end?: boolean
  /** Name that the table is sorted by. */
  readonly sort?: string
  /** The label is for screen readers only. */
  readonly hidesLabel?: boolean
}

const Head = ({ end = false, hidesLabel = false, label, sort }: TableHead) =>
  sort === undefined ? (
    <th className={end ? "end" : ""}>{hidesLabel ? <span className="hidden">{label}</span> : label}</th>
  ) : (
    <SortHeader name={sort} label={label} end={end} />
  )

/** The style reads so many heads. */
const maxHeads = 12

const headVariables = (heads: ReadonlyArray<TableHead>): CSSProperties =>
  Object.fromEntries(
    Array.from({ length: maxHeads }, (_, index) => {
      const { hidesLabel = false, label = "" } = heads[index] ?? {}
      return [`--head-${index + 1}`, JSON.stringify(hidesLabel ? "" : label)]
    })
  )

interface StackedTableProps {
  readonly label: string
  readonly heads: ReadonlyArray<TableHead>
  readonly rows: ReadonlyArray<ReactNode>
}

export const StackedTable = ({ heads, label, rows }: StackedTableProps) => (
  <Scroll label={label}>
    <table className="stacked" style={headVariables(heads)}>
      <thead>
        <tr>
          {heads.map((head) => (
            <Head key={head.label} {...head} />
          ))}
        </tr>
      </thead>
      <tbody>{rows}</tbody>
    </table>
  </Scroll>
)
