/** A panel with a table, or with what to do while it has no rows. */
import type { ReactNode } from "react"
import { Panel } from "./Panel.tsx"
import { StackedTable } from "./StackedTable.tsx"
import type { TableHead } from "./StackedTable.tsx"

interface TablePanelProps {
  readonly title: string
  readonly note?: ReactNode
  /** Name of the table for screen readers; default: the title. */
  readonly label?: string
  readonly heads: ReadonlyArray<TableHead>
  readonly rows: ReadonlyArray<ReactNode>
  readonly empty: ReactNode
}

export const TablePanel = ({ empty, heads, label, note, rows, title }: TablePanelProps) => (
  <Panel title={title} note={note} flush>
    {rows.length === 0 ? empty : <StackedTable label={label ?? title} heads={heads} rows={rows} />}
  </Panel>
)
