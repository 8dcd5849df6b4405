/** A panel with a table that scrolls on a narrow screen, or with what to do while it has no rows. */
import type { ReactNode } from "react"
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

export const TablePanel = ({ empty, heads, label, note, rows, title }: TablePanelProps) => (
  <Panel title={title} note={note} flush>
    {rows.length === 0 ? (
      empty
    ) : (
      <Scroll label={label ?? title}>
        <table>
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
