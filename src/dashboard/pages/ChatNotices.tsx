/** Notices to operators and what became of them: those that wait or were refused say why. */
import { Link } from "@tanstack/react-router"
import type { NoticeKind, NoticeStatus } from "../../domain/Notice.ts"
import type { Item } from "../client/Endpoints.ts"
import { usePages } from "../client/Queries.ts"
import { FilterBar, SelectFilter, useFilters } from "../parts/Filters.tsx"
import { List } from "../parts/List.tsx"
import type { Column } from "../parts/List.tsx"
import { Empty } from "../parts/Panel.tsx"
import { Status } from "../parts/Status.tsx"
import { Time } from "../parts/Time.tsx"
import { t, tReason, tValue } from "../text/T.ts"
import "../text/CheckTexts.ts"

type Notice = Item<"GET /chat/notices">

/** Every kind of notices. One that is missing here does not compile. */
const kindNames = {
  queue_expired: true,
  review_failed: true,
  budget_threshold: true,
  config_refused: true,
  webhook_silent: true,
  webhook_broken: true,
  found_without_delivery: true,
  repository_renamed: true,
  credential_refused: true,
  rule_muted: true
} satisfies Record<NoticeKind, true>
const kinds = Object.keys(kindNames) as ReadonlyArray<NoticeKind>

/** Every status of a notice, in the order of its life. A status that is missing here does not compile. */
const statusNames = {
  pending: true,
  sending: true,
  sent: true,
  unconfirmed: true,
  failed: true,
  dropped: true,
  quarantined: true
} satisfies Record<NoticeStatus, true>
const statuses = Object.keys(statusNames) as ReadonlyArray<NoticeStatus>

/** The record that a notice is about: the run, otherwise the delivery. */
const Subject = ({ row }: { readonly row: Notice }) =>
  row.run_id !== undefined ? (
    <Link to="/runs/$id" params={{ id: row.run_id }}>
      {row.subject}
    </Link>
  ) : row.event_id !== undefined ? (
    <Link to="/deliveries/$id" params={{ id: row.event_id }}>
      {row.subject}
    </Link>
  ) : (
    <span title={row.subject}>{row.subject}</span>
  )

const makeColumns = (): ReadonlyArray<Column<Notice>> => [
  {
    key: "kind",
    label: t("notice.kind"),
    width: "minmax(9rem, 1fr)",
    top: true,
    render: ({ kind }) => tValue("notice", kind)
  },
  {
    key: "subject",
    label: t("notice.subject"),
    width: "minmax(8rem, 1.2fr)",
    top: true,
    render: (row) => <Subject row={row} />
  },
  {
    key: "status",
    label: t("column.status"),
    width: "9.5rem",
    top: true,
    render: ({ reason, status }) => <Status group="notice" value={status} title={reason && tReason(reason)} />
  },
  {
    key: "reason",
    label: t("field.reason"),
    width: "minmax(8rem, 1.6fr)",
    render: ({ next_attempt_at: next, reason }) => (
      <span title={reason && tReason(reason)}>
        {reason && tReason(reason)} {next === undefined ? null : <Time at={next} />}
      </span>
    )
  },
  { key: "channel", label: t("notice.channel"), width: "minmax(6rem, .8fr)", render: ({ channel }) => channel },
  {
    key: "at",
    label: t("column.at"),
    width: "7rem",
    end: true,
    render: (row) => <Time at={row.created_at} />
  }
]

export const ChatNotices = () => {
  const [{ notice, notice_kind: kind }] = useFilters()
  const query = usePages("GET /chat/notices", {
    query: {
      kind: kinds.find((name) => name === kind),
      status: statuses.find((name) => name === notice)
    }
  })
  return (
    <div className="chat-requests stack">
      <h2>{t("notice.title")}</h2>
      <FilterBar label={t("notice.title")}>
        <SelectFilter
          name="notice_kind"
          label={t("notice.kind")}
          options={kinds.map((name) => [name, tValue("notice", name)])}
        />
        <SelectFilter
          name="notice"
          label={t("column.status")}
          options={statuses.map((name) => [name, tValue("notice", name)])}
        />
      </FilterBar>
      <List
        label={t("notice.title")}
        rows={query.items}
        columns={makeColumns()}
        rowKey={({ id }) => id}
        query={query}
        empty={<Empty title={t("notice.empty")}>{t("notice.empty.help")}</Empty>}
      />
    </div>
  )
}
