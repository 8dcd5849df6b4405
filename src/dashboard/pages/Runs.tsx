/** Runs, newest first. */
import { Link } from "@tanstack/react-router"
import type { Item } from "../client/Endpoints.ts"
import { usePages } from "../client/Queries.ts"
import { Export } from "../parts/Export.tsx"
import { FilterBar, LinkFilter, Presets, SelectFilter, TextFilter, useFilters } from "../parts/Filters.tsx"
import { List } from "../parts/List.tsx"
import type { Column } from "../parts/List.tsx"
import { Page } from "../parts/Page.tsx"
import { Empty } from "../parts/Panel.tsx"
import { changeName, RunStatus, useTriggerOptions, useWorkspaceOptions } from "../parts/Records.tsx"
import { Time } from "../parts/Time.tsx"
import { TimeFilter } from "../parts/TimeFilter.tsx"
import { formatDuration } from "../text/FormatDuration.ts"
import { formatUsd } from "../text/Format.ts"
import { t, tReason, tValue } from "../text/T.ts"
import { toCount } from "./Numbers.ts"
import { failedStatuses, runningStatuses, runStatuses } from "./RunStates.ts"

type RunItem = Item<"GET /runs">

/** Values have indexes that serve no other filter than the workspace. */
const makeColumns = (sortsByValue: boolean): ReadonlyArray<Column<RunItem>> => [
  {
    key: "change",
    label: t("column.change"),
    width: "minmax(10rem, 1.1fr)",
    top: true,
    render: (row) => (
      <Link to="/runs/$id" params={{ id: row.id }} className="row-link">
        {changeName(row)}
      </Link>
    )
  },
  {
    key: "title",
    label: t("column.title"),
    width: "minmax(8rem, 1.8fr)",
    render: (row) => (row.reason === undefined ? row.title : tReason(row.reason))
  },
  { key: "status", label: t("column.status"), width: "9.5rem", top: true, render: (row) => <RunStatus {...row} /> },
  {
    key: "findings",
    label: t("column.findings"),
    width: "5.5rem",
    end: true,
    wideOnly: true,
    render: (row) => row.findings ?? "–"
  },
  {
    key: "duration",
    label: t("column.duration"),
    sort: sortsByValue ? "duration" : undefined,
    width: "6.5rem",
    end: true,
    wideOnly: true,
    render: (row) => formatDuration(row.duration_ms)
  },
  {
    key: "cost",
    label: t("column.cost"),
    sort: sortsByValue ? "cost" : undefined,
    width: "5.5rem",
    end: true,
    wideOnly: true,
    render: (row) => formatUsd(row.cost_usd)
  },
  {
    key: "created",
    label: t("column.started"),
    sort: "created",
    width: "7rem",
    end: true,
    render: (row) => <Time at={row.started_at ?? row.created_at} />
  }
]

const byCreation = ["created", "-created"] as const
const sorts = [...byCreation, "duration", "-duration", "cost", "-cost"] as const

export const Runs = () => {
  const [{ number, q, repo, since, sort, status, target, trigger, until, workspace }] = useFilters()
  const sortsByValue = [number, q, repo, since, status, target, trigger, until].every((value) => value === undefined)
  const order = (sortsByValue ? sorts : byCreation).find((name) => name === sort)
  const input = {
    query: { workspace, q, status, repo, trigger, target, since, until, number: toCount(number), sort: order }
  }
  const query = usePages("GET /runs", input)
  const workspaces = useWorkspaceOptions()
  const triggers = useTriggerOptions()
  return (
    <Page
      title={t("page.runs")}
      note={t("runs.note")}
      actions={<Export endpoint="GET /runs" input={input} name="runs" />}
      fill
    >
      <FilterBar>
        <Presets
          name="status"
          items={[
            ["", t("filter.all")],
            [runningStatuses, t("filter.running")],
            [failedStatuses, t("filter.failed")]
          ]}
        />
        <TextFilter name="q" label={t("filter.search")} placeholder={t("filter.search.help")} />
        <TextFilter name="repo" label={t("column.repository")} placeholder="owner/name" />
        <TextFilter name="number" label={t("column.number")} placeholder="5" />
        <SelectFilter
          name="status"
          label={t("column.status")}
          options={runStatuses.map((name) => [name, tValue("run", name)])}
        />
        <SelectFilter name="workspace" label={t("column.workspace")} options={workspaces} />
        <SelectFilter name="trigger" label={t("column.trigger")} options={triggers} />
        <TimeFilter />
        <LinkFilter name="target" label={t("filter.target")} />
      </FilterBar>
      <List
        label={t("page.runs")}
        rows={query.items}
        columns={makeColumns(sortsByValue)}
        standardSort="-created"
        rowKey={(row) => row.id}
        query={query}
        empty={
          <Empty title={t("runs.empty")}>
            {t("runs.empty.help")} <Link to="/deliveries">{t("page.deliveries")}</Link>
          </Empty>
        }
      />
    </Page>
  )
}
