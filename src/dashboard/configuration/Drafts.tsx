/** Lists drafts: who wrote them, and what can be done with them. */
import { Link } from "@tanstack/react-router"
import { useState } from "react"
import type { Endpoint } from "../client/Endpoints.ts"
import { useApi } from "../client/Queries.ts"
import { Confirm } from "../parts/Dialog.tsx"
import { useNoticedAction } from "../parts/NoticedAction.ts"
import { Loaded, Panel } from "../parts/Panel.tsx"
import { Time } from "../parts/Time.tsx"
import { t } from "../text/T.ts"
import type { Draft } from "./Autosave.ts"
import { readOperations } from "./CheckEdit.ts"
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

const DraftRow = ({ draft }: { readonly draft: Draft }) => {
  const { editors, id, owner, version } = draft
  const [isRemoving, setRemoving] = useState(false)
  const done = () => t("action.done")
  const publish = useNoticedAction("POST /config/drafts/:id/publish", changed)
  const approve = useNoticedAction("POST /config/drafts/:id/approve", changed)
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
          <button
            type="button"
            className="small"
            onClick={() => approve.run({ params: { id }, payload: { version } }, done)}
          >
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
