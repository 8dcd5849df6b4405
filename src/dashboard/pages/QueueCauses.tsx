/** What entries of the queue wait for or failed of, by cause, with one button for all entries of each. */
import { useState } from "react"
import type { Input, Item } from "../client/Endpoints.ts"
import { useApi } from "../client/Queries.ts"
import { ActionButton } from "../parts/ActionButton.tsx"
import { Panel } from "../parts/Panel.tsx"
import { Status } from "../parts/Status.tsx"
import { Time } from "../parts/Time.tsx"
import { formatCount } from "../text/Format.ts"
import { t, tReason } from "../text/T.ts"
import { BulkPreview } from "./QueueActions.tsx"

type Cause = Item<"GET /queue/causes">
type Subject = Omit<NonNullable<Input<"POST /queue/bulk">["payload"]>, "preview">

/** Waits that end by themselves as soon as others end. */
const ordinary: ReadonlySet<string> = new Set(["AwaitsTurn", "WorkspaceFull", "TargetBusy"])

const CauseRow = ({
  group,
  onAct
}: {
  readonly group: Cause
  readonly onAct: (action: "cancel" | "retry") => void
}) => {
  const action = group.status === "dead" ? "retry" : "cancel"
  return (
    <li>
      <Status group="entry" value={group.status} />
      <div>
        <strong>{formatCount(group.count)}</strong> {tReason(group.why)}{" "}
        <span className="quiet">{t("queue.cause.workspaces", { count: formatCount(group.workspaces) })}</span>
      </div>
      <Time at={group.oldest_at} />
      <ActionButton action="POST /queue/bulk" className="small" onClick={() => onAct(action)}>
        {t(`queue.cause.${action}`, { count: formatCount(group.count) })}
      </ActionButton>
    </li>
  )
}

/** Shows nothing while no entry waits for more than its turn. */
export const QueueCauses = ({ workspace }: { readonly workspace?: string | undefined }) => {
  const [subject, setSubject] = useState<Subject>()
  const query = useApi("GET /queue/causes", { query: { workspace } }, { refetchInterval: 15_000 })
  const groups = (query.data?.items ?? []).filter(({ cause }) => !ordinary.has(cause))
  const close = () => setSubject(undefined)
  return (
    <>
      {groups.length === 0 ? null : (
        <Panel
          title={t("queue.causes")}
          flush
          note={query.data?.more === true ? t("queue.causes.more", { count: formatCount(10_000) }) : undefined}
        >
          <ul className="rows causes">
            {groups.map((group) => (
              <CauseRow
                key={`${group.status} ${group.cause}`}
                group={group}
                onAct={(action) =>
                  setSubject({
                    action,
                    cause: group.cause,
                    status: group.status,
                    ...(workspace === undefined ? undefined : { workspace })
                  })
                }
              />
            ))}
          </ul>
        </Panel>
      )}
      {subject === undefined ? null : <BulkPreview subject={subject} entries={[]} onClose={close} />}
    </>
  )
}
