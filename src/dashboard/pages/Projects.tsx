/** Repositories with reviews: the last one of each, and sums. A project can be deleted, and restored until its grace period has ended. */
import { Link } from "@tanstack/react-router"
import { useState } from "react"
import type { Output } from "../client/Endpoints.ts"
import { useApi } from "../client/Queries.ts"
import { ActionButton } from "../parts/ActionButton.tsx"
import { Confirm } from "../parts/Dialog.tsx"
import { FilterBar, TextFilter, useFilters } from "../parts/Filters.tsx"
import { useNoticedAction } from "../parts/NoticedAction.ts"
import { Page } from "../parts/Page.tsx"
import { Empty, Loaded } from "../parts/Panel.tsx"
import { sortRows } from "../parts/SortRows.ts"
import { Status } from "../parts/Status.tsx"
import { TablePanel } from "../parts/TablePanel.tsx"
import { Time } from "../parts/Time.tsx"
import { formatRate, formatShort, formatUsd } from "../text/Format.ts"
import { t } from "../text/T.ts"

type Project = Output<"GET /stats/projects">[number]

const refreshed = ["GET /stats/projects", "GET /projects", "GET /stats"] as const

const sortValues: Readonly<Record<string, (row: Project) => string | number | null>> = {
  repository: ({ repository }) => repository,
  workspace: ({ workspace }) => workspace,
  trigger: ({ trigger }) => trigger,
  runs: ({ runs }) => runs.total,
  failed: ({ runs }) => runs.failed + runs.timeout,
  published: ({ findings }) => findings.published,
  accepted: ({ findings }) => findings.accepted_rate,
  cost: (row) => row.cost_usd,
  reviewed: (row) => row.last_run_at
}

const DeleteDialog = ({ onClose, project }: { readonly project: Project; readonly onClose: () => void }) => {
  const remove = useNoticedAction("DELETE /projects/:id", refreshed)
  const confirm = () =>
    remove.run({ params: { id: project.id } }, () => t("projects.deleted", { name: project.repository }), {
      onSettled: onClose
    })
  const title = t("projects.delete", { name: project.repository })
  return (
    <Confirm
      title={title}
      label={t("form.delete")}
      isDangerous
      isPending={remove.isPending}
      onConfirm={confirm}
      onClose={onClose}
    >
      <p>{t("projects.delete.help")}</p>
    </Confirm>
  )
}

const ProjectRow = ({ onDelete, row }: { readonly row: Project; readonly onDelete: () => void }) => {
  const restore = useNoticedAction("POST /projects/:id/restore", refreshed)
  const undo = () => restore.run({ params: { id: row.id } }, () => t("projects.restored", { name: row.repository }))
  return (
    <tr>
      <td>
        <Link to="/changes" search={{ repo: row.repository }}>
          {row.repository}
        </Link>{" "}
        {row.deleted_at === null ? null : <Status group="project" value="deleted" />}
      </td>
      <td>{row.workspace}</td>
      <td>{row.trigger}</td>
      <td className="end">
        <Link to="/runs" search={{ repo: row.repository, workspace: row.workspace }}>
          {formatShort(row.runs.total)}
        </Link>
      </td>
      <td className="end">{formatShort(row.runs.failed + row.runs.timeout)}</td>
      <td className="end">{formatShort(row.findings.published)}</td>
      <td className="end">
        <Link to="/acceptance" search={{ workspace: row.workspace, name: `${row.trigger}:${row.repository}` }}>
          {formatRate(row.findings.accepted_rate)}
          <span className="hidden"> {row.repository}</span>
        </Link>
      </td>
      <td className="end">{formatUsd(row.cost_usd)}</td>
      <td className="end">
        <Time at={row.last_run_at} />
      </td>
      <td className="end">
        {row.deleted_at === null ? (
          <ActionButton action="DELETE /projects/:id" className="small" onClick={onDelete}>
            {t("form.delete")}
            <span className="hidden"> {row.repository}</span>
          </ActionButton>
        ) : (
          <ActionButton
            action="POST /projects/:id/restore"
            className="small"
            disabled={restore.isPending}
            onClick={undo}
          >
            {t("projects.restore")}
            <span className="hidden"> {row.repository}</span>
          </ActionButton>
        )}
      </td>
    </tr>
  )
}

const Table = ({ rows }: { readonly rows: ReadonlyArray<Project> }) => {
  const [{ sort }] = useFilters()
  const [deleting, setDeleting] = useState<Project>()
  return (
    <>
      <TablePanel
        title={t("projects.count", { count: rows.length })}
        label={t("page.projects")}
        heads={[
          { sort: "repository", label: t("column.repository") },
          { sort: "workspace", label: t("column.workspace") },
          { sort: "trigger", label: t("column.trigger") },
          { sort: "runs", label: t("metric.runs"), end: true },
          { sort: "failed", label: t("metric.failed"), end: true },
          { sort: "published", label: t("metric.published"), end: true },
          { sort: "accepted", label: t("metric.accepted"), end: true },
          { sort: "cost", label: t("metric.cost"), end: true },
          { sort: "reviewed", label: t("column.reviewed"), end: true },
          { label: t("column.actions"), hidesLabel: true }
        ]}
        empty={null}
        rows={sortRows(rows, sort, sortValues).map((row) => (
          <ProjectRow key={row.id} row={row} onDelete={() => setDeleting(row)} />
        ))}
      />
      {deleting === undefined ? null : <DeleteDialog project={deleting} onClose={() => setDeleting(undefined)} />}
    </>
  )
}

export const Projects = () => {
  const [{ q = "" }] = useFilters()
  const query = useApi("GET /stats/projects", {})
  return (
    <Page title={t("page.projects")} note={t("projects.note")}>
      <FilterBar>
        <TextFilter name="q" label={t("column.repository")} placeholder="owner/name" />
      </FilterBar>
      <Loaded query={query} rows={6}>
        {(all) => {
          const wanted = q.toLowerCase()
          const rows = all.filter(({ repository, workspace }) =>
            `${workspace} ${repository}`.toLowerCase().includes(wanted)
          )
          if (rows.length === 0 && all.length > 0) return <Empty title={t("projects.unmatched")} />
          return rows.length === 0 ? (
            <Empty title={t("projects.empty")}>
              {t("projects.empty.help")} <Link to="/setup">{t("page.setup")}</Link>
            </Empty>
          ) : (
            <Table rows={rows} />
          )
        }}
      </Loaded>
    </Page>
  )
}
