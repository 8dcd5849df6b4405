/** What waits and runs, with the reason of each wait; paused workspaces and nodes; batches of automatic commits. */
import { Link } from "@tanstack/react-router"
import type { Item } from "../client/Endpoints.ts"
import { usePages } from "../client/Queries.ts"
import { FilterBar, Presets, SelectFilter, TextFilter, useFilters } from "../parts/Filters.tsx"
import { List } from "../parts/List.tsx"
import type { Column } from "../parts/List.tsx"
import { Page } from "../parts/Page.tsx"
import { Empty } from "../parts/Panel.tsx"
import { changeName, useWorkspaceOptions } from "../parts/Records.tsx"
import { Shape, Status } from "../parts/Status.tsx"
import { Time } from "../parts/Time.tsx"
import { TimeFilter } from "../parts/TimeFilter.tsx"
import { formatCount } from "../text/Format.ts"
import { t, tReason, tValue } from "../text/T.ts"
import { Batches } from "./Batches.tsx"
import { BulkBar } from "./QueueActions.tsx"
import { QueueCauses } from "./QueueCauses.tsx"
import { Pauses } from "./QueuePauses.tsx"

type Entry = Item<"GET /queue">

const statuses = ["waiting", "ready", "running", "dead", "done", "superseded", "cancelled", "expired"] as const

interface Selection {
  readonly ids: ReadonlySet<string>
  readonly toggle: (id: string) => void
}

/** When a wait ends, which a narrow column must not cut off, and its reason. */
const Why = ({ row }: { readonly row: Entry }) => {
  const until = row.status === "running" ? undefined : row.until
  const startsAfter = row.status === "running" || row.starts_after === until ? undefined : row.starts_after
  const why = tReason(row.why)
  return (
    <span title={why}>
      {row.position === undefined ? null : <strong>{t("queue.position", { position: row.position })} </strong>}
      {until === undefined ? null : (
        <>
          <Time at={until} />
          {" · "}
        </>
      )}
      {startsAfter === undefined ? null : (
        <>
          {t("queue.startsAfter")} <Time at={startsAfter} />
          {" · "}
        </>
      )}
      {why}
    </span>
  )
}

const makeColumns = ({ ids, toggle }: Selection): ReadonlyArray<Column<Entry>> => [
  {
    key: "select",
    label: t("action.select"),
    hidesLabel: true,
    width: "1.75rem",
    wideOnly: true,
    render: (row) => (
      <input
        type="checkbox"
        aria-label={t("queue.select", { name: changeName(row) })}
        checked={ids.has(row.id)}
        onChange={() => toggle(row.id)}
      />
    )
  },
  {
    key: "change",
    label: t("column.change"),
    width: "minmax(10rem, 1.2fr)",
    top: true,
    render: (row) => (
      <Link to="/runs" search={{ target: row.target_key }} className="row-link">
        {changeName(row)}
      </Link>
    )
  },
  {
    key: "status",
    label: t("column.status"),
    width: "8.5rem",
    top: true,
    render: (row) => <Status group="entry" value={row.status} />
  },
  {
    key: "why",
    label: t("queue.why"),
    width: "minmax(12rem, 2.4fr)",
    render: (row) => <Why row={row} />
  },
  {
    key: "workspace",
    label: t("column.workspace"),
    width: "minmax(6rem, .8fr)",
    wideOnly: true,
    render: (row) => row.workspace
  },
  {
    key: "attempts",
    label: t("column.attempts"),
    width: "5rem",
    end: true,
    wideOnly: true,
    render: (row) => row.attempts
  },
  {
    key: "admitted",
    label: t("column.admitted"),
    sort: "admitted",
    width: "7rem",
    end: true,
    render: (row) => <Time at={row.admitted_at} />
  }
]

const Counts = ({ counts }: { readonly counts: Readonly<Record<string, number>> }) => (
  <p className="counts">
    {statuses
      .filter((status) => (counts[status] ?? 0) > 0)
      .map((status) => (
        <Link key={status} to="/queue" search={{ status }}>
          {tValue("entry", status)} <strong>{formatCount(counts[status] ?? 0)}</strong>
        </Link>
      ))}
  </p>
)

/** The selection is part of the address. A request changes 200 entries at most. */
const maxSelected = 100

const Entries = () => {
  const [{ q, selected: given, since, sort, status, until, workspace }, setFilters] = useFilters()
  const ids = new Set(given?.split(","))
  const query = usePages("GET /queue", {
    query: { workspace, q, since, until, status, sort: sort === "-admitted" ? sort : undefined }
  })
  const isPart = [q, since, until].some((value) => value !== undefined)
  const workspaces = useWorkspaceOptions()
  const select = (next: ReadonlyArray<string>) => setFilters({ selected: next.slice(-maxSelected).join(",") })
  const toggle = (id: string) => select(ids.has(id) ? [...ids].filter((other) => other !== id) : [...ids, id])
  const selected = query.items.filter(({ id }) => ids.has(id))
  return (
    <>
      <Pauses pauses={query.first?.pauses ?? []} workspaces={workspaces.map(([name]) => name)} />
      <QueueCauses workspace={workspace} />
      <FilterBar>
        <Presets
          name="status"
          items={[
            ["", t("queue.current")],
            ["dead", t("entry.dead")],
            ["all", t("filter.all")]
          ]}
        />
        <TextFilter name="q" label={t("filter.search")} placeholder={t("filter.search.help")} />
        <SelectFilter
          name="status"
          label={t("column.status")}
          all={t("queue.current")}
          options={statuses.map((name) => [name, tValue("entry", name)])}
        />
        <SelectFilter name="workspace" label={t("column.workspace")} options={workspaces} />
        <TimeFilter />
      </FilterBar>
      <BulkBar
        entries={query.items}
        selected={selected}
        workspace={workspace}
        status={status}
        // Actions on all entries know neither words nor times.
        counts={isPart ? {} : (query.first?.by_status ?? {})}
        onDone={() => select([])}
      />
      {query.first === undefined ? null : <Counts counts={query.first.by_status} />}
      {query.first?.held_batches.length === 0 || query.first === undefined ? null : (
        <p className="quiet step-line">
          <Shape tone="wait" /> {t("queue.held", { count: query.first.held_batches.length })}
        </p>
      )}
      <List
        label={t("page.queue")}
        rows={query.items}
        columns={makeColumns({ ids, toggle })}
        standardSort="admitted"
        rowKey={(row) => row.id}
        query={query}
        empty={
          <Empty title={t("queue.empty")}>
            {t("queue.empty.help")} <Link to="/runs">{t("page.runs")}</Link>
          </Empty>
        }
      />
    </>
  )
}

export const Queue = () => {
  const [{ tab }, setFilters] = useFilters()
  const isBatches = tab === "batches"
  return (
    <Page
      title={t("page.queue")}
      fill
      actions={
        <div className="presets" role="group" aria-label={t("page.queue")}>
          <button
            type="button"
            aria-pressed={!isBatches}
            onClick={() => setFilters({ tab: undefined, status: undefined })}
          >
            {t("queue.entries")}
          </button>
          <button
            type="button"
            aria-pressed={isBatches}
            onClick={() => setFilters({ tab: "batches", status: undefined })}
          >
            {t("queue.batches")}
          </button>
        </div>
      }
    >
      {isBatches ? <Batches /> : <Entries />}
    </Page>
  )
}
