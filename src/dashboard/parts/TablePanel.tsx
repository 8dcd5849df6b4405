/**
 * A panel with a table, or with what to do while it has no rows. On a narrow screen each row is a list of its values with the heads of their
 * columns, which the style reads from `--head-1` and so on.
 */
import type { CSSProperties, ReactNode } from "react"
import { Panel } from "./Panel.tsx"
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

interface TablePanelProps {
  readonly title: string
  readonly note?: ReactNode
  /** Name of the table for screen readers; default: the title. */
  readonly label?: string
  readonly heads: ReadonlyArray<TableHead>
  readonly rows: ReadonlyArray<ReactNode>
  readonly empty: ReactNode
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

export const TablePanel = ({ empty, heads, label, note, rows, title }: TablePanelProps) => (
  <Panel title={title} note={note} flush>
    {rows.length === 0 ? (
      empty
    ) : (
      <Scroll label={label ?? title}>
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
    )}
  </Panel>
)
