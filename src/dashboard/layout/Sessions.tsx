/** Ends the sessions of all browsers and programs. */
import { useState } from "react"
import { endSession } from "../client/Session.ts"
import { Confirm } from "../parts/Dialog.tsx"
import { useNoticedAction } from "../parts/NoticedAction.ts"
import { t } from "../text/T.ts"

export const SessionsDialog = ({ onClose }: { readonly onClose: () => void }) => {
  const [keepsCurrent, setKeepsCurrent] = useState(true)
  const revoke = useNoticedAction("POST /sessions/revoke")
  const confirm = () =>
    revoke.run({ payload: { keep_current: keepsCurrent } }, ({ revoked }) => t("session.ended", { count: revoked }), {
      onSuccess: () => {
        onClose()
        if (!keepsCurrent) endSession()
      }
    })
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
