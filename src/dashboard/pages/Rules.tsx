/** Rules of repositories: how often each was used, and what became of the findings that cite it. */
import type { Item } from "../client/Endpoints.ts"
import { useApi } from "../client/Queries.ts"
import { FilterBar, TextFilter, useFilters } from "../parts/Filters.tsx"
import { Page } from "../parts/Page.tsx"
import { Empty, Loaded } from "../parts/Panel.tsx"
import { sortRows } from "../parts/SortRows.ts"
import { Status } from "../parts/Status.tsx"
import { TablePanel } from "../parts/TablePanel.tsx"
import { Time } from "../parts/Time.tsx"
import { formatRate, formatShort } from "../text/Format.ts"
import { t } from "../text/T.ts"

type Rule = Item<"GET /rules">

const shareOf = ({ judged, judged_accepted: accepted }: Rule): number | null =>
  judged === 0 ? null : accepted / judged

const sortValues: Readonly<Record<string, (row: Rule) => string | number | null>> = {
  rule: ({ id }) => id,
  repository: ({ repository }) => repository,
  owner: ({ owner }) => owner ?? null,
  used: ({ used }) => used,
  published: ({ findings }) => findings,
  accepted: ({ accepted }) => accepted,
  dismissed: ({ dismissed }) => dismissed,
  ignored: ({ ignored }) => ignored,
  share: shareOf,
  reviewed: (row) => row.last_used_at
}

const RuleRow = ({ row }: { readonly row: Rule }) => (
  <tr>
    <td>
      <span className="mono break">{row.id}</span> <Status group="rule" value={row.state} />
    </td>
    <td className="break">{row.repository}</td>
    <td className="break">{row.owner ?? ""}</td>
    <td className="end">{formatShort(row.used)}</td>
    <td className="end">{formatShort(row.findings)}</td>
    <td className="end">{formatShort(row.accepted)}</td>
    <td className="end">{formatShort(row.dismissed)}</td>
    <td className="end">{formatShort(row.ignored)}</td>
    <td className="end">{formatRate(shareOf(row))}</td>
    <td className="end">
      <Time at={row.last_used_at} />
    </td>
  </tr>
)

const Table = ({ rows }: { readonly rows: ReadonlyArray<Rule> }) => {
  const [{ sort }] = useFilters()
  return (
    <TablePanel
      title={t("rules.count", { count: rows.length })}
      label={t("page.rules")}
      heads={[
        { sort: "rule", label: t("column.rule") },
        { sort: "repository", label: t("column.repository") },
        { sort: "owner", label: t("column.owner") },
        { sort: "used", label: t("column.used"), end: true },
        { sort: "published", label: t("metric.published"), end: true },
        { sort: "accepted", label: t("column.repaired"), end: true },
        { sort: "dismissed", label: t("column.dismissed"), end: true },
        { sort: "ignored", label: t("column.ignored"), end: true },
        { sort: "share", label: t("column.share"), end: true },
        { sort: "reviewed", label: t("column.reviewed"), end: true }
      ]}
      empty={null}
      rows={sortRows(rows, sort, sortValues).map((row) => (
        <RuleRow key={`${row.repository} ${row.id}`} row={row} />
      ))}
    />
  )
}

export const Rules = () => {
  const [{ q = "" }] = useFilters()
  const query = useApi("GET /rules", {})
  return (
    <Page title={t("page.rules")} note={t("rules.note")}>
      <FilterBar>
        <TextFilter name="q" label={t("filter.search")} placeholder={t("rules.search")} />
      </FilterBar>
      <Loaded query={query} rows={6}>
        {({ items }) => {
          const wanted = q.toLowerCase()
          const rows = items.filter(({ id, owner = "", repository }) =>
            `${repository} ${id} ${owner}`.toLowerCase().includes(wanted)
          )
          if (rows.length > 0) return <Table rows={rows} />
          return items.length > 0 ? (
            <Empty title={t("rules.unmatched")} />
          ) : (
            <Empty title={t("rules.empty")}>{t("rules.empty.help")}</Empty>
          )
        }}
      </Loaded>
    </Page>
  )
}
