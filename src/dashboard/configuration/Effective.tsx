/** Every effective value with its origin: a line of the file, a revision with its user, or the default. */
import { useApi } from "../client/Queries.ts"
import type { Output } from "../client/Endpoints.ts"
import { FilterBar, TextFilter, useFilters } from "../parts/Filters.tsx"
import { List } from "../parts/List.tsx"
import type { Column } from "../parts/List.tsx"
import { Empty } from "../parts/Panel.tsx"
import { t, tReason } from "../text/T.ts"

type Value = Output<"GET /config">["values"][number]

const render = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value))

const makeColumns = (): ReadonlyArray<Column<Value>> => [
  {
    key: "path",
    label: t("config.path"),
    width: "minmax(14rem, 1.4fr)",
    top: true,
    render: ({ path }) => (
      <span className="mono" title={path}>
        {path}
      </span>
    )
  },
  {
    key: "value",
    label: t("config.value"),
    width: "minmax(10rem, 1.4fr)",
    render: ({ value }) => (
      <span className="mono" title={render(value)}>
        {render(value)}
      </span>
    )
  },
  {
    key: "origin",
    label: t("config.origin"),
    width: "minmax(10rem, 1fr)",
    render: ({ origin }) => (
      <span className={origin._tag === "OriginDefault" ? "quiet" : ""} title={tReason(origin)}>
        {tReason(origin)}
      </span>
    )
  }
]

export const Effective = () => {
  const [{ q = "" }] = useFilters()
  const query = useApi("GET /config", {})
  const wanted = q.toLowerCase()
  const rows = (query.data?.values ?? []).filter(({ origin, path, value }) =>
    `${path} ${render(value)} ${tReason(origin)}`.toLowerCase().includes(wanted)
  )
  return (
    <>
      <FilterBar>
        <TextFilter name="q" label={t("config.filter")} />
      </FilterBar>
      <List
        label={t("config.effective")}
        rows={rows}
        columns={makeColumns()}
        rowKey={({ path }) => path}
        query={{ ...query, hasNextPage: false, isFetchingNextPage: false, fetchNextPage: () => undefined }}
        empty={<Empty title={t("config.none")}>{t("config.none.help")}</Empty>}
      />
    </>
  )
}
