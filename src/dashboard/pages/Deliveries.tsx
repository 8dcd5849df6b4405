/** Deliveries, and why most of them lead to no review: named groups with counts, each of which filters the list. */
import { Link } from "@tanstack/react-router"
import type { Input, Item } from "../client/Endpoints.ts"
import { useApi, usePages } from "../client/Queries.ts"
import { Export } from "../parts/Export.tsx"
import { FilterBar, LinkFilter, SelectFilter, TextFilter, useFilters } from "../parts/Filters.tsx"
import { List } from "../parts/List.tsx"
import type { Column } from "../parts/List.tsx"
import { Page } from "../parts/Page.tsx"
import { Empty } from "../parts/Panel.tsx"
import { changeName, DeliveryStatus, useTriggerOptions, useWorkspaceOptions } from "../parts/Records.tsx"
import { Shape, toneOf } from "../parts/Status.tsx"
import { Time } from "../parts/Time.tsx"
import { TimeFilter } from "../parts/TimeFilter.tsx"
import { eventName } from "../text/EventName.ts"
import { formatShort } from "../text/Format.ts"
import { t, tMaybe, tValue } from "../text/T.ts"
import { toCount } from "./Numbers.ts"

type DeliveryItem = Item<"GET /events">
type Group = Item<"GET /events/reasons">

const makeColumns = (): ReadonlyArray<Column<DeliveryItem>> => [
  {
    key: "change",
    label: t("column.change"),
    width: "minmax(10rem, 1.3fr)",
    top: true,
    render: (row) => (
      <Link to="/deliveries/$id" params={{ id: row.id }} className="row-link">
        {changeName(row)} {row.title === undefined ? null : <span className="quiet">{row.title}</span>}
      </Link>
    )
  },
  {
    key: "decision",
    label: t("column.decision"),
    width: "minmax(15rem, 1.6fr)",
    top: true,
    render: (row) => <DeliveryStatus delivery={row} />
  },
  {
    key: "event",
    label: t("column.event"),
    width: "minmax(13rem, 1.3fr)",
    render: (row) => <span className="mono">{eventName(row)}</span>
  },
  {
    key: "trigger",
    label: t("column.trigger"),
    width: "minmax(6rem, .7fr)",
    wideOnly: true,
    render: (row) => row.trigger ?? row.provider
  },
  {
    key: "sender",
    label: t("column.sender"),
    width: "minmax(6rem, .7fr)",
    render: (row) => row.sender ?? row.author ?? ""
  },
  {
    key: "received",
    label: t("column.received"),
    sort: "received",
    width: "7rem",
    end: true,
    render: (row) => <Time at={row.received_at} />
  }
]

const groupName = ({ decision, reason }: Group): string =>
  reason === undefined ? tValue("decision", decision) : tValue("reason", reason)

const Groups = ({ groups }: { readonly groups: ReadonlyArray<Group> }) => {
  const [filters, setFilters] = useFilters()
  return (
    <div className="groups" role="group" aria-label={t("deliveries.groups")}>
      {groups.map((group) => {
        const { count, decision, reason } = group
        const isSelected = filters["decision"] === decision && filters["reason"] === reason
        return (
          <button
            type="button"
            key={`${decision}.${reason ?? ""}`}
            className="group"
            aria-pressed={isSelected}
            title={tMaybe("why", reason)}
            onClick={() => setFilters(isSelected ? { decision: undefined, reason: undefined } : { decision, reason })}
          >
            <Shape tone={reason === undefined ? toneOf(decision) : decision === "rejected" ? "bad" : "quiet"} />
            <span>{groupName(group)}</span>
            <strong>{formatShort(count)}</strong>
          </button>
        )
      })}
    </div>
  )
}

const decisions = ["queued", "deferred", "coalesced", "duplicate", "ignored", "rejected"] as const
const outcomes = ["executed", "superseded", "skipped", "cancelled", "expired", "failed"] as const

export const Deliveries = () => {
  const [filters] = useFilters()
  const { decision, number, outcome, q, reason, repo, since, sort, trigger, until, workspace } = filters
  const groups = useApi("GET /events/reasons", { query: { workspace, trigger } })
  const input = {
    query: {
      workspace,
      trigger,
      q,
      reason,
      repo,
      since,
      until,
      number: toCount(number),
      sort: sort === "received" ? sort : undefined,
      decision: decisions.find((name) => name === decision),
      outcome: outcomes.find((name) => name === outcome)
    }
  } satisfies Input<"GET /events">
  const query = usePages("GET /events", input)
  const workspaces = useWorkspaceOptions()
  const triggers = useTriggerOptions()
  return (
    <Page
      title={t("page.deliveries")}
      note={t("deliveries.note")}
      actions={<Export endpoint="GET /events" input={input} name="deliveries" />}
      fill
    >
      <Groups groups={groups.data?.items ?? []} />
      <FilterBar>
        <TextFilter name="q" label={t("filter.search")} placeholder={t("filter.search.help")} />
        <TextFilter name="repo" label={t("column.repository")} placeholder="owner/name" />
        <TextFilter name="number" label={t("column.number")} placeholder="5" />
        <SelectFilter
          name="decision"
          label={t("column.decision")}
          options={decisions.map((name) => [name, tValue("decision", name)])}
        />
        <SelectFilter
          name="outcome"
          label={t("column.outcome")}
          options={outcomes.map((name) => [name, tValue("outcome", name)])}
        />
        <SelectFilter name="trigger" label={t("column.trigger")} options={triggers} />
        <SelectFilter name="workspace" label={t("column.workspace")} options={workspaces} />
        <LinkFilter name="reason" label={t("field.reason")}>
          {(name) => tValue("reason", name)}
        </LinkFilter>
        <TimeFilter />
      </FilterBar>
      <List
        label={t("page.deliveries")}
        rows={query.items}
        columns={makeColumns()}
        standardSort="-received"
        rowKey={(row) => row.id}
        query={query}
        empty={
          <Empty title={t("deliveries.empty")}>
            {t("deliveries.empty.help")} <Link to="/setup">{t("page.setup")}</Link>
          </Empty>
        }
      />
    </Page>
  )
}
