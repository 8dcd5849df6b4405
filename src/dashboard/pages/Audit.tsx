/** Who changed what. */
import type { Item } from "../client/Endpoints.ts"
import { Problem } from "../client/Problem.ts"
import { usePages } from "../client/Queries.ts"
import { List } from "../parts/List.tsx"
import type { Column } from "../parts/List.tsx"
import { Page } from "../parts/Page.tsx"
import { Empty } from "../parts/Panel.tsx"
import { Status } from "../parts/Status.tsx"
import { Time } from "../parts/Time.tsx"
import { t } from "../text/T.ts"

type Row = Item<"GET /config/audit">

const done: ReadonlyArray<string> = ["committed", "unchanged", "done"]

const makeColumns = (): ReadonlyArray<Column<Row>> => [
  {
    key: "action",
    label: t("column.action"),
    width: "minmax(8rem, 1fr)",
    top: true,
    render: (row) => <span className="mono">{row.action}</span>
  },
  {
    key: "outcome",
    label: t("column.outcome"),
    width: "minmax(8rem, 1fr)",
    top: true,
    render: (row) => <Status group="audit" value={row.outcome} tone={done.includes(row.outcome) ? "good" : "warn"} />
  },
  { key: "actor", label: t("column.actor"), width: "minmax(6rem, .8fr)", render: (row) => row.actor },
  {
    key: "detail",
    label: t("column.detail"),
    width: "minmax(12rem, 2.4fr)",
    render: (row) => <span title={row.detail}>{row.detail}</span>
  },
  { key: "at", label: t("column.at"), width: "7rem", end: true, render: (row) => <Time at={row.at} /> }
]

export const Audit = () => {
  const query = usePages("GET /config/audit", {})
  const isOff = query.error instanceof Problem && query.error.status === 404
  return (
    <Page title={t("page.audit")} note={t("audit.note")} fill>
      {isOff ? (
        <Empty title={t("audit.off")}>{t("config.off.help")}</Empty>
      ) : (
        <List
          label={t("page.audit")}
          rows={query.items}
          columns={makeColumns()}
          rowKey={(row) => row.id}
          query={query}
          empty={<Empty title={t("audit.empty")} />}
        />
      )}
    </Page>
  )
}
