/** Lists drafts: who wrote them, and what can be done with them. */
import { Link } from "@tanstack/react-router"
import { useState } from "react"
import type { Endpoint } from "../client/Endpoints.ts"
import { useApi } from "../client/Queries.ts"
import { Confirm } from "../parts/Dialog.tsx"
import { useNoticedAction } from "../parts/NoticedAction.ts"
import { Failure, Loaded, Panel } from "../parts/Panel.tsx"
import { Time } from "../parts/Time.tsx"
import { t } from "../text/T.ts"
import type { Draft } from "./Autosave.ts"
import { readOperations } from "./CheckEdit.ts"
import { EditPreview } from "./EditPreview.tsx"
import { formEntity } from "./LoadDraft.ts"
import { makeOperationId } from "./OperationId.ts"

/** Endpoints that a published or changed draft changes. */
export const changed: ReadonlyArray<Endpoint> = [
  "GET /config/drafts",
  "GET /config/revisions",
  "GET /config/status",
  "GET /config",
  "GET /config/export"
]

/** Returns the address of the editor in which a draft was written. */
const editorOf = (draft: Draft) => {
  const entity = formEntity(draft)
  if (entity === undefined) return { tab: "edit", draft: draft.id }
  const isNew = readOperations(draft).some(({ op }) => op === "create")
  return { tab: "forms", draft: draft.id, kind: entity.kind, ...(isNew ? { new: "1" } : { name: entity.name }) }
}

const Remove = ({
  draft: { id, title, version },
  onClose
}: {
  readonly draft: Draft
  readonly onClose: () => void
}) => {
  const remove = useNoticedAction("DELETE /config/drafts/:id", changed)
  return (
    <Confirm
      title={t("draft.delete")}
      label={t("draft.delete")}
      isDangerous
      isPending={remove.isPending}
      onConfirm={() =>
        remove.run({ params: { id }, query: { version } }, () => t("action.done"), { onSettled: onClose })
      }
      onClose={onClose}
    >
      <p>
        <strong>{title}</strong> {t("draft.delete.help")}
      </p>
    </Confirm>
  )
}

/** Approves a draft after showing what it changes. */
const Approve = ({ draft, onClose }: { readonly draft: Draft; readonly onClose: () => void }) => {
  const { id, title, version } = draft
  // The service compares the version: what is approved is what is read now.
  const preview = useApi("POST /config/drafts/:id/preview", { params: { id } }, { staleTime: 0 })
  const approve = useNoticedAction("POST /config/drafts/:id/approve", changed)
  return (
    <Confirm
      title={`${t("revisions.approve")}: ${title}`}
      label={t("revisions.approve")}
      isPending={approve.isPending}
      isDisabled={preview.isFetching || preview.data?.valid !== true}
      onConfirm={() =>
        approve.run({ params: { id }, payload: { version } }, () => t("action.done"), { onSettled: onClose })
      }
      onClose={onClose}
    >
      <p>{t("draft.approve.help")}</p>
      {preview.error === null ? null : <Failure error={preview.error} />}
      {preview.data === undefined ? null : <EditPreview preview={preview.data} />}
    </Confirm>
  )
}

const DraftRow = ({ draft }: { readonly draft: Draft }) => {
  const { editors, id, owner, version } = draft
  const [isRemoving, setRemoving] = useState(false)
  const [isApproving, setApproving] = useState(false)
  const done = () => t("action.done")
  const publish = useNoticedAction("POST /config/drafts/:id/publish", changed)
  const others = editors.filter((name) => name !== owner)
  const label = <span className="hidden"> {draft.title}</span>
  return (
    <li>
      <span>{t("revisions.approvals", { count: draft.approvals.length })}</span>
      <div>
        <strong>{draft.title}</strong>{" "}
        <span className="quiet">
          {owner} {others.length === 0 ? null : t("draft.editors", { names: others.join(", ") })}
        </span>
        <div className="actions">
          <Link className="button small" to="/configuration" search={editorOf(draft)}>
            {t("draft.continue")}
            {label}
          </Link>
          <button
            type="button"
            className="small"
            disabled={publish.isPending}
            onClick={() => publish.run({ params: { id }, payload: { version, operation_id: makeOperationId() } }, done)}
          >
            {t("edit.publish")}
            {label}
          </button>
          <button type="button" className="small" onClick={() => setApproving(true)}>
            {t("revisions.approve")}
            {label}
          </button>
          <button type="button" className="small danger" onClick={() => setRemoving(true)}>
            {t("revisions.remove")}
            {label}
          </button>
        </div>
      </div>
      <Time at={draft.updated_at} />
      {isApproving ? <Approve draft={draft} onClose={() => setApproving(false)} /> : null}
      {isRemoving ? <Remove draft={draft} onClose={() => setRemoving(false)} /> : null}
    </li>
  )
}

export const Drafts = () => {
  const query = useApi("GET /config/drafts", {})
  return (
    <Loaded query={query}>
      {({ items }) =>
        items.length === 0 ? null : (
          <Panel title={t("revisions.drafts")} note={t("draft.note")} flush>
            <ul className="rows">
              {items.map((draft) => (
                <DraftRow key={draft.id} draft={draft} />
              ))}
            </ul>
          </Panel>
        )
      }
    </Loaded>
  )
}
