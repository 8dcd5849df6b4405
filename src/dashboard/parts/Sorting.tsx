/** Sorting of a table by one of its columns. The column is part of the address: `sort=cost`, or `sort=-cost` from the largest to the smallest. */
import { t } from "../text/T.ts"
import { useFilters } from "./Filters.tsx"

/** A heading that sorts: first from the largest, then the other way, then not. */
export const SortHeader = ({
  end = false,
  label,
  name
}: {
  readonly name: string
  readonly label: string
  readonly end?: boolean
}) => {
  const [{ sort }, setFilters] = useFilters()
  const state = sort === name ? "ascending" : sort === `-${name}` ? "descending" : "none"
  const next = { none: `-${name}`, descending: name, ascending: undefined }[state]
  return (
    <th className={end ? "end" : ""} aria-sort={state}>
      <button type="button" className="sort" title={t("action.sort")} onClick={() => setFilters({ sort: next })}>
        {label}
        <span aria-hidden="true">{state === "none" ? "" : state === "ascending" ? " ↑" : " ↓"}</span>
      </button>
    </th>
  )
}
