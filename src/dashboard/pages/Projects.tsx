/** Repositories with reviews: the last one of each, and sums. */
import { Link } from "@tanstack/react-router"
import { useApi } from "../client/Queries.ts"
import { FilterBar, TextFilter, useFilters } from "../parts/Filters.tsx"
import { Page } from "../parts/Page.tsx"
import { Empty, Loaded, Panel } from "../parts/Panel.tsx"
import { Status } from "../parts/Status.tsx"
import { Time } from "../parts/Time.tsx"
import { formatRate, formatShort, formatUsd } from "../text/Format.ts"
import { Scroll } from "../parts/Scroll.tsx"
import { t } from "../text/T.ts"

export const Projects = () => {
  const [{ q = "" }] = useFilters()
  const query = useApi("GET /stats/projects", {})
  return (
    <Page title={t("page.projects")} note={t("projects.note")}>
      <FilterBar>
        <TextFilter name="q" label={t("column.repository")} placeholder="owner/name" />
      </FilterBar>
      <Loaded query={query} rows={6}>
        {(all) => {
          const rows = all.filter(({ repository, workspace }) =>
            `${workspace} ${repository}`.toLowerCase().includes(q.toLowerCase())
          )
          return rows.length === 0 ? (
            <Empty title={t("projects.empty")}>
              {t("projects.empty.help")} <Link to="/setup">{t("page.setup")}</Link>
            </Empty>
          ) : (
            <Panel title={t("projects.count", { count: rows.length })} flush>
              <Scroll label={t("page.projects")}>
                <table>
                  <thead>
                    <tr>
                      <th>{t("column.repository")}</th>
                      <th>{t("column.workspace")}</th>
                      <th>{t("column.trigger")}</th>
                      <th className="end">{t("metric.runs")}</th>
                      <th className="end">{t("metric.failed")}</th>
                      <th className="end">{t("metric.published")}</th>
                      <th className="end">{t("metric.accepted")}</th>
                      <th className="end">{t("metric.cost")}</th>
                      <th className="end">{t("column.reviewed")}</th>
                    </tr>
                  </thead>
                  <tbody>
                    {rows.map((row) => (
                      <tr key={row.id}>
                        <td>
                          <Link to="/changes" search={{ repo: row.repository }}>
                            {row.repository}
                          </Link>{" "}
                          {row.deleted_at === null ? null : <Status group="project" value="deleted" />}
                        </td>
                        <td>{row.workspace}</td>
                        <td>{row.trigger}</td>
                        <td className="end">
                          <Link to="/runs" search={{ repo: row.repository, workspace: row.workspace }}>
                            {formatShort(row.runs.total)}
                          </Link>
                        </td>
                        <td className="end">{formatShort(row.runs.failed + row.runs.timeout)}</td>
                        <td className="end">{formatShort(row.findings.published)}</td>
                        <td className="end">{formatRate(row.findings.accepted_rate)}</td>
                        <td className="end">{formatUsd(row.cost_usd)}</td>
                        <td className="end">
                          <Time at={row.last_run_at} />
                        </td>
                      </tr>
                    ))}
                  </tbody>
                </table>
              </Scroll>
            </Panel>
          )
        }}
      </Loaded>
    </Page>
  )
}
