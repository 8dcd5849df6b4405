/** Chat platforms: the state of each connection, what people requested there, and who may use which commands. */
import type { ChatRequestStatus } from "../../domain/ChatRequest.ts"
import { Link } from "@tanstack/react-router"
import type { Item } from "../client/Endpoints.ts"
import { useApi, usePages } from "../client/Queries.ts"
import { Copy } from "../parts/Facts.tsx"
import { FilterBar, SelectFilter, useFilters } from "../parts/Filters.tsx"
import { List } from "../parts/List.tsx"
import type { Column } from "../parts/List.tsx"
import { Page } from "../parts/Page.tsx"
import { Empty, Loaded } from "../parts/Panel.tsx"
import { useWorkspaceOptions } from "../parts/Records.tsx"
import { Status } from "../parts/Status.tsx"
import { TablePanel } from "../parts/TablePanel.tsx"
import { Time } from "../parts/Time.tsx"
import { formatCount } from "../text/Format.ts"
import { t, tReason, tValue } from "../text/T.ts"
import { ChatNotices } from "./ChatNotices.tsx"

type Connection = Item<"GET /chat/connections">
type Request = Item<"GET /chat/requests">

const ConnectionState = ({ connection: { detail, enabled, state } }: { readonly connection: Connection }) =>
  // A connection that is ready works; an entry that is ready waits.
  enabled && state === "ready" ? (
    <Status group="chat" value={state} tone="good" />
  ) : (
    <Status group="chat" value={enabled ? state : "disabled"} title={detail && tReason(detail)} />
  )

const ConnectionRow = ({ connection }: { readonly connection: Connection }) => (
  <tr>
    <td>
      <Link to="/chat" search={{ connection: connection.id }}>
        {connection.id}
      </Link>
      <p className="quiet">{connection.kind}</p>
    </td>
    <td>
      <ConnectionState connection={connection} />
      {connection.detail === undefined ? null : <p className="error-text">{tReason(connection.detail)}</p>}
    </td>
    <td>{connection.node ?? ""}</td>
    <td className="end">
      <Time at={connection.since} />
    </td>
    <td className="end">{formatCount(connection.open_requests)}</td>
    <td>
      {connection.callback_url === undefined ? (
        <span className="quiet">{tValue("receives", connection.receives)}</span>
      ) : (
        <Copy value={connection.callback_url} />
      )}
    </td>
  </tr>
)

const Connections = ({ items }: { readonly items: ReadonlyArray<Connection> }) => (
  <TablePanel
    title={t("chat.connections")}
    heads={[
      { label: t("chat.connection") },
      { label: t("column.status") },
      { label: t("column.node") },
      { label: t("chat.since"), end: true },
      { label: t("chat.open"), end: true },
      { label: t("chat.callback") }
    ]}
    empty={
      <Empty title={t("chat.none")}>
        {t("chat.none.help")} <Link to="/configuration">{t("page.configuration")}</Link>
      </Empty>
    }
    rows={items.map((connection) => (
      <ConnectionRow key={connection.id} connection={connection} />
    ))}
  />
)

const Bindings = () => {
  const query = useApi("GET /chat/bindings", {})
  return (
    <Loaded query={query}>
      {({ items }) => (
        <TablePanel
          title={t("chat.bindings")}
          note={t("chat.bindings.note")}
          heads={(["binding", "connection", "actors", "conversations", "commands", "repositories"] as const).map(
            (name) => ({
              label: t(`chat.${name}`)
            })
          )}
          empty={<Empty title={t("chat.bindings.empty")} />}
          rows={items.map((binding) => (
            <tr key={binding.id}>
              <td>
                {binding.id} {binding.enabled ? null : <Status group="chat" value="disabled" tone="warn" />}
              </td>
              <td>{binding.connection ?? t("filter.all")}</td>
              <td className="break">{binding.actors.join(", ")}</td>
              <td className="break">{binding.conversations.join(", ")}</td>
              <td>{binding.commands.join(", ")}</td>
              <td className="break">
                {binding.allow_all_repositories ? t("filter.all") : binding.repositories.join(", ")}
              </td>
            </tr>
          ))}
        />
      )}
    </Loaded>
  )
}

