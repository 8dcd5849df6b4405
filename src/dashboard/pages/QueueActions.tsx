/** Cancels or retries many queue entries: the service lists those that are affected before anything is changed. */
import { useState } from "react"
import { call } from "../client/Call.ts"
import type { Input, Item } from "../client/Endpoints.ts"
import { queryClient, useApi } from "../client/Queries.ts"
import { refreshEndpoints } from "../client/RefreshPages.ts"
import { ActionButton } from "../parts/ActionButton.tsx"
import { Confirm } from "../parts/Dialog.tsx"
import { notify, notifyError } from "../parts/Notices.tsx"
import { Loaded } from "../parts/Panel.tsx"
import { changeName } from "../parts/Records.tsx"
import { Status } from "../parts/Status.tsx"
import { formatCount } from "../text/Format.ts"
import { t, tMaybe, tValue } from "../text/T.ts"

type Entry = Item<"GET /queue">
type Bulk = NonNullable<Input<"POST /queue/bulk">["payload"]>
type Action = Bulk["action"]
type Subject = Omit<Bulk, "preview">

/** Statuses of entries that an action changes. */
const changeable = {
  cancel: ["waiting", "ready", "running"],
  retry: ["dead"]
} as const satisfies Record<Action, ReadonlyArray<string>>
const succeeded = new Set(["cancelled", "stopping", "retried"])

/** Entries that one request leaves are changed by the next, up to this number of requests. */
const maxRequests = 100

const apply = async (
  subject: Subject
): Promise<{ readonly changed: number; readonly refused: ReadonlyArray<string> }> => {
  let changed = 0
  const refused: Array<string> = []
  for (let request = 0; request < maxRequests; request++) {
    const { items, more } = await call("POST /queue/bulk", { payload: { ...subject, preview: false } })
    const done = items.filter(({ result }) => succeeded.has(result)).length
    changed += done
    refused.push(...items.filter(({ result }) => !succeeded.has(result)).map(({ result }) => result))
    // Entries that cannot be changed would be selected again.
    if (!more || done === 0) break
  }
  return { changed, refused }
}

interface PreviewProps {
  readonly subject: Subject
  /** Listed entries, for their names. */
  readonly entries: ReadonlyArray<Entry>
  readonly onClose: () => void
}

const shownEntries = 12

/** Name of an entry that is not in the list. */
const EntryName = ({ id }: { readonly id: string }) => {
  const { data } = useApi("GET /queue/:id", { params: { id } })
  return data === undefined ? (
    <code>{id}</code>
  ) : (
    <>
      {changeName(data)} <span className="quiet">{data.workspace}</span>
    </>
  )
}

const Matched = ({
  entries,
  items,
  more
}: {
  readonly items: ReadonlyArray<{ readonly id: string; readonly result: string }>
  readonly more: boolean
  readonly entries: ReadonlyArray<Entry>
}) => (
  <>
    <ul className="preview">
      {items.slice(0, shownEntries).map(({ id, result }) => {
        const entry = entries.find((one) => one.id === id)
        return (
          <li key={id} className="step-line">
            <Status group="entry" value={result} />
            {entry === undefined ? (
              <EntryName id={id} />
            ) : (
              <>
                {changeName(entry)} <span className="quiet">{entry.workspace}</span>
              </>
            )}
          </li>
        )
      })}
    </ul>
    {more || items.length > shownEntries ? (
      <p className="quiet">
        {t("coverage.more", {
          count: `${formatCount(items.length - Math.min(items.length, shownEntries))}${more ? "+" : ""}`
        })}
      </p>
    ) : null}
  </>
)

export const BulkPreview = ({ entries, onClose, subject }: PreviewProps) => {
  const [reason, setReason] = useState("")
  const [isPending, setPending] = useState(false)
  const { action } = subject
  const preview = useApi("POST /queue/bulk", { payload: { ...subject, preview: true } })
  const matched =
    preview.data === undefined ? "…" : `${formatCount(preview.data.matched)}${preview.data.more ? "+" : ""}`
  const confirm = async () => {
    setPending(true)
    try {
      const { changed, refused } = await apply(reason === "" ? subject : { ...subject, reason })
      if (changed > 0 || refused.length === 0) notify("good", t(`queue.${action}.done`, { count: changed }))
      if (refused.length > 0)
        notify(
          "bad",
          t("queue.refused", {
            count: refused.length,
            reason: tMaybe("bulk", refused[0]) ?? tValue("problem", refused[0] ?? "")
          })
        )
    } catch (error) {
      notifyError(error)
    }
    await refreshEndpoints(queryClient, new Set(["GET /queue", "GET /queue/causes", "GET /batches"]))
    onClose()
  }
  return (
    <Confirm
      title={t(`queue.${action}.title`, { count: matched })}
      label={t(`queue.${action}.title`, { count: matched })}
      isDangerous={action === "cancel"}
      isPending={isPending}
      isDisabled={(preview.data?.matched ?? 0) === 0}
      onConfirm={() => void confirm()}
      onClose={onClose}
    >
      <p>{t(`queue.${action}.help`)}</p>
      <Loaded query={preview}>{({ items, more }) => <Matched items={items} more={more} entries={entries} />}</Loaded>
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
  readonly status: string | undefined
  readonly counts: Readonly<Record<string, number>>
  readonly onDone: () => void
}

/** What an action on all entries of the filters means. Undefined: there is none that it changes. */
const allOf = (action: Action, { counts, status, workspace }: BulkProps): Subject | undefined => {
  const isAny = status === undefined || status === "all"
  const found = changeable[action].filter((name) => (isAny || name === status) && (counts[name] ?? 0) > 0)
  const selection = action === "cancel" && isAny ? "current" : found[0]
  return found.length > 0 && selection !== undefined
    ? { action, status: selection, ...(workspace === undefined ? undefined : { workspace }) }
    : undefined
}

const statusName = (status: Subject["status"]): string =>
  status === "current" ? t("queue.current") : tValue("entry", status ?? "")

/** Acts on the selected entries, or on all that match the filters if none is selected. */
export const BulkBar = (props: BulkProps) => {
  const { entries, onDone, selected } = props
  const [subject, setSubject] = useState<Subject>()
  const close = () => {
    setSubject(undefined)
    onDone()
  }
  const offered = (["cancel", "retry"] as const).flatMap((action): ReadonlyArray<Subject> => {
    const ids = selected.filter(({ status }) => changeable[action].some((name) => name === status)).map(({ id }) => id)
    const all = allOf(action, props)
    return selected.length > 0 ? (ids.length > 0 ? [{ action, ids }] : []) : all === undefined ? [] : [all]
  })
  return (
    <>
      {offered.length === 0 ? null : (
        <div className="actions bulk">
          {selected.length > 0 ? (
            <span className="quiet">{t("queue.selected", { count: selected.length })}</span>
          ) : null}
          {offered.map((one) => (
            <ActionButton action="POST /queue/bulk" key={one.action} onClick={() => setSubject(one)}>
              {one.ids === undefined
                ? t(`queue.${one.action}.all`, { status: statusName(one.status) })
                : t(`queue.${one.action}.title`, { count: one.ids.length })}
            </ActionButton>
          ))}
        </div>
      )}
      {subject === undefined ? null : <BulkPreview subject={subject} entries={entries} onClose={close} />}
    </>
  )
}
