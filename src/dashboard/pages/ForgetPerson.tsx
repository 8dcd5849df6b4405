/** The dialog that erases a person: first what would be erased and what stays, then a confirmation of exactly this. */
import { useState } from "react"
import type { Output } from "../client/Endpoints.ts"
import { Confirm } from "../parts/Dialog.tsx"
import { useNoticedAction } from "../parts/NoticedAction.ts"
import { Panel } from "../parts/Panel.tsx"
import "../text/PersonTexts.ts"
import { t, tReason } from "../text/T.ts"

type Erasure = Output<"POST /people/preview">

const Found = ({ erasure: { comments, found, remains } }: { readonly erasure: Erasure }) => (
  <>
    <Panel title={tReason({ _tag: "PersonErased" })}>
      <ul>
        {found.map(({ kind, what }) => (
          <li key={kind}>{tReason(what)}</li>
        ))}
      </ul>
    </Panel>
    <Panel title={tReason({ _tag: "PersonRemains" })}>
      <ul>
        {remains.map((one) => (
          <li key={one._tag}>{tReason(one)}</li>
        ))}
        {comments.map((url) => (
          <li key={url} className="break">
            {url}
          </li>
        ))}
      </ul>
    </Panel>
  </>
)

export const ForgetPerson = ({ onClose }: { readonly onClose: () => void }) => {
  const [person, setPerson] = useState("")
  const [preview, setPreview] = useState<Erasure>()
  const show = useNoticedAction("POST /people/preview")
  const erase = useNoticedAction("POST /people/erase", ["GET /audit"])
  const summarize = ({ found }: Erasure) =>
    tReason({ _tag: "PersonFound", count: found.reduce((sum, { count }) => sum + count, 0) })
  const confirm = () => {
    if (preview === undefined) show.run({ payload: { person } }, summarize, { onSuccess: setPreview })
    else
      erase.run({ payload: { person, digest: preview.digest } }, summarize, {
        onSuccess: onClose,
        onSettled: () => setPreview(undefined)
      })
  }
  return (
    <Confirm
      title={t("forget.title")}
      label={t(preview === undefined ? "payload.show" : "form.delete")}
      isDangerous={preview !== undefined}
      isPending={show.isPending || erase.isPending}
      isDisabled={person === "" || preview?.found.length === 0}
      onConfirm={confirm}
      onClose={onClose}
    >
      <label>
        <span>{t("forget.person")}</span>
        <input
          value={person}
          maxLength={400}
          placeholder="main:alice"
          onChange={(event) => {
            setPerson(event.target.value)
            setPreview(undefined)
          }}
        />
      </label>
      {preview === undefined ? null : <Found erasure={preview} />}
    </Confirm>
  )
}
