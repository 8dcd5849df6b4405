/** Pull requests, branches and issues with their newest runs. */
import { Link } from "@tanstack/react-router"
import type { Input, Item } from "../client/Endpoints.ts"
import { usePages } from "../client/Queries.ts"
import { Export } from "../parts/Export.tsx"
import { FilterBar, SelectFilter, TextFilter, useFilters } from "../parts/Filters.tsx"
import { List } from "../parts/List.tsx"
import type { Column } from "../parts/List.tsx"
import { Page } from "../parts/Page.tsx"
import { Empty } from "../parts/Panel.tsx"
import { changeName, RunStatus, useTriggerOptions, useWorkspaceOptions } from "../parts/Records.tsx"
import { Time } from "../parts/Time.tsx"
import { TimeFilter } from "../parts/TimeFilter.tsx"
import { t, tValue } from "../text/T.ts"
import { toCount } from "./Numbers.ts"
import { runStatuses } from "./RunStates.ts"

type ChangeItem = Item<"GET /changes">

const NameLink = ({ row }: { readonly row: ChangeItem }) =>
  row.number === undefined ? (
    <Link to="/runs/$id" params={{ id: row.run.id }} className="row-link">
      {changeName(row)}
    </Link>
  ) : (
    <Link to="/change" search={{ repo: row.repo, number: String(row.number) }} className="row-link">
      {changeName(row)}
    </Link>
  )

const makeColumns = (): ReadonlyArray<Column<ChangeItem>> => [
  {
    key: "change",
    label: t("column.change"),
    width: "minmax(10rem, 1.2fr)",
    top: true,
    render: (row) => <NameLink row={row} />
  },
  { key: "title", label: t("column.title"), width: "minmax(10rem, 2fr)", render: (row) => row.title ?? "" },
  { key: "status", label: t("column.review"), width: "9.5rem", top: true, render: ({ run }) => <RunStatus {...run} /> },
  {
    key: "findings",
    label: t("column.findings"),
    width: "5.5rem",
    end: true,
    wideOnly: true,
    render: ({ run }) => run.findings ?? "–"
  },
  {
    key: "author",
    label: t("column.author"),
    width: "minmax(5rem, .7fr)",
    wideOnly: true,
    render: (row) => row.author ?? ""
  },
  {
    key: "at",
    label: t("column.reviewed"),
    sort: "created",
    width: "7rem",
    end: true,
    render: ({ run }) => <Time at={run.finished_at ?? run.created_at} />
  }
]

export const Changes = () => {
  const [{ number, q, repo, since, sort, status, trigger, until, workspace }] = useFilters()
  const order = sort === "created" ? sort : undefined
  const input = {
    query: { workspace, q, repo, trigger, status, since, until, number: toCount(number), sort: order }
  } satisfies Input<"GET /changes">
  const query = usePages("GET /changes", input)
  const workspaces = useWorkspaceOptions()
  const triggers = useTriggerOptions()
  return (
    <Page
      title={t("page.changes")}
      note={t("changes.note")}
      actions={<Export endpoint="GET /changes" input={input} name="changes" />}
      fill
    >
      <FilterBar>
        <TextFilter name="q" label={t("filter.search")} placeholder={t("filter.search.help")} />
        <TextFilter name="repo" label={t("column.repository")} placeholder="owner/name" />
        <TextFilter name="number" label={t("column.number")} placeholder="5" />
        <SelectFilter
          name="status"
          label={t("column.review")}
          options={runStatuses.map((name) => [name, tValue("run", name)])}
        />
        <SelectFilter name="workspace" label={t("column.workspace")} options={workspaces} />
        <SelectFilter name="trigger" label={t("column.trigger")} options={triggers} />
        <TimeFilter />
      </FilterBar>
      <List
        label={t("page.changes")}
        rows={query.items}
        columns={makeColumns()}
        standardSort="-created"
        rowKey={(row) => row.target_key}
        query={query}
        empty={
          <Empty title={t("changes.empty")}>
            {t("changes.empty.help")} <Link to="/deliveries">{t("page.deliveries")}</Link>
          </Empty>
        }
      />
    </Page>
  )
}
