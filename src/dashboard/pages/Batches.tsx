/** Batches of automatic commits. */
import { Link } from "@tanstack/react-router"
import type { Item } from "../client/Endpoints.ts"
import { useApi, usePages } from "../client/Queries.ts"
import { ActionButton } from "../parts/ActionButton.tsx"
import { Dialog } from "../parts/Dialog.tsx"
import { Facts } from "../parts/Facts.tsx"
import { FilterBar, SelectFilter, useFilters } from "../parts/Filters.tsx"
import { List } from "../parts/List.tsx"
import type { Column } from "../parts/List.tsx"
import { useNoticedAction } from "../parts/NoticedAction.ts"
import { Empty, Loaded } from "../parts/Panel.tsx"
import { changeName, Commit, RunLink, useWorkspaceOptions } from "../parts/Records.tsx"
import { Status } from "../parts/Status.tsx"
import { Time } from "../parts/Time.tsx"
import { t, tReason, tValue } from "../text/T.ts"

type BatchItem = Item<"GET /batches">

const statuses = [
  "open",
  "ready",
  "running",
  "retry_wait",
  "succeeded",
  "skipped",
  "dead",
  "expired",
  "cancelled"
] as const
const ended: ReadonlyArray<string> = ["succeeded", "skipped", "expired", "cancelled", "dead"]

const makeColumns = (open: (id: string) => void): ReadonlyArray<Column<BatchItem>> => [
  {
    key: "change",
    label: t("column.branch"),
    width: "minmax(10rem, 1.4fr)",
    top: true,
    render: (row) => (
      <button type="button" className="row-link" onClick={() => open(row.id)}>
        {changeName(row)}
      </button>
    )
  },
  {
    key: "status",
    label: t("column.status"),
    width: "9.5rem",
    top: true,
    render: (row) => <Status group="batch" value={row.status} title={row.reason && tReason(row.reason)} />
  },
  {
    key: "commits",
    label: t("column.commits"),
    width: "6rem",
    end: true,
    wideOnly: true,
    render: (row) => row.commits
  },
  { key: "workspace", label: t("column.workspace"), width: "minmax(6rem, .8fr)", render: (row) => row.workspace },
  { key: "due", label: t("column.due"), width: "8rem", end: true, render: (row) => <Time at={row.due_at} /> }
]

const BatchDialog = ({ id, onClose }: { readonly id: string; readonly onClose: () => void }) => {
  const query = useApi("GET /batches/:id", { params: { id } })
  const refreshed = ["GET /batches", "GET /batches/:id", "GET /queue"] as const
  const retry = useNoticedAction("POST /batches/:id/retry", refreshed)
  const cancel = useNoticedAction("POST /batches/:id/cancel", refreshed)
  const isPending = retry.isPending || cancel.isPending
  const run = (action: typeof retry | typeof cancel) =>
    action.run({ params: { id } }, () => t("action.done"), { onSettled: onClose })
  return (
    <Dialog title={t("queue.batch")} onClose={onClose} className="wide">
      <Loaded query={query}>
        {(batch) => (
          <>
            <Facts
              items={[
                [t("column.status"), <Status key="status" group="batch" value={batch.status} />],
                [t("field.reason"), batch.reason && tReason(batch.reason)],
                [t("column.branch"), changeName(batch)],
                [t("column.due"), <Time key="due" at={batch.due_at} />],
                [t("record.run"), <RunLink key="run" id={batch.run_id} />]
              ]}
            />
            <ul className="rows">
              {batch.members.map(({ after, commits, event_id: event, received_at: at, status }) => (
                <li key={event}>
                  <Status group="member" value={status} />
                  <div>
                    <Link to="/deliveries/$id" params={{ id: event }}>
                      {t("queue.push", { count: commits })}
                    </Link>{" "}
                    <Commit id={after} />
                  </div>
                  <Time at={at} />
                </li>
              ))}
            </ul>
            <footer className="actions">
              {batch.status === "dead" ? (
                <ActionButton action="POST /batches/:id/retry" disabled={isPending} onClick={() => run(retry)}>
                  {t("action.again")}
                </ActionButton>
              ) : null}
              {ended.includes(batch.status) ? null : (
                <ActionButton
                  action="POST /batches/:id/cancel"
                  className="danger"
                  disabled={isPending}
                  onClick={() => run(cancel)}
                >
                  {t("queue.batch.cancel")}
                </ActionButton>
              )}
            </footer>
          </>
        )}
      </Loaded>
    </Dialog>
  )
}

export const Batches = () => {
  const [{ batch: open, status, workspace }, setFilters] = useFilters()
  const setOpen = (batch: string | undefined) => setFilters({ batch })
  const query = usePages("GET /batches", { query: { workspace, status: statuses.find((name) => name === status) } })
  const workspaces = useWorkspaceOptions()
  return (
    <>
      <FilterBar>
        <SelectFilter
          name="status"
          label={t("column.status")}
          options={statuses.map((name) => [name, tValue("batch", name)])}
        />
        <SelectFilter name="workspace" label={t("column.workspace")} options={workspaces} />
      </FilterBar>
      <List
        label={t("queue.batches")}
        rows={query.items}
        columns={makeColumns(setOpen)}
        rowKey={(row) => row.id}
        query={query}
        empty={<Empty title={t("queue.batches.empty")}>{t("queue.batches.help")}</Empty>}
      />
      {open === undefined ? null : <BatchDialog id={open} onClose={() => setOpen(undefined)} />}
    </>
  )
}
