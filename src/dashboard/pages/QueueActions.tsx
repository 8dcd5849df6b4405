/** Cancels or retries one or many queue entries, with a preview of those that are affected. */
import { useState } from "react"
import { call } from "../client/Call.ts"
import type { Item } from "../client/Endpoints.ts"
import { queryClient } from "../client/Queries.ts"
import { Confirm } from "../parts/Dialog.tsx"
import { notify, notifyError } from "../parts/Notices.tsx"
import { changeName } from "../parts/Records.tsx"
import { t } from "../text/T.ts"

type Entry = Item<"GET /queue">
type Action = "cancel" | "retry"

const canBe: Record<Action, (entry: Entry) => boolean> = {
  cancel: ({ status }) => status === "waiting" || status === "ready" || status === "running",
  retry: ({ status }) => status === "dead"
}

const apply = (action: Action, id: string, reason: string): Promise<unknown> =>
  action === "retry"
    ? call("POST /queue/:id/retry", { params: { id } })
    : call("POST /queue/:id/cancel", { params: { id }, payload: reason === "" ? {} : { reason } })

interface PreviewProps {
  readonly action: Action
  readonly entries: ReadonlyArray<Entry>
  readonly onClose: () => void
}

const shownEntries = 12

const Preview = ({ action, entries, onClose }: PreviewProps) => {
  const [reason, setReason] = useState("")
  const [isPending, setPending] = useState(false)
  const confirm = async () => {
    setPending(true)
    const results = await Promise.allSettled(entries.map(({ id }) => apply(action, id, reason)))
    const failed = results.filter((result) => result.status === "rejected")
    if (failed.length < results.length)
      notify("good", t(`queue.${action}.done`, { count: results.length - failed.length }))
    for (const { reason: error } of failed.slice(0, 3)) notifyError(error)
    await Promise.all(
      ["GET /queue", "GET /batches"].map((endpoint) => queryClient.invalidateQueries({ queryKey: [endpoint] }))
    )
    onClose()
  }
  return (
    <Confirm
      title={t(`queue.${action}.title`, { count: entries.length })}
      label={t(`queue.${action}.title`, { count: entries.length })}
      isDangerous={action === "cancel"}
      isPending={isPending}
      isDisabled={entries.length === 0}
      onConfirm={() => void confirm()}
      onClose={onClose}
    >
      <p>{t(`queue.${action}.help`)}</p>
      <ul className="preview">
        {entries.slice(0, shownEntries).map((entry) => (
          <li key={entry.id}>
            {changeName(entry)} <span className="quiet">{entry.workspace}</span>
          </li>
        ))}
      </ul>
      {entries.length > shownEntries ? (
        <p className="quiet">{t("coverage.more", { count: entries.length - shownEntries })}</p>
      ) : null}
      {action === "cancel" ? (
        <label>
          <span>{t("field.reason")}</span>
          <input value={reason} maxLength={500} onChange={(event) => setReason(event.target.value)} />
        </label>
      ) : null}
    </Confirm>
  )
}

interface BulkProps {
  readonly entries: ReadonlyArray<Entry>
  readonly selected: ReadonlyArray<Entry>
  readonly workspace: string | undefined
  readonly onDone: () => void
}

/** Acts on the selected entries, or on all listed ones if none is selected. */
export const BulkBar = ({ entries, onDone, selected }: BulkProps) => {
  const [action, setAction] = useState<Action>()
  const subjects = selected.length > 0 ? selected : entries
  const close = () => {
    setAction(undefined)
    onDone()
  }
  const offered = (["cancel", "retry"] as const).filter((name) => subjects.some(canBe[name]))
  return (
    <>
      {offered.length === 0 ? null : (
        <div className="actions bulk">
          <span className="quiet">
            {selected.length > 0 ? t("queue.selected", { count: selected.length }) : t("queue.listed")}
          </span>
          {offered.map((name) => (
            <button type="button" key={name} onClick={() => setAction(name)}>
              {t(`queue.${name}.title`, { count: subjects.filter(canBe[name]).length })}
            </button>
          ))}
        </div>
      )}
      {action === undefined ? null : (
        <Preview action={action} entries={subjects.filter(canBe[action])} onClose={close} />
      )}
    </>
  )
}
