/** A button of a write. If the role of the user does not allow the write, it is disabled and names the role that does. */
import type { ButtonHTMLAttributes } from "react"
import type { Endpoint } from "../client/Endpoints.ts"
import { useRefusals } from "../client/Rights.ts"
import { t, tValue } from "../text/T.ts"

interface Props extends ButtonHTMLAttributes<HTMLButtonElement> {
  /** What a click, or the dialog that it opens, requests. */
  readonly action: Endpoint
}

export const ActionButton = ({ action, children, disabled, type = "button", ...more }: Props) => {
  const refusal = useRefusals()(action)
  const reason =
    refusal === undefined
      ? undefined
      : t("access.needed", { role: tValue("access", refusal.role), needed: tValue("access", refusal.needed) })
  return (
    <button {...more} type={type} disabled={disabled === true || reason !== undefined} title={reason}>
      {children}
      {reason === undefined ? null : <span className="hidden"> {reason}</span>}
    </button>
  )
}
