/** Discards an edit: after a confirmation if it is stored as a draft, which is deleted too. */
import { useState } from "react"
import { call } from "../client/Call.ts"
import { Problem } from "../client/Problem.ts"
import { Confirm } from "../parts/Dialog.tsx"
import { notifyError } from "../parts/Notices.tsx"
import { t } from "../text/T.ts"
import type { Autosave, Stored } from "./Autosave.ts"
import { refreshConfiguration } from "./CheckEdit.ts"

interface Props {
  readonly autosave: Autosave
  readonly stored: Stored
  readonly isDisabled: boolean
  readonly onDiscard: () => void
}

export const DiscardDraft = ({ autosave, isDisabled, onDiscard, stored }: Props) => {
  const [isAsking, setAsking] = useState(false)
  const [isPending, setPending] = useState(false)
  const discard = async () => {
    setPending(true)
    try {
      await autosave.stop()
      const { draft } = autosave.stored
      if (draft !== undefined)
        await call("DELETE /config/drafts/:id", { params: { id: draft.id }, query: { version: draft.version } })
      await refreshConfiguration()
      onDiscard()
    } catch (error) {
      if (error instanceof Problem && error.code === "draft_not_found") onDiscard()
      else notifyError(error)
    }
    setPending(false)
    setAsking(false)
  }
  return (
    <>
      <button
        type="button"
        disabled={isDisabled && stored.draft === undefined}
        onClick={() => (stored.draft === undefined ? void discard() : setAsking(true))}
      >
        {t("edit.discard")}
      </button>
      {isAsking ? (
        <Confirm
          title={t("draft.delete")}
          label={t("draft.delete")}
          isDangerous
          isPending={isPending}
          onConfirm={() => void discard()}
          onClose={() => setAsking(false)}
        >
          <p>{t("draft.delete.help")}</p>
        </Confirm>
      ) : null}
    </>
  )
}
