/** Lists drafts: who wrote them, and what can be done with them. */
import { Link } from "@tanstack/react-router"
import { useState } from "react"
import type { Endpoint } from "../client/Endpoints.ts"
import { useApi } from "../client/Queries.ts"
import { ActionButton } from "../parts/ActionButton.tsx"
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

interface DecideProps {
  readonly draft: Draft
  readonly onClose: () => void
}

const Remove = ({ draft: { id, title, version }, onClose }: DecideProps) => {
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

interface DecisionProps {
  readonly draft: Draft
  readonly label: string
  readonly help: string
  readonly isPending: boolean
  readonly onConfirm: () => void
  readonly onClose: () => void
}

/** Shows what a draft changes before it is approved or published. */
const Decision = ({ draft: { id, title }, help, label, ...dialog }: DecisionProps) => {
  // The service compares the version: what is confirmed is what is read now.
  const preview = useApi("POST /config/drafts/:id/preview", { params: { id } }, { staleTime: 0 })
  return (
    <Confirm
      {...dialog}
      title={`${label}: ${title}`}
      label={label}
      isDisabled={preview.isFetching || preview.data?.valid !== true}
    >
      <p>{help}</p>
      {preview.error === null ? null : <Failure error={preview.error} />}
      {preview.data === undefined ? null : <EditPreview preview={preview.data} />}
    </Confirm>
  )
}

const Approve = ({ draft, onClose }: DecideProps) => {
  const { id, version } = draft
  const approve = useNoticedAction("POST /config/drafts/:id/approve", changed)
  return (
    <Decision
      draft={draft}
      label={t("revisions.approve")}
      help={t("draft.approve.help")}
      isPending={approve.isPending}
      onConfirm={() =>
        approve.run({ params: { id }, payload: { version } }, () => t("action.done"), { onSettled: onClose })
      }
      onClose={onClose}
    />
  )
}

const Publish = ({ draft, onClose }: DecideProps) => {
  const { id, version } = draft
  const [operation_id] = useState(makeOperationId)
  const publish = useNoticedAction("POST /config/drafts/:id/publish", changed)
  return (
    <Decision
      draft={draft}
      label={t("edit.publish")}
      help={t("draft.publish.help")}
      isPending={publish.isPending}
      onConfirm={() =>
        publish.run({ params: { id }, payload: { version, operation_id } }, () => t("action.done"), {
          onSettled: onClose
        })
      }
      onClose={onClose}
    />
  )
}

const dialogs = { approve: Approve, publish: Publish, remove: Remove }

const DraftRow = ({ draft }: { readonly draft: Draft }) => {
  const { editors, owner } = draft
  const [opened, setOpened] = useState<keyof typeof dialogs>()
  const Opened = opened === undefined ? undefined : dialogs[opened]
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
          <ActionButton action="POST /config/drafts/:id/publish" className="small" onClick={() => setOpened("publish")}>
            {t("edit.publish")}
            {label}
          </ActionButton>
          <ActionButton action="POST /config/drafts/:id/approve" className="small" onClick={() => setOpened("approve")}>
            {t("revisions.approve")}
            {label}
          </ActionButton>
          <ActionButton action="DELETE /config/drafts/:id" className="small danger" onClick={() => setOpened("remove")}>
            {t("revisions.remove")}
            {label}
          </ActionButton>
        </div>
      </div>
      <Time at={draft.updated_at} />
      {Opened === undefined ? null : <Opened draft={draft} onClose={() => setOpened(undefined)} />}
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
