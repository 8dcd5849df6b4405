/** The end of an edit: what it would do, the choice between values that collide, and its publication or its draft. */
import { useState } from "react"
import { call } from "../client/Call.ts"
import { ActionButton } from "../parts/ActionButton.tsx"
import { notify } from "../parts/Notices.tsx"
import { Failure, Panel } from "../parts/Panel.tsx"
import { t } from "../text/T.ts"
import { conflictsIn, refreshConfiguration } from "./CheckEdit.ts"
import type { CheckedEdit } from "./CheckEdit.ts"
import { ChooseValues } from "./ChooseValues.tsx"
import { EditPreview } from "./EditPreview.tsx"
import { containsMask } from "./FieldValues.ts"
import { RoutePreview } from "./RoutePreview.tsx"

interface Props {
  readonly checked: CheckedEdit
  readonly onChecked: (checked: CheckedEdit) => void
  readonly onDone: () => void
}

const Form = ({ checked, onChecked, onDone }: Props) => {
  const [reason, setReason] = useState("")
  const [failure, setFailure] = useState<unknown>()
  const [isPending, setPending] = useState(false)
  const { draft, edit, operationId, preview } = checked
  const run = async (action: () => Promise<string>) => {
    setPending(true)
    setFailure(undefined)
    try {
      notify("good", await action())
      await refreshConfiguration()
      onDone()
    } catch (error) {
      setFailure(error)
      setPending(false)
    }
  }
  const publish = async () => {
    const publication = { operation_id: operationId, ...(reason === "" ? undefined : { reason }) }
    const result =
      draft === undefined
        ? await call("POST /config/changesets", { payload: { ...edit, ...publication } })
        : await call("POST /config/drafts/:id/publish", {
            params: { id: draft.id },
            payload: { ...publication, version: draft.version }
          })
    return "revision" in result ? t("edit.published", { number: result.revision.number }) : t("edit.nothing")
  }
  const saveDraft = async () => {
    await call("POST /config/drafts", {
      payload: { ...edit, title: reason === "" ? t("edit.draft.untitled") : reason }
    })
    return t("edit.draft.saved")
  }
  return (
    <>
      <ChooseValues conflicts={conflictsIn(failure)} checked={checked} onResolved={onChecked} />
      <Panel title={t("edit.publish")}>
        <label className="field">
          <span>{t("field.reason")}</span>
          <input value={reason} maxLength={500} onChange={(event) => setReason(event.target.value)} />
        </label>
        {failure === undefined ? null : <Failure error={failure} />}
        <div className="actions">
          <ActionButton
            action="POST /config/changesets"
            className="primary"
            disabled={isPending || !preview.valid}
            onClick={() => void run(publish)}
          >
            {t("edit.publish")}
          </ActionButton>
          {draft === undefined ? (
            <ActionButton action="POST /config/drafts" disabled={isPending} onClick={() => void run(saveDraft)}>
              {t("edit.draft.save")}
            </ActionButton>
          ) : null}
        </div>
      </Panel>
    </>
  )
}

export const PublishEdit = (props: Props) => (
  <>
    <ChooseValues conflicts={props.checked.preview.conflicts} checked={props.checked} onResolved={props.onChecked} />
    <EditPreview preview={props.checked.preview} />
    {containsMask(props.checked.edit.operations) ? null : <RoutePreview edit={props.checked.edit} />}
    <Form key={props.checked.operationId} {...props} />
  </>
)
