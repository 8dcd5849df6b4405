/** Sorting of a table by one of its columns. The column is part of the address: `sort=cost`, or `sort=-cost` from the largest to the smallest. */
import { t } from "../text/T.ts"
import { SelectFilter, useFilters } from "./Filters.tsx"

type SortState = "ascending" | "descending" | "none"

/** Returns the order of a column, and how to change it: first from the largest, then the other way, then not. */
const useSort = (name: string, standard?: string): readonly [SortState, () => void] => {
  const [{ sort = standard }, setFilters] = useFilters()
  const state = sort === name ? "ascending" : sort === `-${name}` ? "descending" : "none"
  const next = { none: `-${name}`, descending: name, ascending: name === standard ? `-${name}` : undefined }[state]
  // The order that the list has anyway is not part of the address.
  return [state, () => setFilters({ sort: next === standard ? undefined : next })]
}

const SortButton = ({
  label,
  onClick,
  state
}: {
  readonly label: string
  readonly state: SortState
  readonly onClick: () => void
}) => (
  <button type="button" className="sort" title={t("action.sort")} onClick={onClick}>
    {label}
    <span aria-hidden="true">{state === "none" ? "" : state === "ascending" ? " ↑" : " ↓"}</span>
  </button>
)

/** A column head of a list that the service sorts. `standard` is its order without one in the address. */
export const SortColumn = ({
  className,
  label,
  name,
  standard
}: {
  readonly className: string
  readonly name: string
  readonly label: string
  readonly standard: string
}) => {
  const [state, change] = useSort(name, standard)
  return (
    <div role="columnheader" className={className} aria-sort={state}>
      <SortButton label={label} state={state} onClick={change} />
    </div>
  )
}

/** The same on a narrow screen, where a list has no heads. */
export const SortSelect = ({
  columns
}: {
  readonly columns: ReadonlyArray<{ readonly label: string; readonly sort?: string | undefined }>
}) => {
  const options = columns.flatMap(({ label, sort }) =>
    sort === undefined ? [] : [[`-${sort}`, `${label} ↓`] as const, [sort, `${label} ↑`] as const]
  )
  return options.length === 0 ? null : (
    <SelectFilter name="sort" label={t("list.sort")} all={t("list.sort.standard")} options={options} />
  )
}

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
  const [state, change] = useSort(name)
  return (
    <th className={end ? "end" : ""} aria-sort={state}>
      <SortButton label={label} state={state} onClick={change} />
    </th>
  )
}
