/** The configuration: effective values with their origins, and edits of the part that the database holds. */
import { Problem } from "../client/Problem.ts"
import { useApi } from "../client/Queries.ts"
import { useRefusals } from "../client/Rights.ts"
import { EditDocument } from "../configuration/EditDocument.tsx"
import { EntityForms } from "../configuration/EntityForms.tsx"
import { Effective } from "../configuration/Effective.tsx"
import { Revisions } from "../configuration/Revisions.tsx"
import { useFilters } from "../parts/Filters.tsx"
import { Page } from "../parts/Page.tsx"
import { Empty } from "../parts/Panel.tsx"
import { configurationTexts as en } from "../../text/en/Configuration.ts"
import { configurationTexts as zh } from "../../text/zh/Configuration.ts"
import { addReasonTexts, t } from "../text/T.ts"
import "../text/CheckTexts.ts"

addReasonTexts({ en, "zh-CN": zh })

const tabs = ["effective", "forms", "edit", "revisions"] as const
const isReading = (tab: (typeof tabs)[number]): boolean => tab === "effective" || tab === "revisions"
const notes = {
  effective: "config.effective.note",
  forms: "form.note",
  edit: "edit.page.note",
  revisions: "revisions.note"
} as const

/** Editing needs the database as a source of the configuration. */
const WithDatabase = ({ tab }: { readonly tab: "forms" | "edit" | "revisions" }) => {
  const status = useApi("GET /config/status", {})
  if (status.error instanceof Problem && status.error.status === 404)
    return <Empty title={t("config.off")}>{t("config.off.help")}</Empty>
  return tab === "edit" ? <EditDocument /> : tab === "forms" ? <EntityForms /> : <Revisions />
}

export const Configuration = () => {
  const [filters, setFilters] = useFilters()
  const refusals = useRefusals()
  const offered = refusals("POST /config/changesets") === undefined ? tabs : tabs.filter(isReading)
  const tab = offered.find((name) => name === filters["tab"]) ?? "effective"
  return (
    <Page
      title={t("page.configuration")}
      note={t(notes[tab])}
      fill={tab === "effective"}
      actions={
        <div className="presets" role="group" aria-label={t("page.configuration")}>
          {offered.map((name) => (
            <button
              type="button"
              key={name}
              aria-pressed={tab === name}
              onClick={() =>
                setFilters({
                  tab: name,
                  q: undefined,
                  kind: undefined,
                  name: undefined,
                  new: undefined,
                  draft: undefined
                })
              }
            >
              {t(`config.tab.${name}`)}
            </button>
          ))}
        </div>
      }
    >
      {tab === "effective" ? <Effective /> : <WithDatabase tab={tab} />}
    </Page>
  )
}
