/** What administrators did: every request that changes something, also refused ones, and logins. Here a person is erased from records, too. */
import { useState } from "react"
import type { Item } from "../client/Endpoints.ts"
import { usePages } from "../client/Queries.ts"
import { FilterBar, LinkFilter, TextFilter, useFilters } from "../parts/Filters.tsx"
import { List } from "../parts/List.tsx"
import type { Column } from "../parts/List.tsx"
import { Page } from "../parts/Page.tsx"
import { Empty } from "../parts/Panel.tsx"
import { Status } from "../parts/Status.tsx"
import { Time } from "../parts/Time.tsx"
import { t, tMaybe } from "../text/T.ts"
import { ForgetPerson } from "./ForgetPerson.tsx"

type Row = Item<"GET /audit">

const makeColumns = (): ReadonlyArray<Column<Row>> => [
  {
    key: "action",
    label: t("column.action"),
    width: "minmax(9rem, 1fr)",
    top: true,
    render: ({ action }) => <span className="mono">{action}</span>
  },
  {
    key: "outcome",
    label: t("column.outcome"),
    width: "minmax(8rem, .9fr)",
    top: true,
    render: ({ outcome }) => (
      <Status
        group={tMaybe("audit", outcome) === undefined ? "problem" : "audit"}
        value={outcome}
        tone={outcome === "done" ? "good" : "warn"}
      />
    )
  },
  { key: "actor", label: t("column.actor"), width: "minmax(5rem, .6fr)", render: ({ actor }) => actor },
  {
    key: "address",
    label: t("column.address"),
    width: "minmax(6rem, .7fr)",
    wideOnly: true,
    render: ({ address }) => address
  },
  {
    key: "target",
    label: t("column.detail"),
    width: "minmax(12rem, 2.2fr)",
    render: ({ reason, target }) => (
      <span title={target}>{reason === undefined ? target : `${target} · ${reason}`}</span>
    )
  },
  { key: "at", label: t("column.at"), sort: "at", width: "7rem", end: true, render: ({ at }) => <Time at={at} /> }
]

export const Audit = () => {
  const [{ action, actor, since, sort }] = useFilters()
  const [isForgetting, setForgetting] = useState(false)
  const query = usePages("GET /audit", { query: { action, actor, since, sort: sort === "at" ? sort : undefined } })
  return (
    <Page
      title={t("page.audit")}
      note={t("audit.note")}
      fill
      actions={
        <button type="button" onClick={() => setForgetting(true)}>
          {t("forget.title")}
        </button>
      }
    >
      <FilterBar>
        <TextFilter name="actor" label={t("column.actor")} />
        <TextFilter name="action" label={t("column.action")} placeholder="queue.cancel" />
        <LinkFilter name="since" label={t("filter.since")}>
          {(at) => <Time at={at} />}
        </LinkFilter>
      </FilterBar>
      <List
        label={t("page.audit")}
        rows={query.items}
        columns={makeColumns()}
        standardSort="-at"
        rowKey={({ id }) => id}
        query={query}
        empty={<Empty title={t("audit.empty")} />}
      />
      {isForgetting ? <ForgetPerson onClose={() => setForgetting(false)} /> : null}
    </Page>
  )
}
