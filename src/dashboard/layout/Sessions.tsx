/** Ends the sessions of all browsers and programs. */
import { useState } from "react"
import { useAction } from "../client/Queries.ts"
import { endSession } from "../client/Session.ts"
import { Confirm } from "../parts/Dialog.tsx"
import { notify, notifyError } from "../parts/Notices.tsx"
import { t } from "../text/T.ts"

export const SessionsDialog = ({ onClose }: { readonly onClose: () => void }) => {
  const [keepsCurrent, setKeepsCurrent] = useState(true)
  const revoke = useAction("POST /sessions/revoke")
  const confirm = () =>
    revoke.mutate(
      { payload: { keep_current: keepsCurrent } },
      {
        onError: notifyError,
        onSuccess: ({ revoked }) => {
          notify("good", t("session.ended", { count: revoked }))
          onClose()
          if (!keepsCurrent) endSession()
        }
      }
    )
  return (
    <Confirm
      title={t("session.everywhere")}
      label={t("session.end")}
      isDangerous
      isPending={revoke.isPending}
      onConfirm={confirm}
      onClose={onClose}
    >
      <p>{t("session.everywhere.help")}</p>
      <label className="check">
        <input type="checkbox" checked={keepsCurrent} onChange={(event) => setKeepsCurrent(event.target.checked)} />
        <span>{t("session.keep")}</span>
      </label>
    </Confirm>
  )
}