/** Every status of a request, in the order of its life. A status that is missing here does not compile. */
const statusNames = {
  accepted: true,
  validating: true,
  queued: true,
  running: true,
  publishing: true,
  succeeded: true,
  partial: true,
  failed: true,
  rejected: true,
  expired: true
} satisfies Record<ChatRequestStatus, true>
const statuses = Object.keys(statusNames) as ReadonlyArray<ChatRequestStatus>

/** What a request led to: the run, otherwise the delivery. */
const Result = ({ row }: { readonly row: Request }) =>
  row.run_id !== undefined ? (
    <Link to="/runs/$id" params={{ id: row.run_id }}>
      {t("record.run")}
    </Link>
  ) : row.event_id !== undefined ? (
    <Link to="/deliveries/$id" params={{ id: row.event_id }}>
      {t("record.delivery")}
    </Link>
  ) : null

const makeColumns = (): ReadonlyArray<Column<Request>> => [
  {
    key: "command",
    label: t("chat.command"),
    width: "minmax(10rem, 1.4fr)",
    top: true,
    render: ({ args = [], command }) => (
      <span className="mono">{command === undefined ? t("chat.command.none") : [command, ...args].join(" ")}</span>
    )
  },
  {
    key: "status",
    label: t("column.status"),
    width: "9.5rem",
    top: true,
    render: ({ reason, status }) => <Status group="request" value={status} title={reason && tReason(reason)} />
  },
  {
    key: "reason",
    label: t("field.reason"),
    width: "minmax(8rem, 1.4fr)",
    wideOnly: true,
    render: ({ reason }) => (reason === undefined ? null : <span title={tReason(reason)}>{tReason(reason)}</span>)
  },
  {
    key: "sender",
    label: t("column.sender"),
    width: "minmax(8rem, 1fr)",
    render: ({ sender, sender_type: type }) => <span title={type}>{sender}</span>
  },
  {
    key: "conversation",
    label: t("chat.conversation"),
    width: "minmax(7rem, .9fr)",
    wideOnly: true,
    render: ({ conversation, conversation_kind: kind }) => (
      <span title={conversation}>{tValue("conversation", kind)}</span>
    )
  },
  { key: "result", label: t("column.outcome"), width: "6rem", render: (row) => <Result row={row} /> },
  {
    key: "at",
    label: t("column.received"),
    sort: "received",
    width: "7rem",
    end: true,
    render: (row) => <Time at={row.received_at} />
  }
]

const Requests = ({ connections }: { readonly connections: ReadonlyArray<Connection> }) => {
  const [{ connection, sort, status, workspace }] = useFilters()
  const query = usePages("GET /chat/requests", {
    query: {
      connection,
      workspace,
      status: statuses.find((name) => name === status),
      sort: sort === "received" ? sort : undefined
    }
  })
  const workspaces = useWorkspaceOptions()
  return (
    <div className="chat-requests stack">
      <h2>{t("chat.requests")}</h2>
      <FilterBar label={t("chat.requests")}>
        <SelectFilter name="connection" label={t("chat.connection")} options={connections.map(({ id }) => [id, id])} />
        <SelectFilter
          name="status"
          label={t("column.status")}
          options={statuses.map((name) => [name, tValue("request", name)])}
        />
        <SelectFilter name="workspace" label={t("column.workspace")} options={workspaces} />
      </FilterBar>
      <List
        label={t("chat.requests")}
        rows={query.items}
        columns={makeColumns()}
        standardSort="-received"
        rowKey={({ id }) => id}
        query={query}
        empty={<Empty title={t("chat.requests.empty")}>{t("chat.requests.empty.help")}</Empty>}
      />
    </div>
  )
}

export const Chat = () => {
  const query = useApi("GET /chat/connections", {})
  return (
    <Page title={t("page.chat")} note={t("chat.note")}>
      <Loaded query={query} rows={6}>
        {({ items }) => (
          <>
            <Connections items={items} />
            {items.length === 0 ? null : (
              <>
                <Requests connections={items} />
                <Bindings />
              </>
            )}
            <ChatNotices />
          </>
        )}
      </Loaded>
    </Page>
  )
}
