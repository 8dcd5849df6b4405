/** Nodes with their roles and versions; draining a node before it is stopped. */
import { Link } from "@tanstack/react-router"
import { useState } from "react"
import type { Item } from "../client/Endpoints.ts"
import { useApi } from "../client/Queries.ts"
import { ActionButton } from "../parts/ActionButton.tsx"
import { Confirm } from "../parts/Dialog.tsx"
import { useNoticedAction } from "../parts/NoticedAction.ts"
import { Page } from "../parts/Page.tsx"
import { Empty, Loaded } from "../parts/Panel.tsx"
import { Status } from "../parts/Status.tsx"
import { Time } from "../parts/Time.tsx"
import { TablePanel } from "../parts/TablePanel.tsx"
import { formatCount } from "../text/Format.ts"
import { formatDuration } from "../text/FormatDuration.ts"
import { t, tReason } from "../text/T.ts"
import "../text/PagedTexts.ts"

type NodeItem = Item<"GET /nodes">

const DrainDialog = ({ node, onClose }: { readonly node: string; readonly onClose: () => void }) => {
  const drain = useNoticedAction("POST /queue/drain", ["GET /queue", "GET /nodes"])
  const confirm = () =>
    drain.run(
      { payload: { node } },
      ({ running, status }) =>
        status === "drained" ? t("nodes.drained", { node }) : t("nodes.draining", { node, count: running }),
      { onSettled: onClose }
    )
  return (
    <Confirm
      title={t("nodes.drain")}
      label={t("nodes.drain")}
      isPending={drain.isPending}
      onConfirm={confirm}
      onClose={onClose}
    >
      <p>{t("nodes.drain.help", { node })}</p>
    </Confirm>
  )
}

/** Returns the file with the line of its first error, or the revision. */
export const describeRefused = ({ line, name, source }: NodeItem["refused"][number]): string =>
  source === "revision" ? t("revisions.number", { number: name }) : line === undefined ? name : `${name}:${line}`

const formatMebibytes = (bytes: number): string => `${formatCount(Math.round(bytes / 1024 / 1024))} MiB`

/** The last error of a node, with the run that has its details. */
const NodeError = ({ node: { last_error: error } }: { readonly node: NodeItem }) =>
  error === undefined ? null : (
    <p className="quiet">
      {t("nodes.error")} <Time at={error.at} />{" "}
      {error.run_id === undefined ? (
        error.message
      ) : (
        <Link to="/runs/$id" params={{ id: error.run_id }}>
          {error.message}
        </Link>
      )}
    </p>
  )

const NodeRow = ({
  isPaused,
  node,
  onDrain
}: {
  readonly node: NodeItem
  readonly isPaused: boolean
  readonly onDrain: () => void
}) => {
  const resume = useNoticedAction("POST /queue/resume", ["GET /queue", "GET /nodes"])
  const start = () => resume.run({ payload: { node: node.name } }, () => t("queue.resumed", { name: node.name }))
  const version = (name: NodeItem["differs"][number], value: string) => (
    <>
      <span className="mono">{value}</span>
      {node.differs.includes(name) ? <p className="quiet">{t("nodes.differs")}</p> : null}
    </>
  )
  return (
    <tr>
      <td>
        <strong>{node.name}</strong>
      </td>
      <td>
        <Status group="node" value={isPaused ? "paused" : "active"} />
        {node.refused.map((one) => (
          <p key={`${one.source} ${one.name}`} className="error-text">
            {t("nodes.refused", { name: describeRefused(one), count: one.errors })}
          </p>
        ))}
        <NodeError node={node} />
      </td>
      <td>{node.roles.join(", ")}</td>
      <td>{version("version", node.version)}</td>
      <td>{version("configuration", node.configuration)}</td>
      <td className="end">
        {node.slots === undefined || node.slots === 0
          ? "–"
          : t("nodes.slots.value", { used: node.running, total: node.slots })}
      </td>
      <td className="end">{node.memory_bytes === undefined ? "–" : formatMebibytes(node.memory_bytes)}</td>
      <td className="end" title={t("nodes.lag.help")}>
        {node.lag_millis === undefined ? "–" : formatDuration(node.lag_millis)}
      </td>
      <td className="end">{node.actors ?? "–"}</td>
      <td className="end">
        <Time at={node.started_at} />
      </td>
      <td className="end">
        {isPaused ? (
          <ActionButton action="POST /queue/resume" className="small" onClick={start} disabled={resume.isPending}>
            {t("queue.resume")}
          </ActionButton>
        ) : (
          <ActionButton action="POST /queue/drain" className="small" onClick={onDrain}>
            {t("nodes.drain")}
          </ActionButton>
        )}
      </td>
    </tr>
  )
}

export const Nodes = () => {
  const query = useApi("GET /nodes", {}, { refetchInterval: 10_000 })
  const queue = useApi("GET /queue", {})
  const [drained, setDrained] = useState<string>()
  const paused = (queue.data?.pauses ?? []).filter(({ scope }) => scope === "node").map(({ name }) => name)
  return (
    <Page title={t("page.nodes")} note={t("nodes.note")}>
      <Loaded query={query}>
        {({ items, warnings }) => (
          <TablePanel
            title={t("nodes.count", { count: items.length })}
            label={t("page.nodes")}
            note={warnings.length === 0 ? undefined : warnings.map(tReason).join(". ")}
            heads={[
              { label: t("column.node") },
              { label: t("column.status") },
              { label: t("column.roles") },
              { label: t("column.version") },
              { label: t("column.configuration") },
              { label: t("nodes.slots"), end: true },
              { label: t("nodes.memory"), end: true },
              { label: t("nodes.lag"), end: true },
              { label: t("column.actors"), end: true },
              { label: t("column.started"), end: true },
              { label: t("column.actions"), hidesLabel: true }
            ]}
            empty={<Empty title={t("nodes.empty")} />}
            rows={items.map((node) => (
              <NodeRow
                key={node.name}
                node={node}
                isPaused={paused.includes(node.name)}
                onDrain={() => setDrained(node.name)}
              />
            ))}
          />
        )}
      </Loaded>
      {drained === undefined ? null : <DrainDialog node={drained} onClose={() => setDrained(undefined)} />}
    </Page>
  )
}
