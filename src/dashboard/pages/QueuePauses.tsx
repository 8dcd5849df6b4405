/** Paused workspaces and nodes; pausing a workspace. */
import { useState } from "react"
import type { Output } from "../client/Endpoints.ts"
import { call } from "../client/Call.ts"
import { queryClient } from "../client/Queries.ts"
import { refreshEndpoints } from "../client/RefreshPages.ts"
import { ActionButton } from "../parts/ActionButton.tsx"
import { Confirm } from "../parts/Dialog.tsx"
import { useNoticedAction } from "../parts/NoticedAction.ts"
import { notify, notifyError } from "../parts/Notices.tsx"
import { Shape } from "../parts/Status.tsx"
import { Time } from "../parts/Time.tsx"
import { t, tReason, tValue } from "../text/T.ts"

type Pause = Output<"GET /queue">["pauses"][number]

const refreshed = ["GET /queue", "GET /nodes"] as const

/** No workspace has an empty name. */
const every = ""

const PauseDialog = ({
  onClose,
  workspaces
}: {
  readonly workspaces: ReadonlyArray<string>
  readonly onClose: () => void
}) => {
  const [workspace, setWorkspace] = useState(workspaces[0] ?? "")
  const [reason, setReason] = useState("")
  const [isPending, setPending] = useState(false)
  const selected = workspace === every ? workspaces : [workspace]
  const confirm = async () => {
    setPending(true)
    try {
      for (const name of selected)
        await call("POST /queue/pause", { payload: { workspace: name, ...(reason === "" ? undefined : { reason }) } })
      notify("good", t("queue.paused", { name: selected.join(", ") }))
    } catch (error) {
      notifyError(error)
    }
    await refreshEndpoints(queryClient, new Set(refreshed))
    onClose()
  }
  return (
    <Confirm
      title={t("queue.pause")}
      label={t("queue.pause")}
      isPending={isPending}
      isDisabled={selected.length === 0}
      onConfirm={() => void confirm()}
      onClose={onClose}
    >
      <p>{t("queue.pause.help")}</p>
      <label>
        <span>{t("column.workspace")}</span>
        <select value={workspace} onChange={(event) => setWorkspace(event.target.value)}>
          {workspaces.length > 1 ? <option value={every}>{t("queue.pause.every")}</option> : null}
          {workspaces.map((name) => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
        </select>
      </label>
      <label>
        <span>{t("field.reason")}</span>
        <input value={reason} maxLength={500} onChange={(event) => setReason(event.target.value)} />
      </label>
    </Confirm>
  )
}

export const Pauses = ({
  pauses,
  workspaces
}: {
  readonly pauses: ReadonlyArray<Pause>
  readonly workspaces: ReadonlyArray<string>
}) => {
  const [isOpen, setOpen] = useState(false)
  const resume = useNoticedAction("POST /queue/resume", refreshed)
  const resumeOne = ({ name, scope }: Pause) =>
    resume.run({ payload: scope === "node" ? { node: name } : { workspace: name } }, () => t("queue.resumed", { name }))
  return (
    <div className="pauses">
      {pauses.map((pause) => (
        <p key={`${pause.scope} ${pause.name}`} className="pause tone-warn">
          <Shape tone="warn" />
          <span>
            {t("queue.pause.line", { scope: tValue("scope", pause.scope), name: pause.name })}{" "}
            <q>{tReason(pause.reason)}</q> <Time at={pause.since} />
          </span>
          <ActionButton
            action="POST /queue/resume"
            className="small"
            onClick={() => resumeOne(pause)}
            disabled={resume.isPending}
          >
            {t("queue.resume")}
          </ActionButton>
        </p>
      ))}
      <ActionButton
        action="POST /queue/pause"
        className="small"
        onClick={() => setOpen(true)}
        disabled={workspaces.length === 0}
      >
        {t("queue.pause")}
      </ActionButton>
      {isOpen ? <PauseDialog workspaces={workspaces} onClose={() => setOpen(false)} /> : null}
    </div>
  )
}
