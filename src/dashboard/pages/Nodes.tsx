/** Nodes with their roles and versions; draining a node before it is stopped. */
import { useState } from "react"
import type { Item } from "../client/Endpoints.ts"
import { useAction, useApi } from "../client/Queries.ts"
import { Confirm } from "../parts/Dialog.tsx"
import { notify, notifyError } from "../parts/Notices.tsx"
import { Page } from "../parts/Page.tsx"
import { Empty, Loaded, Panel } from "../parts/Panel.tsx"
import { Status } from "../parts/Status.tsx"
import { Time } from "../parts/Time.tsx"
import { Scroll } from "../parts/Scroll.tsx"
import { t } from "../text/T.ts"

type NodeItem = Item<"GET /nodes">

const DrainDialog = ({ node, onClose }: { readonly node: string; readonly onClose: () => void }) => {
  const drain = useAction("POST /queue/drain", ["GET /queue", "GET /nodes"])
  const confirm = () =>
    drain.mutate(
      { payload: { node } },
      {
        onError: notifyError,
        onSuccess: ({ running, status }) =>
          notify(
            "good",
            status === "drained" ? t("nodes.drained", { node }) : t("nodes.draining", { node, count: running })
          ),
        onSettled: onClose
      }
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

const NodeRow = ({
  isPaused,
  node,
  onDrain
}: {
  readonly node: NodeItem
  readonly isPaused: boolean
  readonly onDrain: () => void
}) => {
  const resume = useAction("POST /queue/resume", ["GET /queue", "GET /nodes"])
  const start = () =>
    resume.mutate(
      { payload: { node: node.name } },
      { onError: notifyError, onSuccess: () => notify("good", t("queue.resumed", { name: node.name })) }
    )
  return (
    <tr>
      <td>
        <strong>{node.name}</strong>
      </td>
      <td>{isPaused ? <Status group="node" value="paused" /> : <Status group="node" value="active" />}</td>
      <td>{node.roles.join(", ")}</td>
      <td className="mono">{node.version}</td>
      <td className="mono">{node.configuration}</td>
      <td className="end">{node.actors ?? "–"}</td>
      <td className="end">
        <Time at={node.started_at} />
      </td>
      <td className="end">
        {isPaused ? (
          <button type="button" className="small" onClick={start} disabled={resume.isPending}>
            {t("queue.resume")}
          </button>
        ) : (
          <button type="button" className="small" onClick={onDrain}>
            {t("nodes.drain")}
          </button>
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
        {({ items }) => {
          const versions = new Set(items.map(({ version }) => version))
          const configurations = new Set(items.map(({ configuration }) => configuration))
          const differences = [
            ...(versions.size > 1 ? [t("nodes.versions", { versions: [...versions].join(", ") })] : []),
            ...(configurations.size > 1 ? [t("nodes.configurations")] : [])
          ]
          return (
            <Panel
              title={t("nodes.count", { count: items.length })}
              flush
              note={differences.length === 0 ? undefined : differences.join(". ")}
            >
              {items.length === 0 ? (
                <Empty title={t("nodes.empty")} />
              ) : (
                <Scroll label={t("page.nodes")}>
                  <table>
                    <thead>
                      <tr>
                        <th>{t("column.node")}</th>
                        <th>{t("column.status")}</th>
                        <th>{t("column.roles")}</th>
                        <th>{t("column.version")}</th>
                        <th>{t("column.configuration")}</th>
                        <th className="end">{t("column.actors")}</th>
                        <th className="end">{t("column.started")}</th>
                        <th>
                          <span className="hidden">{t("column.actions")}</span>
                        </th>
                      </tr>
                    </thead>
                    <tbody>
                      {items.map((node) => (
                        <NodeRow
                          key={node.name}
                          node={node}
                          isPaused={paused.includes(node.name)}
                          onDrain={() => setDrained(node.name)}
                        />
                      ))}
                    </tbody>
                  </table>
                </Scroll>
              )}
            </Panel>
          )
        }}
      </Loaded>
      {drained === undefined ? null : <DrainDialog node={drained} onClose={() => setDrained(undefined)} />}
    </Page>
  )
}
