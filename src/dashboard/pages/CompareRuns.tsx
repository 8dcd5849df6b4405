/** Problems of a run compared with those of another run of the same change: by default the one before. */
import { Link, useParams, useSearch } from "@tanstack/react-router"
import type { Output } from "../client/Endpoints.ts"
import { Problem } from "../client/Problem.ts"
import { useApi } from "../client/Queries.ts"
import { Page } from "../parts/Page.tsx"
import { Empty, Loaded, Panel } from "../parts/Panel.tsx"
import { changeName, Commit, RunStatus } from "../parts/Records.tsx"
import { Time } from "../parts/Time.tsx"
import { t } from "../text/T.ts"
import { FindingCard } from "./RunFindings.tsx"

type Comparison = Output<"GET /runs/:id/compare">
type Compared = Comparison["run"]

const RunLine = ({ label, run }: { readonly label: string; readonly run: Compared }) => (
  <p className="step-line">
    <strong>{label}</strong>
    <Link to="/runs/$id" params={{ id: run.id }}>
      {changeName(run)}
    </Link>
    <Commit id={run.head} />
    <RunStatus {...run} />
    <Time at={run.created_at} />
  </p>
)

const Findings = ({ findings, title }: { readonly title: string; readonly findings: Comparison["added"] }) => (
  <Panel title={`${title} (${findings.length})`}>
    {findings.length === 0 ? (
      <Empty title={t("compare.none")} />
    ) : (
      findings.map((finding) => <FindingCard key={finding.fingerprint} finding={finding} />)
    )}
  </Panel>
)

export const CompareRuns = () => {
  const { id } = useParams({ from: "/runs/$id/compare" })
  const { with: other } = useSearch({ from: "/runs/$id/compare" })
  const query = useApi("GET /runs/:id/compare", { params: { id }, query: { with: other } })
  const page = { title: t("run.compare"), back: { to: "/runs", label: "page.runs" } } as const
  if (query.error instanceof Problem && query.error.status === 404)
    return (
      <Page {...page}>
        <Empty title={t("compare.missing")}>
          <Link to="/runs/$id" params={{ id }}>
            {t("record.run")}
          </Link>
        </Empty>
      </Page>
    )
  return (
    <Page {...page}>
      <Loaded query={query} rows={6}>
        {({ added, kept, other: before, removed, run }) => (
          <>
            <RunLine label={t("compare.run")} run={run} />
            <RunLine label={t("compare.other")} run={before} />
            <div className="columns three">
              <Findings title={t("compare.added")} findings={added} />
              <Findings title={t("compare.kept")} findings={kept} />
              <Findings title={t("compare.removed")} findings={removed} />
            </div>
          </>
        )}
      </Loaded>
    </Page>
  )
}
