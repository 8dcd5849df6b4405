/** Findings by category, severity, rule, repository, workspace or team, with the period before: what is dismissed most is one click away. */
import type { Item } from "../client/Endpoints.ts"
import { useApi } from "../client/Queries.ts"
import { SelectFilter, useFilters } from "../parts/Filters.tsx"
import { Empty, Loaded, Panel } from "../parts/Panel.tsx"
import { sortRows } from "../parts/SortRows.ts"
import { StackedTable } from "../parts/StackedTable.tsx"
import { formatCount, formatRate } from "../text/Format.ts"
import { t, tValue } from "../text/T.ts"

type Group = Item<"GET /stats/findings">

const groupings = ["category", "severity", "rule", "repository", "workspace", "team"] as const

/** Share of the findings of a period; null without one. */
const shareOf = (count: number, all: number): number | null => (all === 0 ? null : count / all)

const sortValues: Readonly<Record<string, (group: Group) => number | null>> = {
  found: ({ found }) => found,
  foundBefore: ({ found_before: before }) => before,
  fixedShare: ({ fixed, found }) => shareOf(fixed, found),
  dismissed: ({ dismissed }) => dismissed,
  dismissedShare: ({ dismissed, found }) => shareOf(dismissed, found)
}

const nameOf = (by: string, name: string): string => (by === "category" || by === "severity" ? tValue(by, name) : name)

/** A share with that of the period before. */
const Share = ({ before, now }: { readonly now: number | null; readonly before: number | null }) => (
  <>
    {formatRate(now)}{" "}
    {before === null ? null : <span className="quiet">{t("groups.before", { rate: formatRate(before) })}</span>}
  </>
)

const GroupRow = ({ by, group }: { readonly by: string; readonly group: Group }) => (
  <tr>
    <td>{nameOf(by, group.name)}</td>
    <td className="end">{formatCount(group.found)}</td>
    <td className="end">{formatCount(group.found_before)}</td>
    <td className="end">
      <Share now={shareOf(group.fixed, group.found)} before={shareOf(group.fixed_before, group.found_before)} />
    </td>
    <td className="end">{formatCount(group.dismissed)}</td>
    <td className="end">
      <Share now={shareOf(group.dismissed, group.found)} before={shareOf(group.dismissed_before, group.found_before)} />
    </td>
  </tr>
)

/** Budgets have teams and authors too. */
const labelOf = (by: TableProps["by"]): string =>
  by === "team" || by === "author" ? t(`budget.${by}`) : t(`groups.${by}`)

interface TableProps {
  readonly by: (typeof groupings)[number] | "author"
  readonly label: string
  readonly groups: ReadonlyArray<Group>
  readonly order: string | undefined
}

const GroupTable = ({ by, groups, label, order }: TableProps) => (
  <StackedTable
    label={label}
    heads={[
      { label: labelOf(by) },
      { label: t("groups.found"), end: true },
      { label: t("groups.foundBefore"), end: true },
      { label: t("groups.fixed"), end: true },
      { label: t("groups.dismissed"), end: true },
      { label: t("groups.dismissedShare"), end: true }
    ]}
    rows={sortRows(groups, order, sortValues).map((group) => (
      <GroupRow key={group.name} by={by} group={group} />
    ))}
  />
)

/** Findings by the author of the change, for administrators where the configuration allows it. */
export const AuthorGroups = ({ since }: { readonly since: string | undefined }) => {
  const [{ groups: order }] = useFilters()
  const refused = useApi("GET /session", {}).data?.refused["GET /stats/authors"]
  const query = useApi(
    "GET /stats/authors",
    { query: { since: since ?? "1970-01-02" } },
    { enabled: refused === undefined }
  )
  // Switched off, which is the default, it is not worth a place on the page.
  if (refused !== undefined || query.data === undefined) return null
  const { items } = query.data
  return (
    <Panel title={t("budget.author")} flush>
      {items.length === 0 ? (
        <Empty title={t("statistics.empty")} />
      ) : (
        <GroupTable by="author" label={t("budget.author")} groups={items} order={order} />
      )}
    </Panel>
  )
}

export const FindingGroups = ({ since }: { readonly since: string | undefined }) => {
  const [{ by: given, groups: order, team }] = useFilters()
  const by = groupings.find((name) => name === given) ?? "category"
  // All time has no period before it.
  const query = useApi("GET /stats/findings", { query: { by, since: since ?? "1970-01-02", team } })
  return (
    <Panel
      title={t("groups.title")}
      flush
      actions={
        <>
          <SelectFilter
            name="by"
            label={t("groups.by")}
            all={t("groups.category")}
            options={groupings.slice(1).map((name) => [name, labelOf(name)])}
          />
          <SelectFilter
            name="groups"
            label={t("action.sort")}
            all={t("groups.found")}
            options={[
              ["-dismissed", t("groups.dismissed")],
              ["-dismissedShare", t("groups.dismissedShare")],
              ["fixedShare", t("groups.leastFixed")]
            ]}
          />
        </>
      }
    >
      <Loaded query={query}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty title={t("statistics.empty")} />
          ) : (
            <GroupTable by={by} label={t("groups.title")} groups={items} order={order} />
          )
        }
      </Loaded>
    </Panel>
  )
}
