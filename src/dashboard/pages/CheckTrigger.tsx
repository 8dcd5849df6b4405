/** Checks a trigger at its host: its set-up, the permissions of its credential, the webhooks, and the address of the service. */
import type { Output } from "../client/Endpoints.ts"
import { useAction } from "../client/Queries.ts"
import { Dialog } from "../parts/Dialog.tsx"
import { Failure, Loading } from "../parts/Panel.tsx"
import { Shape } from "../parts/Status.tsx"
import { t, tReason } from "../text/T.ts"
import { useEffect } from "react"
import "../text/CheckTexts.ts"

type Check = Output<"POST /triggers/:name/check">["items"][number]

const tones = { ok: "good", warning: "warn", error: "bad" } as const

const CheckRow = ({ check: { check, level, reason } }: { readonly check: Check }) => (
  <li>
    <span className={`status tone-${tones[level]}`}>
      <Shape tone={tones[level]} />
      <span>{t(`check.${check}`)}</span>
    </span>
    <div>{tReason(reason)}</div>
  </li>
)

export const CheckTrigger = ({ name, onClose }: { readonly name: string; readonly onClose: () => void }) => {
  const { data, error, mutate } = useAction("POST /triggers/:name/check")
  useEffect(() => mutate({ params: { name } }), [mutate, name])
  return (
    <Dialog title={t("check.title", { name })} onClose={onClose} className="wide">
      <p className="quiet">{t("check.note")}</p>
      {error === null ? null : <Failure error={error} retry={() => mutate({ params: { name } })} />}
      {data === undefined ? (
        error === null ? (
          <Loading />
        ) : null
      ) : (
        <ul className="rows" aria-live="polite">
          {data.items.map((check, index) => (
            <CheckRow key={index} check={check} />
          ))}
        </ul>
      )}
    </Dialog>
  )
}
