/** Published revisions, what each node has made of the newest one, and drafts. */
import { Link } from "@tanstack/react-router"
import { useState } from "react"
import { useApi, usePages } from "../client/Queries.ts"
import { useRefusals } from "../client/Rights.ts"
import { ActionButton } from "../parts/ActionButton.tsx"
import { Confirm } from "../parts/Dialog.tsx"
import { useNoticedAction } from "../parts/NoticedAction.ts"
import { Empty, Failure, Loaded, Panel } from "../parts/Panel.tsx"
import { Status } from "../parts/Status.tsx"
import { Time } from "../parts/Time.tsx"
import { t, tReason } from "../text/T.ts"
import { changed, Drafts } from "./Drafts.tsx"
import { Credentials } from "./EditPreview.tsx"
import { makeOperationId } from "./OperationId.ts"

const Nodes = () => {
  const query = useApi("GET /config/status", {})
  return (
    <Loaded query={query}>
      {({ converged, head, nodes }) => (
        <Panel
          title={t("revisions.nodes")}
          note={converged ? t("revisions.converged", { number: head }) : t("revisions.diverged", { number: head })}
          flush
        >
          <ul className="rows">
            {nodes.map(({ active, node, problems, reported_at: at, state }) => (
              <li key={node}>
                <Status group="activation" value={state} />
                <div>
                  <strong>{node}</strong> <span className="quiet">{t("revisions.active", { number: active })}</span>
                  {problems.map((problem, index) => (
                    <p key={index} className="error-text">
                      {tReason(problem)}
                    </p>
                  ))}
                </div>
                <Time at={at} />
              </li>
            ))}
          </ul>
        </Panel>
      )}
    </Loaded>
  )
}

const Restore = ({ number, onClose }: { readonly number: number; readonly onClose: () => void }) => {
  const [operationId] = useState(makeOperationId)
  const preview = useApi("POST /config/revisions/:number/preview-restore", { params: { number } })
  const restore = useNoticedAction("POST /config/revisions/:number/restore", changed)
  const confirm = () =>
    restore.run(
      { params: { number }, payload: { operation_id: operationId } },
      () => t("revisions.restored", { number }),
      { onSettled: onClose }
    )
  return (
    <Confirm
      title={t("revisions.restore", { number })}
      label={t("revisions.restore", { number })}
      isPending={restore.isPending}
      isDisabled={preview.data?.valid !== true}
      onConfirm={confirm}
      onClose={onClose}
    >
      <p>{t("revisions.restore.help")}</p>
      {preview.error === null ? null : <Failure error={preview.error} />}
      <ul className="preview">
        {(preview.data?.diff ?? []).map(({ path }) => (
          <li key={path} className="mono">
            {path}
          </li>
        ))}
      </ul>
      {preview.data === undefined ? null : <Credentials credentials={preview.data.credentials} />}
    </Confirm>
  )
}

export const Revisions = () => {
  const [restored, setRestored] = useState<number>()
  const query = usePages("GET /config/revisions", {})
  const refusals = useRefusals()
  return (
    <div className="stack">
      <Nodes />
      {refusals("GET /config/drafts") === undefined ? <Drafts /> : null}
      <Panel title={t("revisions.title")} flush>
        <Loaded
          query={{
            data: query.data === undefined ? undefined : query.items,
            error: query.error,
            refetch: query.refetch
          }}
        >
          {(items) =>
            items.length === 0 ? (
              <Empty title={t("revisions.empty")}>{t("revisions.empty.help")}</Empty>
            ) : (
              <ul className="rows">
                {items.map(({ actor, changes, created_at: at, number, reason }) => (
                  <li key={number}>
                    <Link to="/configuration/revisions/$number" params={{ number: String(number) }}>
                      {t("revisions.number", { number })}
                    </Link>
                    <div>
                      <strong>{actor}</strong>{" "}
                      <span className="quiet">{t("revisions.changes", { count: changes })}</span> {reason}{" "}
                      {number === items[0]?.number ? null : (
                        <ActionButton
                          action="POST /config/revisions/:number/restore"
                          className="small"
                          onClick={() => setRestored(number)}
                        >
                          {t("revisions.restore", { number })}
                        </ActionButton>
                      )}
                    </div>
                    <Time at={at} />
                  </li>
                ))}
              </ul>
            )
          }
        </Loaded>
        {query.hasNextPage ? (
          <button type="button" className="ghost" onClick={() => void query.fetchNextPage()}>
            {t("revisions.more")}
          </button>
        ) : null}
      </Panel>
      {restored === undefined ? null : <Restore number={restored} onClose={() => setRestored(undefined)} />}
    </div>
  )
}
